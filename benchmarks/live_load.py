"""
How does one web process carry a crowd that watches, while others play?

Three hundred spectators watch one episode of a hundred people at ten steps a second for a minute, some of
them stop reading, and fifty people play episodes of their own. First with the site's own socket, then, in
the same run and on the same server, with a stock Channels consumer and `group_send`. The server is a process
of its own (uvicorn, SQLite in a file); everybody else is in this one. Counted are unannounced holes. Measured
are the time from a step's row in the log, written just before the commit, to the receipt of its frame by
each spectator, and the server's memory.

    python benchmarks/live_load.py [--seconds 60] [--spectators 300] [--json] ...

Exits with 1 where the site's own socket left a hole, lost a step or left a stopped reader in between.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import math
import os
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from benchmarks.live_load_clients import RECEIVE_BUFFER_BYTES, Place, Player, Spectator  # noqa: E402
from benchmarks.live_load_site import Stage, resident_mib, server, site_prepare, written_at  # noqa: E402

SEND_BUFFER_BYTES = 16 * 1024  # as live_load_server.py sets it
IN_FLIGHT_BYTES = 2 * (SEND_BUFFER_BYTES + RECEIVE_BUFFER_BYTES) + 2 * 64 * 1024
"""What lies between a hub and a reader who has stopped: buffers of both kernels and both libraries."""
MAILBOX_FRAMES = 32
CONNECTING_AT_ONCE = 25
PATIENCE_S = 120.0


@dataclass(frozen=True)
class Options:
    """What to run; see `--help`."""

    seconds: float
    rate: float
    people: int
    spectators: int
    stopped: int
    players: int
    player_rate: float
    slow_reader_s: float
    comparison: bool

    @property
    def steps(self) -> int:
        """Steps of the watched episode."""
        return round(self.seconds * self.rate)

    @property
    def limits(self) -> dict[str, float]:
        """The limits of the site that the load needs changed."""
        return {
            "sockets_per_address": self.spectators + self.players + 10,
            "watchers_per_episode": self.spectators,
            "slow_reader_s": self.slow_reader_s,
            "mailbox_frames": MAILBOX_FRAMES,
        }


def options_read() -> tuple[Options, bool]:
    """The command line."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument(
        "--rate", type=float, default=10, help="steps a second of the watched episode, below 20"
    )
    parser.add_argument("--people", type=int, default=100, help="people in the watched episode")
    parser.add_argument("--spectators", type=int, default=300)
    parser.add_argument(
        "--stopped", type=int, default=20, help="how many of them stop reading, half for a while"
    )
    parser.add_argument("--players", type=int, default=50)
    parser.add_argument("--player-rate", type=float, default=1, help="steps a second of each player")
    parser.add_argument("--slow-reader-s", type=float, default=20, help="when the server gives up a reader")
    parser.add_argument(
        "--no-comparison", dest="comparison", action="store_false", help="only the site's own socket"
    )
    parser.add_argument("--json", action="store_true")
    values = vars(parser.parse_args())
    as_json = values.pop("json")
    return Options(**values), as_json


# --- One phase -----------------------------------------------------------------------------------


