"""The socket of an episode, against a real web process: the main path and the trials of live play."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor

import pytest
from django.db import connection
from django.test import Client
from websockets.exceptions import ConnectionClosed

from ember_site.accounts.models import User
from ember_site.catalog.models import Scenario
from ember_site.episodes.models import Episode, EpisodeStep
from ember_site.episodes.services import episode_create, episode_step
from tests.site.episodes.conftest import EAST, STAY, WAY_OUT, cookie_of
from tests.site.episodes.delta_apply import delta_apply
from tests.site.episodes.web_process import Line, WebProcess

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture(autouse=True)
def _no_faults(web: WebProcess) -> Iterator[None]:
    """Nothing that a client does may show as an error of ours."""
    before = len(web.faults)
    yield
    assert web.faults[before:] == []


def test_an_episode_is_played_from_hello_to_the_stored_run(
    web: WebProcess, practice: Episode, cookie: str
) -> None:
    line = web.episode(practice.pk, cookie)
    welcome = line.hello()
    assert (welcome["role"], welcome["step"], welcome["watchers"], welcome["state"]) == (
        "player",
        0,
        0,
        "running",
    )
    assert welcome["limits"]["messages_per_s"] == 20
    held = line.until("snapshot")["observation"]
    for step, actions in enumerate(WAY_OUT, start=1):
        line.send("act", step=step, actions=actions)
        held = delta_apply(held, line.until("delta"))
        ack = line.until("ack")
        assert (ack["step"], ack["result"], ack["now"]) == (step, "applied", step)
    end = json.loads(next(text for text in line.texts if '"end"' in text))
    assert [person["status"] for person in held["people"]] == ["evacuated", "evacuated"]
    practice.refresh_from_db()
    assert end["reason"] == "all_resolved"
    assert end["summary"] == {"population": 2, "evacuated": 2, "casualties": 0, "unresolved": 0, "steps": 4}
    assert (end["run"], end["seed"]) == (str(practice.run_id), practice.seed)


def test_watchers_see_each_step_and_the_player_sees_the_watchers(player: Line, watcher: Line) -> None:
    assert player.until("crowd")["n"] == 1
    assert player.act(1, EAST)["result"] == "applied"
    delta = watcher.until("delta")
    assert (delta["step"], delta["moved"]) == (1, [["A", 1, 2], ["B", 1, 4]])
    watcher.cut()
    assert player.until("crowd")["n"] == 0


def test_p1_the_same_act_five_times_at_once_and_after_a_reconnect_moves_once(
    web: WebProcess, practice: Episode, cookie: str, player: Line
) -> None:
    for _ in range(5):
        player.send("act", step=1, actions=EAST)
    results = [player.until("ack")["result"] for _ in range(5)]
    assert results == ["applied"] + ["duplicate"] * 4
    player.cut()
    again = web.episode(practice.pk, cookie)
    assert again.hello(have=0)["step"] == 1
    assert again.until("delta")["step"] == 1
    assert again.act(1, EAST)["result"] == "duplicate"
    assert EpisodeStep.objects.filter(episode=practice).count() == 1
    again.close()


def test_t22_parallel_sockets_that_retry_one_step_make_it_once(
    web: WebProcess, practice: Episode, cookie: str
) -> None:
    def one(_number: int) -> None:
        line = web.episode(practice.pk, cookie)
        line.send("hello", v=1, have=None)
        line.send("act", step=1, actions=EAST)
        line.cut()

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(one, range(4)))
    line = web.episode(practice.pk, cookie)
    line.hello()
    assert line.act(1, EAST)["result"] in ("applied", "duplicate")
    assert line.act(1, STAY)["result"] == "stale"
    assert EpisodeStep.objects.filter(episode=practice).count() == 1
    line.close()


def test_p3_a_client_cut_between_act_and_ack_learns_what_happened(
    web: WebProcess, practice: Episode, cookie: str, player: Line
) -> None:
    player.send("act", step=1, actions=EAST)
    player.cut()
    again = web.episode(practice.pk, cookie)
    again.hello(have=0)
    # Whether the step arrived before the cut or not: sending it again tells, and makes no second one.
    ack = again.act(1, EAST)
    assert ack["result"] in ("applied", "duplicate")
    assert ack["now"] == 1
    assert EpisodeStep.objects.filter(episode=practice).count() == 1
    again.close()


def test_p4_a_killed_server_loses_and_doubles_nothing(practice: Episode, cookie: str) -> None:
    first = WebProcess()
    line = first.episode(practice.pk, cookie)
    line.hello()
    line.send("act", step=1, actions=EAST)
    first.kill()
    made = EpisodeStep.objects.filter(episode=practice).count()
    second = WebProcess()
    try:
        line = second.episode(practice.pk, cookie)
        assert line.hello(have=0)["step"] == made
        assert line.act(1, EAST)["result"] == ("duplicate" if made else "applied")
        assert line.act(2, EAST)["result"] == "applied"
        line.close()
    finally:
        second.stop()
    assert EpisodeStep.objects.filter(episode=practice).count() == 2


def test_a_step_made_by_another_process_reaches_the_watchers(practice: Episode, watcher: Line) -> None:
    episode_step(episode_id=practice.pk, step=1, actions=EAST)
    episode_step(episode_id=practice.pk, step=2, actions=EAST)
    assert watcher.until("delta")["step"] == 1
    assert watcher.until("delta")["step"] == 2


def test_who_comes_back_after_long_gets_one_snapshot(
    web: WebProcess, make_scenario: Callable[..., Scenario], user: User, cookie: str
) -> None:
    episode = episode_create(scenario=make_scenario("A....X", max_steps=90), owner=user)
    for step in range(1, 41):
        episode_step(episode_id=episode.pk, step=step, actions={"A": "stay"})
    line = web.episode(episode.pk, cookie)
    assert line.hello(have=2)["step"] == 40
    assert line.next()["observation"]["step"] == 40
    line.close()


def test_p14_another_site_may_not_open_a_socket(web: WebProcess, practice: Episode, cookie: str) -> None:
    line = web.open(f"/ws/episodes/{practice.pk}/", cookie, origin="http://evil.example")
    assert line.close_code() == 4403


@pytest.mark.parametrize("path", ["/ws/episodes/nonsense/", "/ws/", "/anything"])
def test_p14_an_unknown_path_closes_with_4404(web: WebProcess, path: str) -> None:
    assert web.open(path).close_code() == 4404


def test_p14_an_unknown_episode_closes_with_4404(web: WebProcess, db: None) -> None:
    line = web.episode("00000000-0000-4000-8000-000000000000")
    assert line.until("bye")["code"] == 4404
    assert line.close_code() == 4404


def test_p14_an_ended_episode_shows_its_end_and_takes_no_step(
    web: WebProcess, practice: Episode, cookie: str
) -> None:
    for step, actions in enumerate(WAY_OUT, start=1):
        episode_step(episode_id=practice.pk, step=step, actions=actions)
    line = web.episode(practice.pk, cookie)
    assert line.hello()["state"] == "ended"
    assert line.until("snapshot")["observation"]["step"] == 4
    assert line.until("end")["reason"] == "all_resolved"
    assert line.act(4, {"A": "east"})["result"] == "duplicate"
    ack = line.act(5, {})
    assert (ack["result"], ack["code"]) == ("rejected", "episode_over")
    assert line.close_code() == 4410


def test_sockets_of_an_episode_that_takes_no_more_steps_do_not_stay_open_for_nothing(
    practice: Episode, cookie: str
) -> None:
    quick = WebProcess({"after_end_s": 0.2})
    try:
        for state in (Episode.State.RUNNING, Episode.State.FROZEN, Episode.State.ABANDONED):
            Episode.objects.filter(pk=practice.pk).update(state=state)
            line = quick.episode(practice.pk, cookie)
            assert line.hello()["state"] == state
            assert line.until("snapshot")["observation"]["step"] == 0
            if state == Episode.State.RUNNING:
                Episode.objects.filter(pk=practice.pk).update(state=Episode.State.ABANDONED)
                assert line.until("notice")["code"] == "abandoned"
            assert line.until("bye")["code"] == 4410
            assert line.close_code() == 4410
    finally:
        quick.stop()


def test_p14_a_stranger_is_a_watcher_and_can_never_act(
    web: WebProcess, practice: Episode, other_user: User, watcher: Line
) -> None:
    stranger = Client()
    stranger.force_login(other_user)
    line = web.episode(practice.pk, cookie_of(stranger))
    assert line.hello()["role"] == "watcher"
    for one in (line, watcher):
        one.send("act", step=1, actions=EAST)
        assert one.until("err")["code"] == "not_the_player"
    assert not EpisodeStep.objects.exists()
    line.close()


def test_p14_who_signed_out_watches_only_and_an_open_socket_is_closed(
    web: WebProcess, practice: Episode, user_client: Client
) -> None:
    quick = WebProcess({"rights_check_s": 0.2})
    try:
        cookie = cookie_of(user_client)
        line = quick.episode(practice.pk, cookie)
        assert line.hello()["role"] == "player"
        user_client.logout()
        assert line.close_code() == 4401
        again = quick.episode(practice.pk, cookie)
        assert again.hello()["role"] == "watcher"
        again.close()
    finally:
        quick.stop()


def test_a_sealed_episode_does_not_exist_for_others(
    web: WebProcess, corridor: Scenario, user: User, cookie: str
) -> None:
    sealed = episode_create(scenario=corridor, owner=user, hidden_ref="evaluation-1")
    assert web.episode(sealed.pk).close_code() == 4404
    line = web.episode(sealed.pk, cookie, watch=True)
    assert line.hello()["role"] == "player", "a sealed episode cannot be watched, not even by its player"
    for step, actions in enumerate(WAY_OUT, start=1):
        line.act(step, actions)
    end = json.loads(next(text for text in line.texts if '"end"' in text))
    assert (end["run"], end["seed"], end["summary"]["evacuated"]) == (None, None, 2)
    line.close()


def test_the_newest_socket_of_the_player_wins(
    web: WebProcess, practice: Episode, cookie: str, player: Line
) -> None:
    newer = web.episode(practice.pk, cookie)
    newer.hello()
    assert player.until("bye")["code"] == 4409
    assert player.close_code() == 4409
    assert newer.act(1, EAST)["result"] == "applied"
    watching = web.episode(practice.pk, cookie, watch=True)
    assert watching.hello()["role"] == "watcher", "one's own episode can be watched without taking it over"
    assert newer.act(2, EAST)["result"] == "applied"
    newer.close()
    watching.close()


def test_a_slow_handshake_makes_no_socket_newer(web: WebProcess, practice: Episode, cookie: str) -> None:
    """Who is newest is decided by when a socket was opened, not by when its hello was read."""
    slow = web.episode(practice.pk, cookie)
    newer = web.episode(practice.pk, cookie)
    newer.hello()
    slow.hello()
    assert slow.until("bye")["code"] == 4409
    assert newer.act(1, EAST)["result"] == "applied"
    newer.close()


def test_a_guest_plays_with_the_key_of_the_session(
    web: WebProcess, corridor: Scenario, guest_client: Client
) -> None:
    episode = episode_create(scenario=corridor, owner=None, guest_key="guest-key-of-the-test")
    line = web.episode(episode.pk, cookie_of(guest_client))
    assert line.hello()["role"] == "player"
    assert line.act(1, EAST)["result"] == "applied"
    line.close()


def test_a_sixth_socket_of_one_person_is_refused(web: WebProcess, practice: Episode, cookie: str) -> None:
    lines = [web.episode(practice.pk, cookie, watch=True) for _ in range(5)]
    for line in lines:
        line.hello()
    assert web.episode(practice.pk, cookie, watch=True).close_code() == 4429
    lines.pop().cut()
    for _ in range(50):
        line = web.episode(practice.pk, cookie, watch=True)
        try:
            line.hello()
            break
        except ConnectionClosed:  # the server has not noticed the cut yet
            continue
    else:
        pytest.fail("a socket that was cut still counts")
    for one in (*lines, line):
        one.close()


def test_a_flood_of_messages_closes_with_4429(player: Line) -> None:
    for _ in range(200):
        try:
            player.send("ping")
        except ConnectionClosed:
            break
    assert player.close_code() == 4429


def test_a_socket_that_never_says_hello_is_closed(practice: Episode) -> None:
    quick = WebProcess({"hello_timeout_s": 0.2})
    try:
        assert quick.episode(practice.pk).close_code() == 4400
    finally:
        quick.stop()


def test_ping_is_answered_with_the_present_step_and_sync_with_a_snapshot(player: Line) -> None:
    player.act(1, EAST)
    player.send("ping")
    assert player.until("notice", lambda frame: frame["code"] == "pong")["step"] == 1
    player.send("sync")
    assert player.until("snapshot")["observation"]["step"] == 1


@pytest.mark.skipif(connection.vendor != "sqlite", reason="only SQLite has one writer for the whole database")
def test_p10_a_locked_database_stalls_no_socket(practice: Episode, player: Line, watcher: Line) -> None:
    locker = sqlite3.connect(connection.settings_dict["NAME"], isolation_level=None)
    locker.execute("BEGIN IMMEDIATE")
    try:
        player.send("act", step=1, actions=EAST)
        for _ in range(10):
            for line in (player, watcher):
                line.send("ping")
                assert line.until("notice", lambda frame: frame["code"] == "pong")["step"] == 0
        assert not EpisodeStep.objects.filter(episode=practice).exists(), "every answer came under the lock"
    finally:
        locker.execute("ROLLBACK")
        locker.close()
    assert player.until("ack")["result"] == "applied", "the step waited and was made"
    assert EpisodeStep.objects.filter(episode=practice).count() == 1


def test_a_restart_says_so(practice: Episode, cookie: str) -> None:
    process = WebProcess()
    line = process.episode(practice.pk, cookie)
    line.hello()
    line.until("snapshot")
    with ThreadPoolExecutor(1) as pool:
        stopping = pool.submit(process.stop)
        assert line.close_code() == 1012
        stopping.result()
