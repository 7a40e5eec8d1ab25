"""A real web process (uvicorn) on the database of the tests, and a client for its sockets."""

from __future__ import annotations

import contextlib
import json
import os
import re
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from queue import Empty, Queue
from typing import Any

import pytest
from django.conf import settings
from websockets.exceptions import ConnectionClosed
from websockets.sync.client import ClientConnection, connect

from tests.patience import PATIENCE_S
from tests.site.database import database_url

ROOT = Path(__file__).resolve().parents[3]
RUNNING = re.compile(r"Serving on ([\d.]+:\d+)")

Frame = dict[str, Any]


class WebProcess:
    """One web process; the database, records and secret key are those of the test process.

    `extra` are further variables of its environment, `module` is what it runs.
    """

    def __init__(
        self,
        limits: dict[str, float] | None = None,
        extra: dict[str, str] | None = None,
        module: str = "tests.site.episodes.serve_web",
    ) -> None:
        environment = (
            os.environ
            | (extra or {})
            | {
                "DJANGO_SETTINGS_MODULE": "tests.site.episodes.server_settings",
                "DATABASE_URL": database_url(),
                "EMBER_DATA": str(settings.EMBER_DATA),
                "SECRET_KEY": settings.SECRET_KEY,
                "TEST_EPISODE_LIMITS": json.dumps(limits or {}),
                "PYTHONUNBUFFERED": "1",
            }
        )
        self.output: list[str] = []
        self._lines: Queue[str] = Queue()
        self.process = subprocess.Popen(
            [sys.executable, "-m", module],
            cwd=ROOT,
            env=environment,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()
        self.address = self._wait_running()

    def _read(self) -> None:
        assert self.process.stdout is not None
        for line in self.process.stdout:
            self.output.append(line)
            self._lines.put(line)
        self._lines.put("")

    def _wait_running(self) -> str:
        while True:
            try:
                line = self._lines.get(timeout=PATIENCE_S)
            except Empty:
                raise AssertionError("the web process did not start:\n" + "".join(self.output)) from None
            if match := RUNNING.search(line):
                return match[1]
            if not line:
                raise AssertionError("the web process ended:\n" + "".join(self.output))

    @property
    def faults(self) -> list[str]:
        """Lines that speak of errors on our side."""
        return [line for line in self.output if re.search(r"Traceback|Exception in|ERROR", line)]

    def open(self, path: str, cookie: str = "", origin: str | None = None) -> Line:
        """Open a socket as a browser of this site does, or of another site where `origin` says so."""
        headers = {"Origin": origin or f"http://{self.address}"}
        if cookie:
            headers["Cookie"] = cookie
        return Line(
            connect(f"ws://{self.address}{path}", additional_headers=headers, max_size=None, legacy=True)
        )

    def episode(self, episode_id: Any, cookie: str = "", *, watch: bool = False) -> Line:
        """Open the socket of an episode."""
        return self.open(f"/ws/episodes/{episode_id}/" + ("?watch" if watch else ""), cookie)

    def kill(self) -> None:
        """End the process at once, as a crash does."""
        self.process.send_signal(signal.SIGKILL)
        self.process.wait(timeout=PATIENCE_S)
        self._read_out()

    def stop(self) -> None:
        """End the process in order; what it printed to the last is in `output` then."""
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGINT)
            try:
                self.process.wait(timeout=PATIENCE_S)
            except subprocess.TimeoutExpired:
                self.process.kill()
                raise
        self._read_out()

    def stop_faultless(self) -> None:
        """End the process in order; fail where it spoke of an error of ours, up to its last word."""
        self.stop()
        assert self.faults == [], "".join(self.output)

    def _read_out(self) -> None:
        """Wait until all that the ended process printed has been read."""
        self._reader.join(timeout=PATIENCE_S)
        assert not self._reader.is_alive(), "somebody still holds the output:\n" + "".join(self.output)


class Line:
    """One socket from the client's side; everything received is kept in `texts`."""

    def __init__(self, socket: ClientConnection) -> None:
        self.socket = socket
        self.texts: list[str] = []

    def send(self, kind: str, **content: Any) -> None:
        self.socket.send(json.dumps({"t": kind, **content}))

    def hello(self, have: int | None = None) -> Frame:
        """Say hello; the welcome."""
        self.send("hello", v=1, have=None if have is None else {"step": have})
        return self.until("welcome")

    def act(self, step: int, actions: dict[str, str]) -> Frame:
        """Ask for a step; the ack that answers it."""
        self.send("act", step=step, actions=actions)
        return self.until("ack")

    def next(self, timeout_s: float = PATIENCE_S) -> Frame:
        """The next frame.

        Raises:
            ConnectionClosed: with the code.
            TimeoutError: nothing came.
        """
        text = self.socket.recv(timeout=timeout_s)
        assert isinstance(text, str)
        self.texts.append(text)
        frame: Frame = json.loads(text)
        return frame

    def until(self, kind: str, matches: Callable[[Frame], bool] = lambda frame: True) -> Frame:
        """The next frame of a kind; what comes before it is passed over, but kept in `texts`."""
        while True:
            frame = self.next()
            if frame["t"] == kind and matches(frame):
                return frame

    def close_code(self) -> int:
        """Read until the server closes; its code."""
        with pytest.raises(ConnectionClosed) as closed:
            self._read_on()
        assert closed.value.rcvd is not None, "cut without a close frame"
        return closed.value.rcvd.code

    def _read_on(self) -> None:
        while True:
            self.next()

    def cut(self) -> None:
        """Drop the connection as a broken network does, without a close frame.

        The other thread of the client waits in the socket, so that closing it alone would send nothing.
        """
        with contextlib.suppress(OSError):  # the server has hung up already
            self.socket.socket.shutdown(socket.SHUT_RDWR)
        self.socket.socket.close()

    def close(self) -> None:
        self.socket.close()
