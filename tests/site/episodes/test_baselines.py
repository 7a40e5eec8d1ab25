"""Baselines play live under a lease, and another process takes over exactly where one died."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest
from django.contrib.auth.models import AnonymousUser
from django.core.cache import cache
from django.http import HttpResponse
from django.test import Client
from django.urls import reverse

from ember_site.accounts.models import User
from ember_site.catalog.models import Scenario, Suite
from ember_site.core import clock
from ember_site.core.errors import BadInput, Forbidden, LimitExceeded
from ember_site.episodes import addresses, baselines
from ember_site.episodes.baselines import (
    BaselineRunner,
    baseline_claim,
    baseline_drive,
    baseline_renew,
    baseline_set_speed,
)
from ember_site.episodes.limits import episode_limits
from ember_site.episodes.models import Episode, EpisodeStep
from ember_site.episodes.services import episode_create, episode_step
from ember_site.runs.record_store import record_read
from simulator import Observation, run_episode
from simulator import Scenario as SimulatorScenario
from simulator.policies import BASELINES
from tests.site.episodes.conftest import publish
from tests.site.episodes.web_process import WebProcess

ROOM = ("########", "#A.B..*#", "#..D..X#", "#C.....#", "########")


@pytest.fixture
def room(make_scenario: Any) -> Scenario:
    return make_scenario(*ROOM, fire={"spread_interval": 2}, max_steps=12)


@pytest.fixture(autouse=True)
def _no_earlier_visitors() -> None:
    """What addresses did is in the cache, which outlives a test."""
    cache.clear()


def start(scenario: Scenario, policy: str = "greedy", **more: Any) -> Episode:
    return episode_create(
        scenario=scenario, owner=None, guest_key="starter", mode="baseline", policy=policy, **more
    )


def test_an_episode_is_claimed_once_while_its_lease_lasts(room: Scenario) -> None:
    episode = start(room)
    assert baseline_claim(worker="one", lease_s=10, limit=5) == [episode.pk]
    assert baseline_claim(worker="two", lease_s=10, limit=5) == []
    assert baseline_renew(episode_id=episode.pk, worker="one", lease_s=10)
    assert not baseline_renew(episode_id=episode.pk, worker="two", lease_s=10)


def test_a_lapsed_lease_is_taken_over(room: Scenario) -> None:
    episode = start(room)
    baseline_claim(worker="one", lease_s=10, limit=5)
    Episode.objects.update(lease_until=clock.now() - timedelta(seconds=1))
    assert baseline_claim(worker="two", lease_s=10, limit=5) == [episode.pk]
    assert not baseline_renew(episode_id=episode.pk, worker="one", lease_s=10)


@pytest.mark.parametrize("policy", ["random", "greedy"])
def test_who_takes_over_goes_on_as_if_nothing_had_happened(room: Scenario, policy: str) -> None:
    episode = start(room, policy)
    for _ in range(3):  # a new process for each step
        drive = baseline_drive(episode_id=episode.pk)
        actions = {person: str(action) for person, action in drive.policy(drive.observation).items()}
        episode_step(episode_id=episode.pk, step=drive.observation.step + 1, actions=actions)
    whole = run_episode(
        SimulatorScenario.from_json(room.document), BASELINES[policy](), seed=int(episode.seed)
    )
    expected = [step["actions"] for step in json.loads(whole.to_json())["steps"][:3]]
    made = [json.loads(text) for text in EpisodeStep.objects.values_list("actions", flat=True)]
    assert made == expected


def test_a_policy_is_given_observations_only(room: Scenario, monkeypatch: pytest.MonkeyPatch) -> None:
    given: list[object] = []

    def spy(*seen: object, **named: object) -> Mapping[str, str]:
        given.extend([*seen, *named.values()])
        assert isinstance(seen[0], Observation)
        return {person.id: "stay" for person in seen[0].people if person.status == "active"}

    monkeypatch.setitem(baselines.BASELINES, "greedy", lambda: spy)
    episode = start(room)
    drive = baseline_drive(episode_id=episode.pk)
    episode_step(episode_id=episode.pk, step=1, actions=dict(drive.policy(drive.observation)))
    baseline_drive(episode_id=episode.pk)
    assert len(given) == 2
    assert all(type(one) is Observation for one in given)


def test_one_visitor_starts_so_many_baselines_only(room: Scenario) -> None:
    for _ in range(3):
        start(room)
    with pytest.raises(LimitExceeded, match="You started 3 baselines"):
        start(room)


def test_guests_of_one_address_start_so_many_baselines_only_however_often_they_drop_their_cookies(
    suite: Suite, user: User
) -> None:
    scenario = Scenario.objects.filter(entries__suite=suite).earliest("pk")
    address = reverse("watch_start", args=[scenario.content_hash, "greedy"])

    def ask(client: Client, host: str = "192.0.2.7") -> HttpResponse:
        return client.post(address, REMOTE_ADDR=host, headers={"accept": "application/json"})

    for _ in range(6):
        assert ask(Client()).status_code == 302
    refused = ask(Client())
    assert (refused.status_code, refused.json()["code"], refused.json()["limit"]) == (429, "too_many", 6)
    assert "from your address" in refused.json()["detail"]
    assert ask(Client(), "192.0.2.8").status_code == 302, "another address"
    member = Client()
    member.force_login(user)
    assert ask(member).status_code == 302, "who signs in is counted as an account alone"
    ended = Episode.objects.filter(owner=None).earliest("created_at")
    Episode.objects.filter(pk=ended.pk).update(state=Episode.State.ENDED)
    assert ask(Client()).status_code == 302, "one has ended"
    assert ask(Client()).status_code == 429


def test_an_address_is_kept_as_a_digest_and_no_longer_than_a_baseline_can_run(
    room: Scenario, monkeypatch: pytest.MonkeyPatch
) -> None:
    kept: list[tuple[Any, ...]] = []
    monkeypatch.setattr(addresses.cache, "set", lambda *values: kept.append(values))
    start(room, address="192.0.2.9")
    ((key, notes, timeout_s),) = kept
    assert "192.0.2.9" not in str(key) + str(notes)
    assert 0 < timeout_s <= room.max_steps / baselines.SLOWEST_STEPS_PER_S
    assert "192.0.2.9" not in str(Episode.objects.values().get())


@pytest.mark.django_db(transaction=True)
def test_a_baseline_plays_live_to_the_end_in_front_of_watchers(web: WebProcess, room: Scenario) -> None:
    episode = start(room, steps_per_second=20)
    line = web.episode(episode.pk)
    line.hello()
    end = line.until("end")
    assert end["summary"]["population"] == 4
    episode.refresh_from_db()
    assert episode.run is not None
    assert (episode.run.source, episode.run.ranked) == ("baseline", False)
    assert episode.run.agent is not None
    assert (episode.run.agent.kind, episode.run.agent.name) == ("baseline", "greedy")
    whole = run_episode(
        SimulatorScenario.from_json(room.document), BASELINES["greedy"](), seed=int(episode.seed)
    )
    assert record_read(episode.run.digest).decode() == whole.to_json()
    line.close()


def test_who_started_a_baseline_sets_its_speed_and_nobody_else(
    room: Scenario, user: User, other_user: User
) -> None:
    episode = start(room, steps_per_second=4)
    own = episode_create(scenario=room, owner=user, mode="baseline", policy="greedy")
    guest = AnonymousUser()
    baseline_set_speed(viewer=guest, guest_key="starter", episode_id=episode.pk, steps_per_second=0.5)
    baseline_set_speed(viewer=user, guest_key="", episode_id=own.pk, steps_per_second=20)
    assert list(Episode.objects.order_by("created_at").values_list("steps_per_second", flat=True)) == [
        0.5,
        20,
    ]
    for viewer, key, pk in (
        (guest, "", episode.pk),
        (guest, "another", episode.pk),
        (other_user, "", own.pk),
        (guest, "starter", own.pk),
    ):
        with pytest.raises(Forbidden):
            baseline_set_speed(viewer=viewer, guest_key=key, episode_id=pk, steps_per_second=1)


@pytest.mark.parametrize("speed", [0.49, 20.01, 0, -1, float("nan"), float("inf")])
def test_a_speed_out_of_range_is_refused(room: Scenario, speed: float) -> None:
    episode = start(room, steps_per_second=4)
    with pytest.raises(BadInput, match=r"0\.5 to 20"):
        baseline_set_speed(
            viewer=AnonymousUser(), guest_key="starter", episode_id=episode.pk, steps_per_second=speed
        )


def test_a_game_of_a_person_has_no_speed(room: Scenario, user: User) -> None:
    episode = episode_create(scenario=room, owner=user)
    with pytest.raises(Forbidden):
        baseline_set_speed(viewer=user, guest_key="", episode_id=episode.pk, steps_per_second=1)


async def test_a_baseline_started_while_others_are_claimed_is_looked_for_at_once(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    looks = 0
    again = asyncio.Event()

    async def look(*_args: Any, **_kwargs: Any) -> list[Any]:
        nonlocal looks
        looks += 1
        if looks == 1:
            runner.wake()  # somebody starts one after this look has begun
        else:
            again.set()
        return []

    async def never(*_args: Any, **_kwargs: Any) -> Any:
        raise AssertionError

    monkeypatch.setattr(baselines, "in_writing_thread", look)
    runner = BaselineRunner(never, replace(episode_limits(), lease_s=1_000_000.0))
    running = asyncio.create_task(runner.run())
    await asyncio.wait_for(again.wait(), 60)
    running.cancel()
    await asyncio.gather(running, return_exceptions=True)


@pytest.mark.django_db(transaction=True)
def test_watchers_are_told_a_new_speed_and_the_baseline_obeys(
    web: WebProcess, make_scenario: Any, guest_client: Client
) -> None:
    scenario = make_scenario("A.......", "........", ".......X", max_steps=30)
    episode = episode_create(
        scenario=scenario,
        owner=None,
        guest_key="guest-key-of-the-test",
        mode="baseline",
        policy="random",
        steps_per_second=0.5,
    )
    line = web.episode(episode.pk)
    line.hello()
    line.until("snapshot")
    address = reverse("watch_speed", args=[episode.pk])
    assert Client().post(address, {"speed": "20"}).status_code == 403
    assert guest_client.post(address, {"speed": "fast"}).status_code == 422
    assert guest_client.post(address, {"speed": "20"}).status_code == 204
    notice = line.until("notice", lambda frame: frame["code"] == "speed")
    assert notice["steps_per_second"] == 20
    line.until("end")  # within the patience of the socket: at half a step a second it would take a minute
    line.close()


def test_only_who_started_a_baseline_finds_the_control_on_the_page(
    room: Scenario, guest_client: Client
) -> None:
    publish(room)
    episode = episode_create(
        scenario=room, owner=None, guest_key="guest-key-of-the-test", mode="baseline", policy="greedy"
    )
    address = reverse("live_detail", args=[episode.pk])
    control = reverse("watch_speed", args=[episode.pk])
    Episode.objects.update(steps_per_second=4)
    assert control in guest_client.get(address).content.decode()
    page = Client().get(address).content.decode()
    assert control not in page
    assert '<span id="speed-now">4</span>' in page
