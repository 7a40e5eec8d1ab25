"""What guests did is kept for a day, and goes to the account that they make."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from django.test import Client

from ember_site.accounts.models import User
from ember_site.catalog.models import Scenario
from ember_site.core.models import AuditAction, AuditEntry
from ember_site.episodes.guests import guest_claim, guest_work, guests_forget
from ember_site.episodes.models import Episode, EpisodeStep
from ember_site.episodes.services import episode_create, episode_step, episodes_finish_pending
from ember_site.runs.models import Run, RunState
from ember_site.runs.services import run_verify
from tests.conftest import PASSWORD
from tests.site.episodes.conftest import EAST, WAY_OUT, HandClock
from tests.site.episodes.test_services import play_to_end

KEY = "guest-key-of-the-test"
DAY = 24 * 60 * 60


@pytest.fixture
def game(corridor: Scenario) -> Episode:
    """Give a guest's practice, played to its end and verified."""
    episode = play_to_end(episode_create(scenario=corridor, owner=None, guest_key=KEY))
    assert episode.run is not None
    run_verify(run_id=episode.run.pk)
    return episode


def test_a_claim_gives_runs_to_the_human_agent_and_open_games_to_the_account(
    game: Episode, corridor: Scenario, user: User
) -> None:
    going = episode_create(scenario=corridor, owner=None, guest_key=KEY)
    others = episode_create(scenario=corridor, owner=None, guest_key="another")
    work = guest_claim(user=user, guest_key=KEY)
    assert (work.runs, work.open_episodes) == (1, 1)
    run = Run.objects.get()
    assert run.agent is not None
    assert (run.agent.owner, run.agent.kind, run.guest_key, run.ranked) == (user, "human", "", False)
    for episode in (game, going):
        episode.refresh_from_db()
        assert (episode.owner, episode.agent, episode.guest_key) == (user, run.agent, "")
    others.refresh_from_db()
    assert (others.owner, others.guest_key) == (None, "another")
    assert list(
        AuditEntry.objects.filter(action=AuditAction.RUN_CLAIMED).values_list("object_id", "actor_id")
    ) == [(str(run.pk), user.pk)]
    assert not guest_claim(user=user, guest_key=KEY)


def test_without_anything_to_claim_no_agent_is_made(user: User) -> None:
    assert not guest_claim(user=user, guest_key="")
    assert not guest_claim(user=user, guest_key=KEY)
    assert not user.agents.exists()


def test_a_claimed_game_is_finished_under_the_account(corridor: Scenario, user: User) -> None:
    episode = episode_create(scenario=corridor, owner=None, guest_key=KEY)
    episode_step(episode_id=episode.pk, step=1, actions=EAST)
    guest_claim(user=user, guest_key=KEY)
    for step, actions in enumerate(WAY_OUT[1:], start=2):
        episode_step(episode_id=episode.pk, step=step, actions=actions)
    episode.refresh_from_db()
    assert episode.run is not None and episode.run.agent is not None
    assert episode.run.agent.owner == user


def test_a_run_that_the_account_has_already_is_not_kept_twice(corridor: Scenario, user: User) -> None:
    own = play_to_end(episode_create(scenario=corridor, owner=user, seed=7))
    theirs = play_to_end(episode_create(scenario=corridor, owner=None, guest_key=KEY, seed=7))
    guest_claim(user=user, guest_key=KEY)
    episodes_finish_pending()
    theirs.refresh_from_db()
    assert Run.objects.get() == own.run == theirs.run


def test_a_guests_run_is_forgotten_after_a_day_with_its_episode_and_log(
    game: Episode, site_clock: HandClock
) -> None:
    site_clock.advance(DAY - 60)
    assert guests_forget() == 0
    assert guest_work(guest_key=KEY).runs == 1
    site_clock.advance(120)
    assert guests_forget() == 1
    assert not Run.objects.exists()
    assert not Episode.objects.exists()
    assert not EpisodeStep.objects.exists()
    assert (guests_forget(), episodes_finish_pending()) == (0, 0)


def test_what_an_account_claimed_is_never_forgotten(game: Episode, user: User, site_clock: HandClock) -> None:
    guest_claim(user=user, guest_key=KEY)
    site_clock.advance(3 * DAY)
    assert guests_forget() == 0
    assert Run.objects.filter(state=RunState.VERIFIED).count() == Episode.objects.count() == 1


def test_a_guests_abandoned_game_is_forgotten_a_day_later_but_no_baseline(
    corridor: Scenario, make_scenario: Callable[..., Scenario], user: User, site_clock: HandClock
) -> None:
    fields = {"state": "abandoned", "ended_at": site_clock.at}
    for owner, key in ((None, KEY), (user, "")):
        episode = episode_create(scenario=corridor, owner=owner, guest_key=key)
        Episode.objects.filter(pk=episode.pk).update(**fields)
    baseline = episode_create(scenario=corridor, owner=None, guest_key=KEY, mode="baseline", policy="stay")
    site_clock.advance(DAY + 1)
    guests_forget()
    assert set(Episode.objects.values_list("owner", "mode")) == {(user.pk, "practice"), (None, "baseline")}
    assert Episode.objects.filter(pk=baseline.pk).exists()


def test_signing_up_keeps_the_key_and_offers_the_claim_on_the_run_page_and_on_ones_own_page(
    game: Episode, guest_client: Client
) -> None:
    assert game.run is not None
    address = f"/runs/{game.run.pk}/"
    page = guest_client.get(address).content.decode()
    assert "kept until" in page
    assert f"/accounts/signup/?next={address}" in page
    guest_client.post(
        "/accounts/signup/",
        {"username": "newcomer", "password1": PASSWORD, "password2": PASSWORD},
    )
    assert "Claim" in guest_client.get("/me/").content.decode()
    assert "Claim" in guest_client.get(address).content.decode()
    answer = guest_client.post("/me/claim/", {"next": address}, follow=True)
    text = answer.content.decode()
    assert answer.redirect_chain[-1][0] == address
    assert "is yours now" in text
    assert "/me/claim/" not in guest_client.get(address).content.decode()
    game.run.refresh_from_db()
    assert game.run.agent is not None and game.run.agent.owner is not None
    assert game.run.agent.owner.username == "newcomer"


def test_nobody_else_can_claim(game: Episode, user_client: Client) -> None:
    assert game.run is not None
    assert "Claim" not in user_client.get(f"/runs/{game.run.pk}/").content.decode()
    user_client.post("/me/claim/")
    game.run.refresh_from_db()
    assert game.run.agent is None
    assert Client().post("/me/claim/").status_code in (302, 401)
    assert guest_work(guest_key=KEY).runs == 1


def test_a_claim_leads_to_no_other_site(game: Episode, user_client: Client) -> None:
    answer = user_client.post("/me/claim/", {"next": "https://elsewhere.example/"})
    assert answer.status_code == 302
    assert answer["Location"] == "/me/"
