"""The people of `live_load.py`: spectators, some of whom stop reading, and players."""

from __future__ import annotations

import asyncio
import json
import socket
import time
from dataclasses import dataclass, field
from random import Random
from typing import Any

from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import ConnectionClosed

RECEIVE_BUFFER_BYTES = 4096
DIRECTIONS = ("north", "south", "east", "west")
DELTA = '{"t":"delta","step":'
SNAPSHOT = '{"t":"snapshot"'


@dataclass(frozen=True)
class Place:
    """Where an episode is reached: address of the socket, and whether one says hello there."""

    address: str
    path: str
    plain: bool = False


async def open_line(place: Place, *, cookie: str = "", stops: bool = False) -> ClientConnection:
    """Connect as a browser does. Who will stop reading has a small buffer and takes no compression."""
    host, port = place.address.split(":")
    sock = socket.socket()
    if stops:
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, RECEIVE_BUFFER_BYTES)
    sock.setblocking(False)
    await asyncio.get_running_loop().sock_connect(sock, (host, int(port)))
    return await connect(
        f"ws://{place.address}{place.path}",
        sock=sock,
        additional_headers={"Cookie": cookie} if cookie else None,
        origin=f"http://{place.address}",
        compression=None if stops else "deflate",
        max_size=None,
        max_queue=1 if stops else 64,
        ping_interval=None,
        open_timeout=60,
        proxy=None,
    )


def delta_step(text: str) -> int | None:
    """The step of a delta; None for every other frame. Cheaper than reading the whole."""
    if not text.startswith(DELTA):
        return None
    return int(text[len(DELTA) : text.index(",", len(DELTA))])


@dataclass
class Spectator:
    """One who watches, and may stop reading in between."""

    place: Place
    stops: bool = False
    step: int = -1
    deltas: int = 0
    snapshots: int = 0
    gaps: int = 0
    received_bytes: int = 0
    closed: str = ""
    receipts: list[tuple[int, float]] = field(default_factory=list)
    ready: asyncio.Event = field(default_factory=asyncio.Event)
    reads: asyncio.Event = field(default_factory=asyncio.Event)

    async def watch(self) -> None:
        """Read until the server closes or the task is cancelled; not while `reads` is unset."""
        line = await open_line(self.place, stops=self.stops)
        self.reads.set()
        try:
            if not self.place.plain:
                await line.send('{"t":"hello","v":1,"have":null}')
            while True:
                await self.reads.wait()
                self.take(str(await line.recv()), time.time())
        except ConnectionClosed as closed:
            self.closed = str(closed.rcvd.code) if closed.rcvd else "cut"
        finally:
            self.ready.set()
            line.transport.abort()

    def take(self, text: str, at: float) -> None:
        """Count one frame. A delta that does not follow the last frame is a hole nobody announced."""
        self.received_bytes += len(text)
        step = delta_step(text)
        if step is not None:
            self.deltas += 1
            self.gaps += step != self.step + 1
            self.step = step
            self.receipts.append((step, at))
        elif text.startswith(SNAPSHOT):
            self.step = json.loads(text)["observation"]["step"]
            self.snapshots += self.ready.is_set()
            self.ready.set()


@dataclass
class Player:
    """One who plays an episode of their own: random moves at a steady pace."""

    place: Place
    cookie: str
    period_s: float
    random: Random
    inside: set[str] = field(default_factory=set)
    step: int = 0
    acks: dict[str, int] = field(default_factory=dict)
    gaps: int = 0
    waits_s: list[float] = field(default_factory=list)
    ready: asyncio.Event = field(default_factory=asyncio.Event)
    over: bool = False

    async def play(self, start: asyncio.Event, steps: int) -> None:
        """Connect, wait for the start, make so many steps, as evenly as the answers allow."""
        line = await open_line(self.place, cookie=self.cookie)
        try:
            if not self.place.plain:
                await line.send('{"t":"hello","v":1,"have":null}')
            while not self.ready.is_set():
                self.take(json.loads(await line.recv()))
            await start.wait()
            loop = asyncio.get_running_loop()
            due = loop.time() + self.random.random() * self.period_s
            for _ in range(steps):
                await asyncio.sleep(max(0.0, due - loop.time()))
                due = max(due + self.period_s, loop.time())
                await self.act(line)
                if self.over:
                    return
        finally:
            line.transport.abort()

    async def act(self, line: ClientConnection) -> None:
        """Send the next step and read on to its answer."""
        actions = {person: self.random.choice(DIRECTIONS) for person in sorted(self.inside)}
        number = self.step + 1
        sent = time.perf_counter()
        await line.send(json.dumps({"t": "act", "step": number, "actions": actions}))
        seen = False
        while True:
            frame = json.loads(await line.recv())
            self.take(frame)
            seen = seen or frame["t"] == "delta"
            if frame["t"] == "ack":
                break
        self.waits_s.append(time.perf_counter() - sent)
        self.acks[frame["result"]] = self.acks.get(frame["result"], 0) + 1
        while self.place.plain and not seen:
            frame = json.loads(await line.recv())
            self.take(frame)
            seen = frame["t"] == "delta"

    def take(self, frame: dict[str, Any]) -> None:
        """Follow the state as far as the next move needs it."""
        if frame["t"] == "snapshot":
            people = frame["observation"]["people"]
            self.inside = {person["id"] for person in people if person["status"] == "active"}
            self.step = frame["observation"]["step"]
            self.ready.set()
        elif frame["t"] == "delta":
            self.gaps += frame["step"] != self.step + 1
            self.step = frame["step"]
            self.inside -= {entry[0] for entry in (*frame["evacuated"], *frame["casualties"])}
        elif frame["t"] == "end":
            self.over = True
