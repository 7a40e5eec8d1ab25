"""Nobody acts: people's episodes rest and are given up, agents' go on. The clock is moved by hand."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

import pytest
from django.test import Client

from ember_site.accounts.models import User
from ember_site.catalog.models import Scenario
from ember_site.episodes import hub as hub_module
from ember_site.episodes import idle
from ember_site.episodes.idle import (
    EpisodeOver,
    Stays,
    agents_keep_limits,
    episode_heartbeat,
    episodes_pause_idle,
)
from ember_site.episodes.models import Episode, EpisodeStep
from ember_site.episodes.selectors import episode_own_open
from ember_site.episodes.services import episode_create, episode_step, live_registry
from ember_site.runs.models import Agent, RunSource, RunState
from ember_site.runs.services import run_verify
from tests.site.episodes.conftest import EAST, HandClock, publish

MINUTE, HOUR, DAY = 60, 60 * 60, 24 * 60 * 60


def again(episode: Episode) -> Episode:
    episode.refresh_from_db()
    return episode


def step(episode: Episode, number: int, actions: dict[str, str]) -> str:
    return str(episode_step(episode_id=episode.pk, step=number, actions=actions).result)


def logged(episode: Episode) -> list[str]:
    return list(EpisodeStep.objects.filter(episode=episode).values_list("actions", flat=True))


# --- People -----------------------------------------------------------------------------------


def test_a_person_who_does_nothing_for_half_an_hour_is_paused_and_the_next_step_resumes(
    practice: Episode, site_clock: HandClock
) -> None:
    site_clock.advance(29 * MINUTE)
    assert episodes_pause_idle() == 0
    site_clock.advance(MINUTE)
    assert episodes_pause_idle() == 1
    assert episodes_pause_idle() == 0
    assert again(practice).state == Episode.State.PAUSED
    assert step(practice, 1, EAST) == "applied"
    assert again(practice).state == Episode.State.RUNNING


def test_the_time_to_idle_is_a_setting(practice: Episode, site_clock: HandClock, settings: Any) -> None:
    settings.EMBER_PLAY_IDLE_S = 60
    site_clock.advance(61)
    assert episodes_pause_idle() == 1


def test_a_paused_episode_is_kept_for_a_day_and_then_given_up_with_its_log(
    practice: Episode, site_clock: HandClock
) -> None:
    step(practice, 1, EAST)
    site_clock.advance(30 * MINUTE + 1)
    episodes_pause_idle()
    site_clock.advance(DAY - 1)
    episodes_pause_idle()
    assert again(practice).state == Episode.State.PAUSED
    site_clock.advance(2)
    episodes_pause_idle()
    assert (again(practice).state, practice.run, practice.ended_at) == ("abandoned", None, site_clock.at)
    assert len(logged(practice)) == 1
    answer = episode_step(episode_id=practice.pk, step=2, actions=EAST)
    assert (answer.result, answer.code) == ("rejected", "episode_over")


def test_a_paused_episode_is_found_and_resumed_from_another_device(
    practice: Episode, user: User, site_clock: HandClock
) -> None:
    step(practice, 1, EAST)
    site_clock.advance(2 * HOUR)
    episodes_pause_idle()
    publish(practice.scenario)
    elsewhere = Client()
    elsewhere.force_login(user)
    assert str(practice.pk) in elsewhere.get("/play/").content.decode()
    page = elsewhere.get(f"/play/{practice.scenario_id}/?episode={practice.pk}")
    assert page.context["page"].plays
    live_registry().clear()
    assert step(practice, 2, EAST) == "applied"


def test_a_guest_resumes_by_the_key_in_the_session(
    corridor: Scenario, guest_client: Client, client: Client, site_clock: HandClock
) -> None:
    publish(corridor)
    episode = episode_create(scenario=corridor, owner=None, guest_key="guest-key-of-the-test")
    site_clock.advance(2 * HOUR)
    episodes_pause_idle()
    assert str(episode.pk) in guest_client.get("/play/").content.decode()
    assert str(episode.pk) not in client.get("/play/").content.decode()


def test_a_running_baseline_is_never_paused(
    make_scenario: Callable[..., Scenario], site_clock: HandClock
) -> None:
    episode = episode_create(scenario=make_scenario(), owner=None, mode="baseline", policy="greedy")
    site_clock.advance(2 * DAY)
    episodes_pause_idle()
    assert again(episode).state == Episode.State.RUNNING


# --- Agents -----------------------------------------------------------------------------------


def test_when_the_time_for_a_step_is_over_people_stay_for_that_step_and_no_other(
    remote: Episode, site_clock: HandClock
) -> None:
    site_clock.advance(10 * MINUTE - 1)
    episode_heartbeat(episode_id=remote.pk)
    assert not agents_keep_limits().made
    site_clock.advance(1)
    assert agents_keep_limits().made == {remote.pk: 1}
    assert not agents_keep_limits().made
    assert logged(remote) == ['{"A":"stay","B":"stay"}']
    assert step(remote, 1, EAST) == "stale", "the agent learns that it was too late"
    assert step(remote, 2, EAST) == "applied"
    assert again(remote).state == Episode.State.RUNNING


def test_a_step_gives_the_agent_the_full_time_for_the_next_one(
    remote: Episode, site_clock: HandClock
) -> None:
    site_clock.advance(9 * MINUTE)
    step(remote, 1, EAST)
    site_clock.advance(9 * MINUTE)
    assert not agents_keep_limits().made


def test_t20_a_heartbeat_keeps_an_agent_in_and_changes_nothing(
    remote: Episode, site_clock: HandClock, settings: Any
) -> None:
    settings.EMBER_AGENT_MOVE_S = DAY
    step(remote, 1, EAST)
    before = Episode.objects.filter(pk=remote.pk).values().get()
    for _ in range(20):
        site_clock.advance(14 * MINUTE)
        episode_heartbeat(episode_id=remote.pk)
        assert not agents_keep_limits().made
    after = Episode.objects.filter(pk=remote.pk).values().get()
    assert {key for key in after if after[key] != before[key]} == {"last_active_at"}
    assert step(remote, 2, EAST) == "applied"


def test_t20_without_a_heartbeat_it_ends_at_the_published_time_and_what_was_done_is_kept(
    remote: Episode, site_clock: HandClock, settings: Any
) -> None:
    settings.EMBER_AGENT_MOVE_S = DAY
    step(remote, 1, EAST)
    step(remote, 2, EAST)
    site_clock.advance(15 * MINUTE)
    assert not agents_keep_limits().made
    site_clock.advance(1)
    agents_keep_limits()
    assert again(remote).state == Episode.State.ENDED
    assert remote.reason == "max_steps"
    assert logged(remote)[:2] == ['{"A":"east","B":"east"}'] * 2
    assert set(logged(remote)[2:]) == {'{"A":"stay"}'}
    run = remote.run
    assert run is not None
    run_verify(run_id=run.pk)
    run.refresh_from_db()
    assert (run.state, run.ended, run.source, run.evacuated, run.unresolved) == (
        RunState.VERIFIED,
        True,
        RunSource.REMOTE,
        1,
        1,
    )


def test_t23_a_hung_agent_holds_up_nobody_else(
    remote: Episode, corridor: Scenario, user: User, planner: Agent, site_clock: HandClock
) -> None:
    other = episode_create(scenario=corridor, owner=user, agent=planner)
    person = episode_create(scenario=corridor, owner=user)
    for number in (1, 2):
        site_clock.advance(8 * MINUTE)
        assert step(other, number, EAST) == "applied"
        agents_keep_limits()
    assert again(remote).state == Episode.State.ENDED
    assert (again(other).state, other.step, other.reason) == ("running", 2, "")
    assert (again(person).state, person.step) == ("running", 0)
    assert step(other, 3, {"A": "east"}) == "applied"


def test_a_fault_in_one_episode_leaves_the_others_their_limits(
    remote: Episode,
    corridor: Scenario,
    user: User,
    planner: Agent,
    site_clock: HandClock,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    other = episode_create(scenario=corridor, owner=user, agent=planner)
    real = idle.episode_view

    def broken(*, episode_id: Any) -> Any:
        if episode_id == remote.pk:
            raise RuntimeError("planted")
        return real(episode_id=episode_id)

    monkeypatch.setattr(idle, "episode_view", broken)
    site_clock.advance(10 * MINUTE)
    assert agents_keep_limits().made == {other.pk: 1}


def test_an_agent_that_was_given_up_cannot_come_back_between_two_sweeps(
    remote: Episode, site_clock: HandClock, settings: Any
) -> None:
    settings.EPISODE_LIMITS = {"stays_per_sweep": 2}
    site_clock.advance(16 * MINUTE)
    assert agents_keep_limits().more
    assert (again(remote).state, remote.step) == ("running", 2)
    with pytest.raises(EpisodeOver):
        episode_heartbeat(episode_id=remote.pk)
    answer = episode_step(episode_id=remote.pk, step=3, actions=EAST)
    assert (answer.result, answer.code) == ("rejected", "episode_over")
    while agents_keep_limits().more:
        pass
    assert again(remote).state == Episode.State.ENDED


def test_an_agent_that_is_faster_than_the_sweep_keeps_its_step(
    remote: Episode, site_clock: HandClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = idle.episode_view

    def overtaken(*, episode_id: Any) -> Any:
        step(remote, 1, EAST)
        return real(episode_id=episode_id)

    monkeypatch.setattr(idle, "episode_view", overtaken)
    site_clock.advance(10 * MINUTE)
    assert not agents_keep_limits().made
    assert logged(remote) == ['{"A":"east","B":"east"}']


@pytest.mark.parametrize(("up_s", "looks"), [(599.0, False), (601.0, True)])
async def test_after_a_start_of_the_site_no_limit_passes_before_the_time_of_a_step(
    monkeypatch: pytest.MonkeyPatch, up_s: float, looks: bool
) -> None:
    looked: list[bool] = []
    for name in ("episodes_pause_idle", "episodes_finish_pending", "guests_forget"):
        monkeypatch.setattr(hub_module, name, lambda: None)
    monkeypatch.setattr(hub_module, "agents_keep_limits", lambda: looked.append(True) or Stays())
    hub = hub_module.Hub()
    hub._started_at = asyncio.get_running_loop().time() - up_s
    await hub._sweep()
    assert bool(looked) is looks


def test_agents_are_never_paused_and_never_listed_as_ones_own_games(
    remote: Episode, user: User, site_clock: HandClock
) -> None:
    assert not episode_own_open(viewer=user, guest_key="").exists()
    site_clock.advance(2 * DAY)
    assert episodes_pause_idle() == 0


def test_a_heartbeat_of_a_person_keeps_the_episode_from_resting(
    practice: Episode, site_clock: HandClock
) -> None:
    site_clock.advance(20 * MINUTE)
    episode_heartbeat(episode_id=practice.pk)
    site_clock.advance(20 * MINUTE)
    assert episodes_pause_idle() == 0
