"""Every kind of decision is in the log, with who decided; one that is undone is not."""

from __future__ import annotations

from collections.abc import Callable
from uuid import UUID

import pytest
from django.db import transaction

from ember_site.accounts.models import User
from ember_site.accounts.services import account_erase, token_create, token_revoke
from ember_site.boards.services import evaluation_ensure_open
from ember_site.catalog.models import Suite
from ember_site.catalog.services import suite_import
from ember_site.core import clock
from ember_site.core.models import AuditAction, AuditEntry
from ember_site.environment import BASE_DIR
from ember_site.episodes.live import LogDiffers
from ember_site.episodes.services import episode_freeze
from ember_site.runs.models import Agent, Run, Visibility
from ember_site.runs.services import (
    agent_update,
    human_agent_for,
    run_set_visibility,
    run_verify,
    run_verify_again,
    run_withdraw,
    runs_hide,
)
from ember_site.runs.services.guests import guest_runs_claim
from tests.site.api.world import World, world_make

SUITE = BASE_DIR / "scenarios" / "public" / "v1"


@pytest.fixture
def world(user: User) -> World:
    return world_make(owner=user, evaluation=evaluation_ensure_open(suite=suite_import(directory=SUITE)))


def revoke(world: World, _: User) -> None:
    token, _key = token_create(owner=world.owner, name="laptop", scope="read", days=1)
    token_revoke(owner=world.owner, public_id=token.public_id)


def claim(world: World, _: User) -> None:
    Run.objects.filter(pk=world.run.pk).update(agent=None, guest_key="g")
    guest_runs_claim(agent=human_agent_for(world.owner), guest_key="g")


def judge(world: World, organiser: User) -> None:
    run_verify_again(viewer=organiser, run=world.run)
    run_verify(run_id=world.run.pk)


def import_suite(_world: World, _: User) -> None:
    Suite.objects.filter(entries__isnull=False).update(suite_id="older", suite_hash="0" * 64)
    suite_import(directory=SUITE)


def make_evaluation(world: World, organiser: User) -> None:
    import_suite(world, organiser)
    evaluation_ensure_open(suite=Suite.objects.exclude(suite_id="older").get())


Decision = Callable[[World, User], object]
OWNER, ORGANISER, SITE = "owner", "organiser", "site"

# Every decision that the log knows, how it is made, and who makes it.
DECISIONS: dict[AuditAction, tuple[Decision, str]] = {
    AuditAction.VERDICT: (judge, SITE),
    AuditAction.REVERIFICATION: (lambda world, olga: run_verify_again(viewer=olga, run=world.run), ORGANISER),
    AuditAction.RUN_WITHDRAWN: (lambda world, _: run_withdraw(viewer=world.owner, run=world.run), OWNER),
    AuditAction.RUN_VISIBILITY: (
        lambda world, _: run_set_visibility(
            viewer=world.owner, run=world.run, visibility=Visibility.UNLISTED
        ),
        OWNER,
    ),
    AuditAction.RUN_CLAIMED: (claim, OWNER),
    AuditAction.RUN_HIDDEN: (
        lambda world, _: runs_hide(runs=[world.run], hidden_until=clock.now(), hidden_ref="x"),
        SITE,
    ),
    AuditAction.AGENT_VISIBILITY: (
        lambda world, _: agent_update(
            viewer=world.owner, agent=world.agent, fields={"visibility": Visibility.UNLISTED}
        ),
        OWNER,
    ),
    AuditAction.TOKEN_CREATED: (
        lambda world, _: token_create(owner=world.owner, name="laptop", scope="read", days=1),
        OWNER,
    ),
    AuditAction.TOKEN_REVOKED: (revoke, OWNER),
    AuditAction.ACCOUNT_ERASED: (lambda world, _: account_erase(user=world.owner), OWNER),
    AuditAction.SUITE_IMPORTED: (import_suite, SITE),
    AuditAction.EVALUATION: (make_evaluation, SITE),
    AuditAction.EPISODE_FROZEN: (
        lambda world, _: episode_freeze(
            episode_id=UUID(world.names["episode_id"]), difference=LogDiffers(1, "a", "b")
        ),
        SITE,
    ),
}


def test_the_table_has_every_decision() -> None:
    assert set(DECISIONS) == set(AuditAction)


@pytest.mark.parametrize("action", DECISIONS)
def test_a_decision_is_in_the_log_once_and_not_if_it_is_undone(
    action: AuditAction, world: World, organiser: User
) -> None:
    decide, who = DECISIONS[action]
    actor = {OWNER: world.owner.pk, ORGANISER: organiser.pk, SITE: None}[who]
    before = AuditEntry.objects.filter(action=action).count()
    with transaction.atomic():
        decide(world, organiser)
        transaction.set_rollback(True)
    assert AuditEntry.objects.filter(action=action).count() == before
    for thing in (world.owner, world.agent, world.run):
        thing.refresh_from_db()
    decide(world, organiser)
    entries = AuditEntry.objects.filter(action=action)
    assert entries.count() == before + 1
    assert entries.latest("id").actor_id == actor


def test_the_log_has_no_words_of_an_owner_since_they_could_never_be_erased(
    world: World, organiser: User
) -> None:
    agent_update(viewer=world.owner, agent=world.agent, fields={"name": "Jane Doe's planner"})
    Agent.objects.filter(pk=world.agent.pk).update(slug="jane-doe")
    world.agent.refresh_from_db()
    by_owner = [action for action, (_, who) in DECISIONS.items() if who == OWNER]
    for action in sorted(by_owner, key=lambda action: action == AuditAction.ACCOUNT_ERASED):
        DECISIONS[action][0](world, organiser)
    log = str(list(AuditEntry.objects.values_list()))
    for words in ("jane", "Jane", "laptop", world.owner.username):
        assert f"'{words}" not in log and f" {words}" not in log and f"/{words}" not in log, words
