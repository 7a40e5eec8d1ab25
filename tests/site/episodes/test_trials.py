"""Trials of live play that need many sockets, or a database that somebody else holds."""

from __future__ import annotations

import json
import secrets
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.request import urlopen

import pytest
from django.db import connection, transaction
from websockets.exceptions import ConnectionClosed
from websockets.sync.client import connect

from ember_site.accounts.models import User
from ember_site.catalog.models import Scenario
from ember_site.episodes.models import Episode, EpisodeStep
from ember_site.episodes.services import episode_create
from tests.patience import PATIENCE_S
from tests.site.episodes.conftest import EAST
from tests.site.episodes.delta_apply import delta_apply
from tests.site.episodes.web_process import Line, WebProcess

pytestmark = pytest.mark.django_db(transaction=True)

MANY = {"messages_per_s": 100_000, "sockets_per_address": 1000, "sockets_per_user": 1000}
LOCKED_S = 5.0
PINGS = 10
"""At least so many of each socket are answered under the lock, however slow the machine."""
LOCKER = """
import sqlite3, sys
held = sqlite3.connect(sys.argv[1], isolation_level=None)
held.execute("BEGIN IMMEDIATE")
print("locked", flush=True)
sys.stdin.read()
held.execute("ROLLBACK")
"""

only_sqlite = pytest.mark.skipif(
    connection.vendor != "sqlite", reason="only SQLite has one writer for the whole database"
)


@pytest.fixture(scope="module")
def roomy(django_db_setup: None, django_db_blocker: Any) -> Iterator[WebProcess]:
    """Serve many sockets of one person from one address."""
    with django_db_blocker.unblock():
        process = WebProcess(MANY)
    yield process
    process.stop_faultless()


@contextmanager
def locked_database() -> Iterator[None]:
    """Another process holds the one lock for writing."""
    name = str(Path(connection.settings_dict["NAME"]))
    locker = subprocess.Popen(
        [sys.executable, "-c", LOCKER, name], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    try:
        assert locker.stdout is not None
        assert locker.stdout.readline() == "locked\n"
        yield
    finally:
        locker.communicate()


def pongs(lines: list[Line]) -> int:
    """Ping on every socket at once and wait for every answer; their number."""
    for line in lines:
        line.send("ping")
    for line in lines:
        line.until("notice", lambda frame: frame["code"] == "pong")
    return len(lines)


@only_sqlite
def test_p10_s07_while_another_process_holds_the_database_every_ping_is_answered_and_steps_wait(
    roomy: WebProcess, corridor: Scenario, user: User, cookie: str
) -> None:
    """More players wait for the database than the site has threads to write with; nobody else notices."""
    episodes = [episode_create(scenario=corridor, owner=user) for _ in range(12)]
    players = [roomy.episode(episode.pk, cookie) for episode in episodes]
    watchers = [roomy.episode(episodes[0].pk) for _ in range(8)]
    for line in (*players, *watchers):
        line.hello()
    with locked_database():
        until, answered = time.monotonic() + LOCKED_S, 0
        for line in players:
            line.send("act", step=1, actions=EAST)
        while time.monotonic() < until or answered < PINGS * len([*players, *watchers]):
            answered += pongs([*players, *watchers])
        late = roomy.episode(episodes[1].pk)
        assert late.hello()["step"] == 0, "who comes now is let in, though a step waits"
        assert late.until("snapshot")["observation"]["step"] == 0
        assert not any('"ack"' in text for line in players for text in line.texts)
        assert not EpisodeStep.objects.exists()
    for line, episode in zip(players, episodes, strict=True):
        assert line.until("ack")["result"] == "applied", "the step waited"
        assert EpisodeStep.objects.filter(episode=episode).count() == 1
    assert late.until("delta")["step"] == 1
    for line in (*players, *watchers, late):
        line.close()


def test_p3_cut_at_any_moment_of_a_step_the_client_comes_back_to_the_true_state(
    roomy: WebProcess, make_scenario: Callable[..., Scenario], user: User, cookie: str
) -> None:
    """Cut before the server can have read the step, after its delta, after its ack; then all over again."""
    episode = episode_create(scenario=make_scenario("A....X", max_steps=90), owner=user)
    held: dict[str, Any] | None = None
    heard_until = (None, "delta", "ack")
    for step in range(1, 25):
        line = roomy.episode(episode.pk, cookie)
        welcome = line.hello(have=None if held is None else held["step"])
        assert welcome["step"] == step - 1, "every step so far was made once"
        actions = {"A": "east" if step % 2 else "west"}
        if held is None:
            held = line.until("snapshot")["observation"]
        line.send("act", step=step, actions=actions)
        if (kind := heard_until[step % 3]) is not None:
            line.until(kind, lambda frame, step=step: frame["step"] == step)
        line.cut()
        again = roomy.episode(episode.pk, cookie)
        again.hello(have=held["step"])
        ack = again.act(step, actions)
        assert (ack["result"], ack["now"]) in (("applied", step), ("duplicate", step))
        delta = next(frame for frame in map(json.loads, again.texts) if frame["t"] == "delta")
        held = delta_apply(held, delta)
        again.cut()
    rows = EpisodeStep.objects.filter(episode=episode).values_list("step", flat=True)
    assert list(rows) == list(range(1, 25))


def test_p8_after_300_joins_and_leaves_half_of_them_by_cut_one_watches(
    roomy: WebProcess, practice: Episode, cookie: str
) -> None:
    player, stays = roomy.episode(practice.pk, cookie), roomy.episode(practice.pk)
    player.hello()
    stays.hello()

    def come_and_go(number: int) -> None:
        line = roomy.episode(practice.pk)
        if number % 3:  # every third one goes before it said hello
            line.hello()
        if number % 2:
            line.cut()
        else:
            line.close()

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(come_and_go, range(300)))
    many = [roomy.episode(practice.pk) for _ in range(20)]
    for line in many:
        line.hello()
    player.until("crowd", lambda frame: frame["n"] == 21)
    for line in many:
        line.cut()
    assert player.until("crowd", lambda frame: frame["n"] == 1)["n"] == 1
    newest = roomy.episode(practice.pk, cookie)
    assert newest.hello()["watchers"] == 1
    for line in (newest, stays):
        line.close()