class Phase:
    """Everybody on one stage, by the site's socket or by the plain one."""

    def __init__(self, options: Options, stage: Stage, address: str, pid: int, *, plain: bool) -> None:
        path = f"/plain/{stage.watched}/" if plain else f"/ws/episodes/{stage.watched}/"
        place = Place(address, path, plain)
        self.options, self.pid, self.plain = options, pid, plain
        self.stopped = [Spectator(place, stops=True) for _ in range(options.stopped)]
        self.active = [Spectator(place) for _ in range(options.spectators - options.stopped)]
        self.driver = Player(place, stage.watched_cookie, 1 / options.rate, Random(2))
        self.players = [
            Player(
                Place(address, f"/ws/episodes/{episode}/"), cookie, 1 / options.player_rate, Random(number)
            )
            for number, (episode, cookie) in enumerate(stage.games)
        ]
        self.memory: list[float] = []
        self.took_s = 0.0

    async def run(self) -> None:
        """Connect everybody, drive the episode, let the stopped ones read again, close."""
        spectators = [*self.stopped, *self.active]
        start = asyncio.Event()
        tasks: list[asyncio.Task[None]] = []
        for at in range(0, len(spectators), CONNECTING_AT_ONCE):
            batch = spectators[at : at + CONNECTING_AT_ONCE]
            tasks += [asyncio.create_task(spectator.watch()) for spectator in batch]
            await self.all_of(*(spectator.ready.wait() for spectator in batch))
            refused = [spectator.closed for spectator in batch if spectator.closed]
            if refused:
                raise SystemExit(f"{len(refused)} spectators were refused with {refused[0]}")
        moves = round(self.options.seconds * self.options.player_rate)
        playing = [asyncio.create_task(player.play(start, moves)) for player in self.players]
        playing.append(asyncio.create_task(self.driver.play(start, self.options.steps)))
        await self.all_of(*(player.ready.wait() for player in (*self.players, self.driver)))
        sampling = asyncio.create_task(self.sample())
        loop = asyncio.get_running_loop()
        begun = loop.time()
        start.set()
        stopping = asyncio.create_task(self.stop_and_go())
        await playing[-1]
        self.took_s = loop.time() - begun
        await asyncio.gather(*playing)
        await stopping
        await self.settle()
        self.memory.append(resident_mib(self.pid))
        for task in (sampling, *tasks):
            task.cancel()
        results = await asyncio.gather(*tasks, return_exceptions=True)
        for result in results:
            if isinstance(result, Exception) and not isinstance(result, asyncio.CancelledError):
                raise result

    async def all_of(self, *waits: Any) -> None:
        async with asyncio.timeout(PATIENCE_S):
            await asyncio.gather(*waits)

    async def sample(self) -> None:
        while True:
            self.memory.append(resident_mib(self.pid))
            await asyncio.sleep(1)

    async def stop_and_go(self) -> None:
        """Stop some readers after a tenth of the steps.

        Half of them read on as soon as the server must have noticed, the others shortly before the end.
        """
        await self.until(lambda: self.driver.step >= self.options.steps // 10)
        for spectator in self.stopped:
            spectator.reads.clear()
        clock = self.active[0]
        bytes_then = clock.received_bytes
        await self.until(lambda: clock.received_bytes - bytes_then > IN_FLIGHT_BYTES or self.is_over)
        steps_then = self.driver.step
        await self.until(lambda: self.driver.step > steps_then + MAILBOX_FRAMES + 8 or self.is_over)
        for spectator in self.stopped[::2]:
            spectator.reads.set()
        await self.until(lambda: self.driver.step >= 0.9 * self.options.steps)
        for spectator in self.stopped:
            spectator.reads.set()

    async def settle(self) -> None:
        """Wait until everybody has what they will get."""
        steps = self.options.steps
        await self.until(lambda: all(spectator.step >= steps for spectator in self.active))
        await self.until(lambda: all(one.closed or one.step >= steps for one in self.stopped))

    @property
    def is_over(self) -> bool:
        return self.driver.step >= self.options.steps

    async def until(self, condition: Any) -> bool:
        """Look ten times a second; whether it came true in time."""
        loop = asyncio.get_running_loop()
        deadline = loop.time() + self.options.seconds + PATIENCE_S
        while not condition():
            if loop.time() > deadline:
                return False
            await asyncio.sleep(0.1)
        return True

    def figures(self, written: dict[int, float]) -> dict[str, Any]:
        """What came out."""
        steps = self.options.steps
        waits = [at - written[step] for one in self.active for step, at in one.receipts]
        answers = [wait for player in self.players for wait in player.waits_s]
        return {
            "steps": steps,
            "steps_per_s": round(steps / self.took_s, 2),
            "spectators": len(self.active) + len(self.stopped),
            "readers": len(self.active),
            "readers_with_every_step": sum(one.deltas == steps for one in self.active),
            "unannounced_gaps": sum(one.gaps for one in (*self.active, *self.stopped)),
            "stopped_readers": len(self.stopped),
            "stopped_closed": sum(bool(one.closed) for one in self.stopped),
            "stopped_one_snapshot": sum(self.recovered(one) and one.snapshots == 1 for one in self.stopped),
            "stopped_missed_nothing": sum(self.recovered(one) and not one.snapshots for one in self.stopped),
            "stopped_with_gaps": sum(one.gaps > 0 for one in self.stopped),
            "stopped_left_behind": sum(not one.closed and one.step < steps for one in self.stopped),
            "delivery_ms": percentiles_ms(waits),
            "players": len(self.players),
            "player_steps": sum(len(player.waits_s) for player in self.players),
            "player_steps_not_applied": sum(
                count for one in self.players for result, count in one.acks.items() if result != "applied"
            ),
            "player_gaps": sum(player.gaps for player in self.players),
            "answer_ms": percentiles_ms(answers),
            "memory_mib": {
                name: round(self.memory[(len(self.memory) - 1) * quarter // 4], 1)
                for quarter, name in enumerate(("start", "at 1/4", "at 1/2", "at 3/4", "end"))
            }
            | {"most": round(max(self.memory), 1)},
        }

    def recovered(self, spectator: Spectator) -> bool:
        """Whether a reader who had stopped is at the last step and knows of everything in between."""
        return not spectator.closed and not spectator.gaps and spectator.step == self.options.steps


def percentiles_ms(seconds: list[float]) -> dict[str, float]:
    """Median, 99th percentile and the longest, in milliseconds."""
    ordered = sorted(seconds)
    if not ordered:
        return {}
    at = {"p50": 0.5, "p99": 0.99, "most": 1.0}
    return {name: round(1000 * ordered[math.ceil(part * len(ordered)) - 1], 1) for name, part in at.items()}


def is_good(figures: dict[str, Any]) -> bool:
    """What the site promises: no hole, no lost step, every stopped reader closed or given one snapshot."""
    return (
        figures["unannounced_gaps"] == figures["player_gaps"] == figures["player_steps_not_applied"] == 0
        and figures["server_errors"] == 0
        and figures["readers_with_every_step"] == figures["readers"]
        and figures["stopped_closed"] + figures["stopped_one_snapshot"] == figures["stopped_readers"]
    )


def report(name: str, figures: dict[str, Any]) -> None:
    """Print the figures of a phase."""
    value = {
        key: " ".join(f"{name} {number}" for name, number in item.items()) if isinstance(item, dict) else item
        for key, item in figures.items()
    }
    print(f"{name}")
    for line in (
        "{steps} steps at {steps_per_s} a second to {spectators} spectators",
        "unannounced gaps: {unannounced_gaps}",
        "readers with every step: {readers_with_every_step} of {readers}",
        "stopped readers: {stopped_readers}, of them closed {stopped_closed}, one snapshot "
        "{stopped_one_snapshot}, missed nothing {stopped_missed_nothing}, with gaps {stopped_with_gaps}, "
        "left behind {stopped_left_behind}",
        "from row to receipt, ms: {delivery_ms}",
        "{players} players: {player_steps} steps, not applied {player_steps_not_applied}, gaps {player_gaps}",
        "from act to ack, ms: {answer_ms}",
        "memory of the server, MiB: {memory_mib}; errors in its log: {server_errors}",
    ):
        print("  " + line.format(**value))


def main() -> int:
    options, as_json = options_read()
    with tempfile.TemporaryDirectory(prefix="ember-live-load-") as data:
        for name in ("DATABASE_URL", "REDIS_URL"):  # a database and a process of its own
            os.environ.pop(name, None)
        os.environ |= {"EMBER_DATA": data, "DJANGO_SETTINGS_MODULE": "benchmarks.live_load_server"}
        stages = site_prepare(options.people, options.players)
        found: dict[str, dict[str, Any]] = {}
        log = Path(data) / "server.log"
        with server(options.limits, log) as (address, pid):
            for name, stage in zip(("site", "plain")[: 1 + options.comparison], stages, strict=False):
                phase = Phase(options, stage, address, pid, plain=name == "plain")
                asyncio.run(phase.run())
                found[name] = phase.figures(written_at(stage.watched))
                errors = log.read_text().count(" ERROR ")
                if errors and name == "site":
                    print(log.read_text()[:4000], file=sys.stderr)
                found[name]["server_errors"] = errors - sum(
                    one.get("server_errors", 0) for one in found.values()
                )
    if as_json:
        print(json.dumps(found))
    else:
        report("The site's socket", found["site"])
        if options.comparison:
            report("group_send", found["plain"])
    return 0 if is_good(found["site"]) else 1


if __name__ == "__main__":
    sys.exit(main())
