"""A web process killed at any moment loses nothing and doubles nothing; its player comes back by itself.

`EMBER_TEST_KILLS` kills it more often.
"""

from __future__ import annotations

import json
import os
import random
import re
import signal
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import pytest
from websockets.exceptions import ConnectionClosed, InvalidHandshake

from ember_site.accounts.models import User
from ember_site.catalog.models import Scenario
from ember_site.episodes.models import Episode, EpisodeStep
from ember_site.episodes.services import episode_create, episodes_finish_pending
from ember_site.runs.models import Run, RunState
from ember_site.runs.record_store import record_read
from ember_site.runs.services import run_verify
from simulator import Scenario as SimulatorScenario
from simulator import Simulator
from tests.patience import wait_until
from tests.site.episodes.delta_apply import delta_apply
from tests.site.episodes.web_process import Frame, Line, WebProcess

pytestmark = pytest.mark.django_db(transaction=True)

KILLS = int(os.environ.get("EMBER_TEST_KILLS", "50"))
ROOM = ("#########", "#A..B..X#", "#.......#", "#########")
DANCE = ("east", "north", "east", "south", "west", "stay", "west")
"""Comes back to where it began; a step lost or doubled on the way shows in the place."""
IN_FLIGHT = 3
LOST = (ConnectionClosed, InvalidHandshake, OSError, EOFError)


class Phoenix(WebProcess):
    """A web process that is there again, on the same port, whenever it was killed."""

    def __init__(self, die_at: str = "") -> None:
        super().__init__(
            {"messages_per_s": 100_000, "sockets_per_user": 1000},
            {"TEST_DIE_AT": die_at},
            "tests.site.episodes.serve_again",
        )

    @property
    def pids(self) -> list[int]:
        """The processes that served so far, the present one last."""
        return [
            int(match[1]) for line in self.output if (match := re.search(r"Serving on \S+ as (\d+)", line))
        ]


@dataclass
class Player:
    """Plays as fast as it can, several steps in flight, and comes back by itself when the line is lost."""

    web: WebProcess
    episode: Episode
    cookie: str
    sent: dict[int, dict[str, str]] = field(default_factory=dict)
    held: dict[str, Any] | None = None
    acked: int = 0
    lives: int = 0
    unheard: int = 0
    """How often a step had been made of which the answer was lost."""

    @property
    def step(self) -> int:
        return 0 if self.held is None else int(self.held["step"])

    @property
    def over(self) -> bool:
        return self.held is not None and not self._active()

    def play(self, until: Callable[[], object], in_flight: int = IN_FLIGHT) -> None:
        """Make steps until something is true of them; every gap, loss or repetition fails."""
        wait = threading.Event()
        while not until():
            try:
                self._live(self.web.episode(self.episode.pk, self.cookie), until, in_flight)
            except LOST:
                wait.wait(0.02)

    def _live(self, line: Line, until: Callable[[], object], in_flight: int) -> None:
        welcome = line.hello(have=None if self.held is None else self.step)
        step = welcome["step"]
        assert max(self.step, self.acked) <= step <= max(self.sent, default=0), "lost, or made by nobody"
        self.unheard += step > self.acked
        while self.held is None or self.step < step:
            self._take(line.next())
        if step:
            assert line.act(step, self.sent[step])["result"] == "duplicate"
        self.lives += 1
        self.acked, next_step = step, step + 1
        while not until():
            while next_step - self.acked <= in_flight and not self.over:
                line.send("act", step=next_step, actions=self._actions(next_step, in_flight))
                next_step += 1
            self._take(line.next())
        while self.acked < next_step - 1 or self.step < self.acked:
            self._take(line.next())
        line.close()

    def _take(self, frame: Frame) -> None:
        if frame["t"] == "snapshot":
            assert frame["observation"]["step"] >= self.step
            self.held = frame["observation"]
        elif frame["t"] == "delta":
            assert self.held is not None
            self.held = delta_apply(self.held, frame)
        elif frame["t"] == "ack":
            assert (frame["step"], frame["result"]) == (self.acked + 1, "applied"), frame
            self.acked += 1

    def _actions(self, step: int, in_flight: int) -> dict[str, str]:
        if in_flight > 1:
            chosen = {"A": DANCE[step % len(DANCE)], "B": DANCE[step * 3 % len(DANCE)]}
        else:
            chosen = dict.fromkeys(self._active(), "east" if step % 3 else "north")
        return self.sent.setdefault(step, chosen)

    def _active(self) -> list[str]:
        assert self.held is not None
        return [person["id"] for person in self.held["people"] if person["status"] == "active"]