def test_p14_who_loses_the_right_to_play_or_to_watch_is_closed_with_4403(
    practice: Episode, other_user: User, cookie: str
) -> None:
    web = WebProcess({"rights_check_s": 0.2})
    try:
        player, watcher = web.episode(practice.pk, cookie), web.episode(practice.pk)
        player.hello()
        watcher.hello()
        Episode.objects.filter(pk=practice.pk).update(owner=other_user)
        assert player.close_code() == 4403
        again = web.episode(practice.pk, cookie)
        assert again.hello()["role"] == "watcher"
        assert watcher.until("crowd", lambda frame: frame["n"] == 2), "whoever only watches stays"
        Episode.objects.filter(pk=practice.pk).update(hidden_ref="evaluation-1")
        for line in (watcher, again):
            assert line.close_code() == 4403
        assert web.faults == []
    finally:
        web.stop()


def test_an_episode_that_differs_from_its_log_freezes_before_the_eyes_of_all(
    practice: Episode, cookie: str
) -> None:
    web = WebProcess(MANY)
    try:
        player, watcher = web.episode(practice.pk, cookie), web.episode(practice.pk)
        player.hello()
        watcher.hello()
        assert player.act(1, EAST)["result"] == "applied"
        with transaction.atomic():
            EpisodeStep.objects.create(
                episode=practice, step=2, actions=json.dumps(EAST), state_digest="0" * 64
            )
            Episode.objects.filter(pk=practice.pk).update(step=2)
        for line in (player, watcher):
            line.until("notice", lambda frame: frame["code"] == "episode_frozen")
            assert not any('"step":2' in text for text in line.texts), "the doubtful state is not shown"
        player.send("act", step=2, actions=EAST)
        ack = player.until("ack")
        assert (ack["result"], ack["code"], ack["now"]) == ("rejected", "episode_frozen", 1)
        assert player.close_code() == 4410
        again = web.episode(practice.pk)
        assert (again.hello()["state"], again.until("snapshot")["observation"]["step"]) == ("frozen", 1)
        with urlopen(f"http://{web.address}/status/", timeout=PATIENCE_S) as page:
            assert "1 episode is frozen" in page.read().decode()
        for line in (watcher, again):
            line.close()
        assert [line for line in web.output if f"episode {practice.pk} is frozen" in line] == web.faults
    finally:
        web.stop()


