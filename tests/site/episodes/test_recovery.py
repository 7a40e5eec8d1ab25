"""Rebuilding from the log: what differs is frozen and told, and nothing that was not saved is built upon."""

from __future__ import annotations

import json
import threading
import tracemalloc
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any
from uuid import UUID

import pytest
from django.db import OperationalError, connection
from django.test import Client
from django.urls import reverse

from ember_site.accounts.models import User
from ember_site.catalog.models import Scenario
from ember_site.core.models import AuditAction, AuditEntry
from ember_site.episodes.answers import StepResult
from ember_site.episodes.baselines import baseline_drive
from ember_site.episodes.live import LiveEpisode, LiveRegistry, LogDiffers
from ember_site.episodes.models import Episode, EpisodeStep
from ember_site.episodes.services import (
    episode_create,
    episode_step,
    episode_view,
    episodes_finish_pending,
    live_registry,
)
from ember_site.runs.models import Run
from tests.patience import PATIENCE_S
from tests.simulator.builders import document_from_map, scenario_of
from tests.site.episodes.conftest import EAST, STAY, WAY_OUT


def play(episode: Episode, steps: int) -> None:
    """Make `steps` steps in which everybody walks and then forget what this process knows."""
    for step, actions in enumerate(WAY_OUT[:steps], start=1):
        assert episode_step(episode_id=episode.pk, step=step, actions=actions).result is StepResult.APPLIED
    live_registry().clear()


def digest(rows: Any) -> None:
    rows.filter(step=2).update(state_digest="0" * 64)


def actions(rows: Any) -> None:
    rows.filter(step=2).update(actions=json.dumps(STAY))


def impossible(rows: Any) -> None:
    rows.filter(step=2).update(actions=json.dumps({"A": "fly"}))


def hole(rows: Any) -> None:
    rows.filter(step=2).delete()


def tail(rows: Any) -> None:
    rows.filter(step__gte=2).delete()


DAMAGE: list[Callable[[Any], None]] = [digest, actions, impossible, hole, tail]


def look(episode: Episode) -> None:
    episode_view(episode_id=episode.pk)


def step_on(episode: Episode) -> None:
    answer = episode_step(episode_id=episode.pk, step=4, actions={"A": "east"})
    assert (answer.result, answer.code, answer.now) == (StepResult.REJECTED, "episode_frozen", 1)


@pytest.mark.parametrize("damage", DAMAGE)
@pytest.mark.parametrize("use", [look, step_on])
def test_an_episode_whose_log_does_not_give_its_states_is_frozen_and_told(
    practice: Episode,
    client: Client,
    caplog: pytest.LogCaptureFixture,
    damage: Callable[[Any], None],
    use: Callable[[Episode], None],
) -> None:
    play(practice, 3)
    damage(EpisodeStep.objects.filter(episode=practice))
    use(practice)
    practice.refresh_from_db()
    assert (practice.state, practice.reason) == (Episode.State.FROZEN, "log_differs_at_2")
    assert f"episode {practice.pk} is frozen: step 2" in caplog.text
    assert AuditEntry.objects.get(action=AuditAction.EPISODE_FROZEN).object_id == str(practice.pk)
    assert "1 episode is frozen" in client.get(reverse("status")).content.decode()
    # Nothing goes on from it: what is shown is the last state that agreed with the log.
    view = episode_view(episode_id=practice.pk)
    assert (view.step, view.state) == (1, Episode.State.FROZEN)
    rows = EpisodeStep.objects.count()
    again = episode_step(episode_id=practice.pk, step=2, actions=EAST)
    assert (again.result, again.code) == (StepResult.REJECTED, "episode_frozen")
    assert EpisodeStep.objects.count() == rows
    assert AuditEntry.objects.filter(action=AuditAction.EPISODE_FROZEN).count() == 1, "told once"


@pytest.mark.parametrize("damage", DAMAGE)
def test_an_ended_episode_that_differs_becomes_no_run(
    practice: Episode, monkeypatch: pytest.MonkeyPatch, damage: Callable[[Any], None]
) -> None:
    with monkeypatch.context() as patch:
        patch.setattr("ember_site.episodes.services._finish_soon", lambda _episode_id: False)
        play(practice, 4)
    damage(EpisodeStep.objects.filter(episode=practice))
    assert episodes_finish_pending() == 0
    practice.refresh_from_db()
    assert (practice.state, practice.run) == (Episode.State.FROZEN, None)
    assert episodes_finish_pending() == 0
    assert not Run.objects.exists()


