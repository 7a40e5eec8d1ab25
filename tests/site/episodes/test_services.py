"""Steps are made exactly once, from the log, and an ended episode becomes a run."""

from __future__ import annotations

import json
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from django.db import OperationalError, connection

from ember_site.accounts.models import User
from ember_site.catalog.models import Scenario
from ember_site.core.errors import BadInput, LimitExceeded, SignInRequired
from ember_site.episodes import services
from ember_site.episodes.answers import StepAnswer, StepResult
from ember_site.episodes.models import Episode, EpisodeStep
from ember_site.episodes.services import (
    episode_create,
    episode_step,
    episode_view,
    episodes_finish_pending,
    live_registry,
)
from ember_site.runs.models import Run, RunSource, RunState, Verification
from ember_site.runs.record_store import record_read
from ember_site.runs.services import run_verify
from tests.site.episodes.conftest import EAST, STAY, WAY_OUT


def play_to_end(episode: Episode) -> Episode:
    """Walk both people out of the corridor: B leaves in step 2, A in step 4."""
    for step, actions in enumerate(WAY_OUT, start=1):
        assert make_step(episode, step, actions).result is StepResult.APPLIED
    episode.refresh_from_db()
    return episode


def make_step(episode: Episode, step: int, actions: dict[str, str], **more: Any) -> StepAnswer:
    return episode_step(episode_id=episode.pk, step=step, actions=actions, **more)


def test_a_step_is_in_the_log_when_it_is_answered(practice: Episode) -> None:
    answer = make_step(practice, 1, EAST, assist=1)
    row = EpisodeStep.objects.get(episode=practice)
    assert (answer.result, answer.step, answer.now) == (StepResult.APPLIED, 1, 1)
    assert (row.step, json.loads(row.actions), len(row.state_digest)) == (1, EAST, 64)
    practice.refresh_from_db()
    assert (practice.step, practice.assist, practice.state) == (1, 1, Episode.State.RUNNING)


def test_the_same_step_with_the_same_actions_is_a_duplicate_and_moves_nothing(practice: Episode) -> None:
    first = make_step(practice, 1, EAST)
    again = make_step(practice, 1, EAST)
    assert again.result is StepResult.DUPLICATE
    assert again.observation == first.observation
    assert EpisodeStep.objects.filter(episode=practice).count() == 1


def test_other_actions_for_a_made_step_are_stale(practice: Episode) -> None:
    make_step(practice, 1, EAST)
    answer = make_step(practice, 1, STAY)
    assert (answer.result, answer.code, answer.now) == (StepResult.STALE, "step_stale", 1)
    assert "step 2" in answer.message


@pytest.mark.parametrize("step", [2, 7, 2**31 - 1])
def test_a_step_ahead_of_the_next_one_is_stale(practice: Episode, step: int) -> None:
    answer = make_step(practice, step, EAST)
    assert (answer.result, answer.code, answer.now) == (StepResult.STALE, "step_stale", 0)
    assert not EpisodeStep.objects.exists()


@pytest.mark.parametrize(
    ("actions", "place"),
    [
        ({"A": "east"}, "actions.B"),
        ({"A": "east", "B": "up"}, "actions.B"),
        ({**EAST, "C": "east"}, "actions.C"),
        ({}, "actions.A"),
    ],
)
def test_actions_that_do_not_fit_are_rejected_with_the_place(
    practice: Episode, actions: dict[str, str], place: str
) -> None:
    answer = make_step(practice, 1, actions)
    assert (answer.result, answer.code, answer.place) == (StepResult.REJECTED, "action_invalid", place)
    assert make_step(practice, 1, EAST).result is StepResult.APPLIED


def test_an_action_of_somebody_who_left_is_rejected(practice: Episode) -> None:
    make_step(practice, 1, EAST)
    make_step(practice, 2, EAST)
    answer = make_step(practice, 3, EAST)
    assert (answer.result, answer.place) == (StepResult.REJECTED, "actions.B")


@pytest.mark.django_db(transaction=True)
def test_ten_parallel_copies_of_one_step_give_one_row(practice: Episode) -> None:
    def one(_number: int) -> str:
        try:
            return str(make_step(practice, 1, EAST).result)
        finally:
            connection.close()

    with ThreadPoolExecutor(10) as pool:
        results = sorted(pool.map(one, range(10)))
    assert results == ["applied"] + ["duplicate"] * 9
    assert EpisodeStep.objects.filter(episode=practice).count() == 1


@pytest.mark.django_db(transaction=True)
def test_two_processes_that_make_the_same_step_at_once_agree(
    practice: Episode, monkeypatch: pytest.MonkeyPatch
) -> None:
    # The other process commits between our look at the log and our insert.
    create = EpisodeStep.objects.create

    def overtaken(**values: Any) -> EpisodeStep:
        monkeypatch.setattr(EpisodeStep.objects, "create", create)
        create(**values)
        return create(**values)

    monkeypatch.setattr(EpisodeStep.objects, "create", overtaken)
    answer = make_step(practice, 1, EAST)
    assert answer.result is StepResult.APPLIED
    assert EpisodeStep.objects.filter(episode=practice).count() == 1


def test_any_process_rebuilds_the_state_from_the_log(practice: Episode) -> None:
    answer = make_step(practice, 1, EAST)
    live_registry().clear()
    view = episode_view(episode_id=practice.pk, after=0)
    assert view.observation == answer.observation
    assert view.deltas is not None
    assert [delta["step"] for delta in view.deltas] == [1]
    assert make_step(practice, 2, EAST).result is StepResult.APPLIED


