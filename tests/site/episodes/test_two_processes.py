"""Two web processes serve one episode, with hints over Redis and without; on SQLite, and again on PostgreSQL.

`TEST_REDIS_URL` names a Redis; without it one on this machine is tried.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

import pytest
import redis
from django.db.models import Sum
from websockets.exceptions import ConnectionClosed

from ember_site.accounts.models import User
from ember_site.catalog.models import Scenario
from ember_site.episodes.models import Audience, Episode, EpisodeStep
from ember_site.episodes.services import episode_create, episode_view
from tests.patience import wait_until
from tests.site.episodes.conftest import EAST, STAY
from tests.site.episodes.delta_apply import delta_apply
from tests.site.episodes.test_http_server import Caller, with_token
from tests.site.episodes.web_process import WebProcess

pytestmark = pytest.mark.django_db(transaction=True)

REDIS_AT_HOME = "redis://127.0.0.1:6379/7"
LIMITS = {
    "messages_per_s": 1000,
    "sockets_per_address": 1000,
    "sockets_per_user": 1000,
    "audience_silent_s": 10.0,
}


def redis_url() -> str | None:
    """A Redis that answers, or None; one that was named must answer."""
    named = os.environ.get("TEST_REDIS_URL", "")
    try:
        redis.Redis.from_url(named or REDIS_AT_HOME, socket_connect_timeout=3).ping()
    except redis.ConnectionError:
        if named:
            raise
        return None
    return named or REDIS_AT_HOME


@dataclass(frozen=True)
class Pair:
    """Two web processes and the variables that they share."""

    a: WebProcess
    b: WebProcess
    extra: dict[str, str]


@pytest.fixture(scope="module", params=["poll", "redis"])
def pair(request: pytest.FixtureRequest, django_db_setup: None, django_db_blocker: Any) -> Iterator[Pair]:
    """Give two web processes, which hear of each other over Redis or by asking the database."""
    url = redis_url() if request.param == "redis" else ""
    if url is None:
        pytest.skip(f"No Redis answers at {REDIS_AT_HOME}, and TEST_REDIS_URL names none.")
    extra = {"REDIS_URL": url}
    with django_db_blocker.unblock(), ThreadPoolExecutor(2) as pool:
        a, b = pool.map(lambda _number: WebProcess(LIMITS, extra), range(2))
    yield Pair(a, b, extra)
    a.stop()
    b.stop_faultless()
    assert a.faults == [], "".join(a.output)


@pytest.fixture
def long_room(make_scenario: Callable[..., Scenario]) -> Scenario:
    """Give a room in which one may pace for long."""
    return make_scenario("#######", "#A.B.X#", "#######", max_steps=500)


def test_who_watches_in_one_process_sees_every_step_made_in_the_other(
    pair: Pair, long_room: Scenario, user: User, cookie: str
) -> None:
    episode = episode_create(scenario=long_room, owner=user)
    player, watcher = pair.a.episode(episode.pk, cookie), pair.b.episode(episode.pk)
    player.hello()
    watcher.hello()
    held = watcher.until("snapshot")["observation"]
    for step in range(1, 61):
        assert player.act(step, {"A": "east" if step % 2 else "west", "B": "stay"})["result"] == "applied"
    snapshots = 0
    while held["step"] < 60:
        frame = watcher.next()
        if frame["t"] == "delta":
            held = delta_apply(held, frame)  # refuses a gap
        elif frame["t"] == "snapshot":
            snapshots += 1
            held = frame["observation"]
    assert held["people"] == episode_view(episode_id=episode.pk).observation.to_dict()["people"]
    assert snapshots <= 2, "sixty steps fit into the deltas that a process keeps"
    for line in (player, watcher):
        line.close()


def test_steps_that_both_processes_make_at_once_are_made_once(
    pair: Pair, long_room: Scenario, user: User, planner: Any, token_of: Callable[..., str]
) -> None:
    key = token_of(user)
    episode = episode_create(scenario=long_room, owner=user, agent=planner)
    line, caller = with_token(pair.a, episode, key), Caller(pair.b, key)
    line.hello()
    with ThreadPoolExecutor(1) as pool:
        for step in range(1, 31):
            over_http = pool.submit(caller.step, episode, step, STAY)
            results = [line.act(step, STAY)["result"], over_http.result().body["result"]]
            assert sorted(results) == ["applied", "duplicate"], step
        for step in range(31, 46):
            other = {"A": "north", "B": "stay"}
            over_http = pool.submit(caller.step, episode, step, other)
            results = [line.act(step, STAY)["result"], over_http.result().status]
            assert results in (["applied", 409], ["stale", 200]), step
    assert list(EpisodeStep.objects.order_by("step").values_list("step", flat=True)) == list(range(1, 46))
    line.close()


def test_the_newest_socket_of_the_player_wins_wherever_it_is(
    pair: Pair, practice: Episode, cookie: str
) -> None:
    first = pair.a.episode(practice.pk, cookie)
    first.hello()
    second = pair.b.episode(practice.pk, cookie)
    second.hello()
    assert first.until("bye")["code"] == 4409
    assert first.close_code() == 4409
    assert second.act(1, EAST)["result"] == "applied"
    slow = pair.a.episode(practice.pk, cookie)
    third = pair.b.episode(practice.pk, cookie)
    third.hello()
    assert second.until("bye")["code"] == 4409
    slow.hello()
    assert slow.until("bye")["code"] == 4409, "a slow handshake makes no socket newer"
    again = pair.a.episode(practice.pk, cookie)
    assert again.hello(have=1)["step"] == 1
    assert third.until("bye")["code"] == 4409
    assert again.act(2, EAST)["result"] == "applied"
    again.close()


def test_p8_watchers_of_both_processes_are_counted_and_the_cut_ones_not(
    pair: Pair, practice: Episode, cookie: str
) -> None:
    player, stays = pair.a.episode(practice.pk, cookie), pair.b.episode(practice.pk)
    player.hello()
    stays.hello()

    def come_and_go(number: int) -> None:
        line = (pair.a, pair.b)[number % 2].episode(practice.pk)
        line.hello()
        if number % 4 < 2:
            line.cut()
        else:
            line.close()

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(come_and_go, range(60)))
    many = [(pair.a, pair.b)[number % 2].episode(practice.pk) for number in range(20)]
    for line in many:
        line.hello()
    for line in (player, stays):  # more than ever came and went at once
        line.until("crowd", lambda frame: frame["n"] == 21)
    for line in many:
        line.cut()
    for line in (player, stays):
        line.until("crowd", lambda frame: frame["n"] == 1)
    # Each process writes its own number a moment after it told its sockets.
    wait_until(lambda: Audience.objects.aggregate(n=Sum("watchers"))["n"] == 1, "one watcher on record")
    newest = pair.b.episode(practice.pk, cookie)
    assert newest.hello()["watchers"] == 1
    for line in (newest, stays):
        line.close()


def test_watchers_of_a_killed_process_are_counted_no_more(pair: Pair, practice: Episode, cookie: str) -> None:
    player = pair.a.episode(practice.pk, cookie)
    player.hello()
    doomed = WebProcess(LIMITS, pair.extra)
    lines = [doomed.episode(practice.pk) for _ in range(3)]
    for line in lines:
        line.hello()
    assert player.until("crowd", lambda frame: frame["n"] == 3)
    doomed.kill()
    assert player.until("crowd", lambda frame: frame["n"] == 0)
    player.close()


def test_players_of_a_killed_process_go_on_in_the_other(pair: Pair, practice: Episode, cookie: str) -> None:
    doomed = WebProcess(LIMITS, pair.extra)
    line, watcher = doomed.episode(practice.pk, cookie), pair.b.episode(practice.pk)
    line.hello()
    watcher.hello()
    assert line.act(1, EAST)["result"] == "applied"
    line.send("act", step=2, actions=EAST)
    doomed.kill()
    with pytest.raises(ConnectionClosed):
        line._read_on()
    line = pair.a.episode(practice.pk, cookie)
    assert line.hello(have=1)["step"] in (1, 2)
    assert line.act(2, EAST)["result"] in ("applied", "duplicate")
    assert line.act(3, {"A": "east"})["result"] == "applied"
    assert watcher.until("delta", lambda frame: frame["step"] == 3)
    assert EpisodeStep.objects.count() == 3
    for one in (line, watcher):
        one.close()


def test_where_redis_is_gone_steps_still_arrive(practice: Episode, cookie: str) -> None:
    """A hint is only a hint: without it the database tells, somewhat later."""
    gone = {"REDIS_URL": "redis://127.0.0.1:9/0"}  # nothing answers there
    with ThreadPoolExecutor(2) as pool:
        a, b = pool.map(lambda _number: WebProcess(LIMITS, gone), range(2))
    try:
        player, watcher = a.episode(practice.pk, cookie), b.episode(practice.pk)
        player.hello()
        watcher.hello()
        for step in (1, 2):
            assert player.act(step, EAST)["result"] == "applied"
        assert watcher.until("delta")["step"] == 1
        assert watcher.until("delta")["step"] == 2
        for line in (player, watcher):
            line.close()
    finally:
        a.stop()
        b.stop()