def test_an_episode_that_is_over_and_has_its_run_stays_over(practice: Episode) -> None:
    play(practice, 4)
    EpisodeStep.objects.filter(episode=practice).update(state_digest="0" * 64)
    assert episode_view(episode_id=practice.pk).state == Episode.State.ENDED
    practice.refresh_from_db()
    assert practice.state == Episode.State.ENDED


def test_a_baseline_that_cannot_be_led_through_its_log_is_frozen(corridor: Scenario, user: User) -> None:
    episode = episode_create(scenario=corridor, owner=user, mode="baseline", policy="stay")
    episode_step(episode_id=episode.pk, step=1, actions=STAY)
    EpisodeStep.objects.update(state_digest="0" * 64)
    with pytest.raises(LogDiffers):
        baseline_drive(episode_id=episode.pk)
    episode.refresh_from_db()
    assert episode.state == Episode.State.FROZEN


@pytest.mark.django_db(transaction=True)
def test_who_looked_while_a_step_could_not_be_saved_does_not_see_it(
    practice: Episode, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The failed step is in the memory of the process for a moment; the next thread must not see it."""
    waits = threading.Event()
    find = LiveRegistry.get_or_make

    def found(registry: LiveRegistry, episode_id: UUID, make: Callable[[], LiveEpisode]) -> LiveEpisode:
        live = find(registry, episode_id, make)
        if threading.current_thread() is not threading.main_thread():
            waits.set()
        return live

    def later() -> tuple[int, list[StepResult]]:
        try:
            seen = episode_view(episode_id=practice.pk).step
            answers = [episode_step(episode_id=practice.pk, step=step, actions=EAST) for step in (2, 1)]
            return seen, [answer.result for answer in answers]
        finally:
            connection.close()

    with ThreadPoolExecutor(1) as pool, monkeypatch.context() as patch:
        patch.setattr(LiveRegistry, "get_or_make", found)
        create, other = EpisodeStep.objects.create, []

        def locked(**values: Any) -> EpisodeStep:
            if other:
                return create(**values)
            other.append(pool.submit(later))
            assert waits.wait(PATIENCE_S)
            raise OperationalError("database is locked")

        patch.setattr(EpisodeStep.objects, "create", locked)
        assert episode_step(episode_id=practice.pk, step=1, actions=EAST).code == "busy"
        assert other[0].result(PATIENCE_S) == (0, [StepResult.STALE, StepResult.APPLIED])
    assert list(EpisodeStep.objects.values_list("step", flat=True)) == [1]


def test_steps_that_the_database_lost_are_forgotten(practice: Episode) -> None:
    """A database that goes back to an older state, as after a restored copy, is right."""
    for step in (1, 2):
        episode_step(episode_id=practice.pk, step=step, actions=EAST)
    EpisodeStep.objects.filter(step=2).delete()
    Episode.objects.filter(pk=practice.pk).update(step=1)
    answer = episode_step(episode_id=practice.pk, step=2, actions=STAY)
    assert (answer.result, answer.now) == (StepResult.APPLIED, 2)


def test_a_live_episode_holds_no_more_after_a_thousand_steps() -> None:
    crowd = "ABCDEFGHIJKLMNOPQRSTUVWY"
    rows = (crowd, "." * 24, "#" * 23 + "X", "*" + "#" * 23)
    live = LiveEpisode(scenario_of(document_from_map(*rows, max_steps=100_000)), seed=1)
    back_and_forth = [dict.fromkeys(crowd, action) for action in ("south", "north")]

    def go_on(steps: int) -> int:
        for step in range(steps):
            live.make_step(back_and_forth[step % 2])
        return tracemalloc.get_traced_memory()[0]

    tracemalloc.start()
    try:
        before = go_on(100)  # the few deltas that are kept are then all there
        assert go_on(1_000) - before < 8_192
    finally:
        tracemalloc.stop()