def test_a_log_that_gives_another_state_freezes_the_episode(
    practice: Episode, caplog: pytest.LogCaptureFixture
) -> None:
    make_step(practice, 1, EAST)
    EpisodeStep.objects.filter(episode=practice).update(state_digest="0" * 64)
    live_registry().clear()
    answer = make_step(practice, 2, EAST)
    assert (answer.result, answer.code) == (StepResult.REJECTED, "episode_frozen")
    practice.refresh_from_db()
    assert (practice.state, practice.reason) == (Episode.State.FROZEN, "log_differs_at_1")
    assert "is frozen" in caplog.text
    assert make_step(practice, 2, EAST).code == "episode_frozen"


def test_a_database_that_cannot_be_written_rejects_and_loses_nothing(
    practice: Episode, monkeypatch: pytest.MonkeyPatch
) -> None:
    def locked(**_values: Any) -> EpisodeStep:
        raise OperationalError("database is locked")

    with monkeypatch.context() as patch:
        patch.setattr(EpisodeStep.objects, "create", locked)
        answer = make_step(practice, 1, EAST)
    assert (answer.result, answer.code, answer.retryable, answer.now) == ("rejected", "busy", True, 0)
    assert make_step(practice, 1, EAST).result is StepResult.APPLIED


def test_an_ended_episode_becomes_a_run_that_verifies(practice: Episode, user: User) -> None:
    episode = play_to_end(practice)
    run = episode.run
    assert (episode.state, episode.reason, episode.step) == (Episode.State.ENDED, "all_resolved", 4)
    assert run is not None
    assert (run.source, run.ranked, run.seed) == (RunSource.PLAY, False, episode.seed)
    assert run.agent is not None
    assert (run.agent.kind, run.agent.owner) == ("human", user)
    assert Verification.objects.filter(run=run).count() == 1
    run_verify(run_id=run.pk)
    run.refresh_from_db()
    assert (run.state, run.evacuated, run.steps, run.ended) == (RunState.VERIFIED, 2, 4, True)


def test_the_record_of_an_episode_holds_its_actions(practice: Episode) -> None:
    episode = play_to_end(practice)
    assert episode.run is not None
    record = json.loads(record_read(episode.run.digest))
    assert [step["actions"] for step in record["steps"]] == WAY_OUT


def test_a_step_after_the_end_is_rejected_and_the_last_one_still_a_duplicate(practice: Episode) -> None:
    episode = play_to_end(practice)
    assert make_step(episode, 5, {}).code == "episode_over"
    assert make_step(episode, 4, {"A": "east"}).result is StepResult.DUPLICATE


def test_a_run_that_could_not_be_stored_is_stored_by_the_sweep(
    practice: Episode, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(**_values: Any) -> Run:
        raise OSError("no space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(services, "episode_finish", full)
        episode = play_to_end(practice)
    assert (episode.state, episode.run) == (Episode.State.ENDED, None)
    assert episodes_finish_pending() == 1
    episode.refresh_from_db()
    assert episode.run is not None
    assert episodes_finish_pending() == 0


def test_ranked_play_counts_under_the_human_agent_with_the_seed_of_the_slot(
    corridor: Scenario, user: User
) -> None:
    episode = play_to_end(episode_create(scenario=corridor, owner=user, mode="ranked", seed=0))
    assert episode.run is not None
    assert (episode.run.ranked, episode.run.seed, episode.seed_public) == (True, "0", True)


def test_a_guest_practises_and_keeps_the_run_under_the_guest_key(corridor: Scenario) -> None:
    episode = play_to_end(episode_create(scenario=corridor, owner=None, guest_key="someone"))
    assert episode.run is not None
    assert (episode.run.agent, episode.run.guest_key) == (None, "someone")


def test_practice_draws_a_secret_seed_of_64_bits(corridor: Scenario, user: User) -> None:
    seeds = {int(episode_create(scenario=corridor, owner=user).seed) for _ in range(8)}
    assert len(seeds) == 8
    assert max(seeds) > 2**53
    assert not Episode.objects.filter(seed_public=True).exists()


@pytest.mark.parametrize(
    ("values", "error", "place"),
    [
        ({"mode": "ranked", "seed": 0, "guest_key": "g"}, SignInRequired, None),
        ({"mode": "dance"}, BadInput, "mode"),
        ({"mode": "baseline", "policy": "oracle"}, BadInput, "policy"),
        ({"seed": 2**64, "guest_key": "g"}, BadInput, "seed"),
        ({"seed": -1, "guest_key": "g"}, BadInput, "seed"),
        ({}, BadInput, "owner"),
    ],
)
def test_an_episode_that_cannot_be_is_refused(
    corridor: Scenario, values: dict[str, Any], error: type[Exception], place: str | None
) -> None:
    with pytest.raises(error) as refused:
        episode_create(scenario=corridor, owner=None, **values)
    assert getattr(refused.value, "place", None) == place
    assert not Episode.objects.exists()


def test_the_oldest_practice_is_given_up_where_a_person_has_too_many_games(
    corridor: Scenario, user: User, settings: Any
) -> None:
    settings.EPISODE_LIMITS = {"open_episodes_per_viewer": 2}
    ranked = episode_create(scenario=corridor, owner=user, mode="ranked", seed=0)
    old, new = (episode_create(scenario=corridor, owner=user) for _ in range(2))
    states = {episode.pk: episode.state for episode in Episode.objects.all()}
    assert states == {ranked.pk: "running", old.pk: "abandoned", new.pk: "running"}


def test_ranked_games_are_never_given_up_for_new_ones(corridor: Scenario, user: User, settings: Any) -> None:
    settings.EPISODE_LIMITS = {"open_episodes_per_viewer": 1}
    episode_create(scenario=corridor, owner=user, mode="ranked", seed=0)
    with pytest.raises(LimitExceeded, match="1 open ranked games"):
        episode_create(scenario=corridor, owner=user)