@pytest.fixture
def episode(make_scenario: Callable[..., Scenario], user: User) -> Episode:
    """Give a practice episode with room for very many steps."""
    return episode_create(scenario=make_scenario(*ROOM, max_steps=90_000), owner=user)


def finish(player: Player) -> None:
    """Play to the end and compare client, log, simulator and stored record."""
    player.play(lambda: player.over, in_flight=1)
    episodes_finish_pending()
    episode = Episode.objects.get(pk=player.episode.pk)
    rows = list(EpisodeStep.objects.filter(episode=episode).order_by("step"))
    assert [row.step for row in rows] == list(range(1, player.step + 1))
    assert [json.loads(row.actions) for row in rows] == [player.sent[row.step] for row in rows]
    simulator = Simulator(SimulatorScenario.from_json(episode.scenario.document), seed=int(episode.seed))
    for row in rows:
        simulator.step(json.loads(row.actions))
        assert simulator.state_digest == row.state_digest
    assert json.loads(json.dumps(simulator.observe().to_dict())) == player.held
    assert (episode.state, episode.step) == (Episode.State.ENDED, player.step)
    run = Run.objects.get()
    assert episode.run == run
    assert record_read(run.digest).decode() == simulator.record().to_json()
    run_verify(run_id=run.pk)
    run.refresh_from_db()
    assert run.state == RunState.VERIFIED


def kill_again_and_again(web: Phoenix, player: Player, moments: random.Random) -> None:
    """Kill the web process `KILLS` times, each time a random moment after the player is back.

    The process that serves is known before it is killed: each one names itself, and no other is signalled.
    """

    def plays(number: int, acked: int) -> bool:
        return len(web.pids) >= number and player.lives >= number and player.acked > acked

    pause = threading.Event()
    for number in range(1, KILLS + 1):
        in_play = partial(plays, number, player.acked)
        wait_until(in_play, f"somebody to play after {number - 1} kills", pause_s=0.002)
        pause.wait(moments.uniform(0, 0.2))
        os.kill(web.pids[number - 1], signal.SIGKILL)


def test_p4_killed_at_random_moments_nothing_is_lost_and_nothing_doubled(
    episode: Episode, cookie: str
) -> None:
    web = Phoenix()
    player = Player(web, episode, cookie)
    try:
        with ThreadPoolExecutor(1) as pool:
            killing = pool.submit(kill_again_and_again, web, player, random.Random(20))
            player.play(lambda: killing.done() and (killing.exception() or player.lives > KILLS))
            killing.result()
        finish(player)
    finally:
        web.stop()
    assert len(web.pids) == KILLS + 1
    assert web.faults == [], "".join(web.output)
    assert player.unheard or KILLS < 50, "no kill fell between commit and answer"
    print(f"{KILLS} kills, {player.step} steps, {player.unheard} times made but unheard")


@pytest.mark.parametrize(("place", "made"), [("commit", 4), ("publish", 5)])
def test_p4_killed_just_before_the_commit_and_just_before_publishing(
    episode: Episode, cookie: str, place: str, made: int
) -> None:
    web = Phoenix(f"{place}:5")
    player = Player(web, episode, cookie)
    try:
        player.play(lambda: player.step >= 4, in_flight=1)
        assert EpisodeStep.objects.count() == 4
        player.play(lambda: player.step >= 8, in_flight=1)
        assert player.unheard == made - 4
        finish(player)
    finally:
        web.stop()
    assert len(web.pids) == 2
    assert web.faults == [], "".join(web.output)