CROWD = 240
STEPS = 350


def hall() -> tuple[list[str], dict[str, str], list[str]]:
    """A hall with many people under long names that do not compress, its names, and their IDs."""
    signs = [chr(0x4E00 + number) for number in range(CROWD)]
    rows = ["".join(f".{sign}." for sign in signs[row * 20 : row * 20 + 20]) for row in range(CROWD // 20)]
    rows = [row + "." for row in rows] + ["." * 60 + "X"]
    names = {sign: secrets.token_urlsafe(45) for sign in signs}
    return rows, names, list(names.values())


def slow_line(web: WebProcess, episode: Episode) -> Line:
    """A watcher with almost no buffer for what it does not read, and no compression."""
    host, _, port = web.address.partition(":")
    raw = socket.socket()
    raw.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
    raw.connect((host, int(port)))
    address = f"ws://{web.address}/ws/episodes/{episode.pk}/?watch"
    return Line(
        connect(
            address, sock=raw, compression=None, max_size=None, max_queue=1, ping_interval=None, legacy=True
        )
    )


@pytest.mark.parametrize("comes_back", [True, False])
def test_p7_a_watcher_that_stops_reading_gets_one_snapshot_or_is_closed_and_others_miss_nothing(
    make_scenario: Callable[..., Scenario], user: User, cookie: str, comes_back: bool
) -> None:
    rows, names, people = hall()
    episode = episode_create(scenario=make_scenario(*rows, names=names, max_steps=1000), owner=user)
    web = WebProcess(
        MANY | {"slow_reader_s": 600.0 if comes_back else 1.0},
        {"TEST_SEND_BUFFER": "65536", "TEST_PONG_S": "600"},
    )
    try:
        player, reader, slow = (
            web.episode(episode.pk, cookie),
            web.episode(episode.pk),
            slow_line(web, episode),
        )
        for line in (player, reader, slow):
            line.hello()
        held = reader.until("snapshot")["observation"]
        memory = resident_kb(web)
        for step in range(1, STEPS + 1):
            way = "east" if step % 2 else "west"
            assert player.act(step, dict.fromkeys(people, way))["result"] == "applied"
            held = delta_apply(held, reader.until("delta"))  # refuses a hole
        assert held["step"] == STEPS
        assert resident_kb(web) - memory < 32 * 1024
        if comes_back:
            follow_to_the_end(slow)
        else:
            while crowd(player) != 1:
                player.next()
            refuse(slow)
        for line in (player, reader):
            line.close()
        assert web.faults == [], "".join(web.output)
    finally:
        web.stop()


def follow_to_the_end(slow: Line) -> None:
    """Read all that waits: a chain without a hole, but for exactly one snapshot that says so."""
    held, jumps = slow.until("snapshot")["observation"], 0
    while held["step"] < STEPS:
        frame = slow.next()
        if frame["t"] == "delta":
            held = delta_apply(held, frame)
        elif frame["t"] == "snapshot":
            held, jumps = frame["observation"], jumps + 1
    assert jumps == 1
    slow.close()


def crowd(line: Line) -> int:
    """The number of watchers that was told last."""
    said = [frame for frame in map(json.loads, line.texts) if frame["t"] == "crowd"]
    return int(said[-1]["n"]) if said else 0


def refuse(slow: Line) -> None:
    """Read all that was on the way: then the line ends, with the code where that still got through."""
    with pytest.raises(ConnectionClosed) as closed:
        slow._read_on()
    assert closed.value.rcvd is None or closed.value.rcvd.code == 4408
    assert not any(f'"step":{STEPS}' in text for text in slow.texts)


def resident_kb(web: WebProcess) -> int:
    """Memory of the web process."""
    status = Path(f"/proc/{web.process.pid}/status").read_text()
    return int(next(line.split()[1] for line in status.splitlines() if line.startswith("VmRSS")))
