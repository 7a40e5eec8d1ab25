"""The base of the site's websocket consumers: accept, read, write, and always clean up.

Channels' own consumers leak what they hold when a connection drops at the wrong moment and
wait for the database between messages; this one does neither.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import time
from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any

from ember_site.episodes.mailbox import Mailbox
from ember_site.episodes.protocol import CloseCode, frame_bye
from ember_site.episodes.room import Dismissal

logger = logging.getLogger(__name__)

Event = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Event]]
Send = Callable[[Event], Awaitable[None]]

CLOSE_TIMEOUT_S = 5.0


class Gone(Exception):
    """The client has hung up."""


class Budget:
    """A token bucket: `rate` messages a second on average, `rate` of them at once."""

    def __init__(self, rate: int) -> None:
        """Start full."""
        self._rate = rate
        self._tokens = float(rate)
        self._at = time.monotonic()

    def spend(self) -> bool:
        """Take one message; false where there is none left."""
        now = time.monotonic()
        self._tokens = min(float(self._rate), self._tokens + (now - self._at) * self._rate)
        self._at = now
        if self._tokens < 1:
            return False
        self._tokens -= 1
        return True


class SocketConsumer:
    """One connection. Subclasses write `serve`; `finish` is called in every case, once."""

    def __init__(self, scope: MutableMapping[str, Any], receive: Receive, send: Send) -> None:
        """Made by `as_asgi` for each connection."""
        self.scope = scope
        self._receive = receive
        self._send = send
        self._closed = False

    @classmethod
    def as_asgi(cls) -> Callable[[MutableMapping[str, Any], Receive, Send], Awaitable[None]]:
        """The ASGI application that serves each connection with a consumer of its own."""

        async def application(scope: MutableMapping[str, Any], receive: Receive, send: Send) -> None:
            await cls(scope, receive, send).run()

        return application

    async def run(self) -> None:
        """Serve the connection to its end."""
        try:
            event = await self._receive()
            if event["type"] != "websocket.connect":
                return
            # Accept before anything is refused: a browser learns close codes only afterwards.
            await self._send({"type": "websocket.accept"})
            dismissal = await self.serve()
            if dismissal is not None:
                await self.close(dismissal)
        except Gone:
            self._closed = True
        except OSError:
            self._closed = True
        except Exception:
            logger.exception("A socket failed")
            await self.close(Dismissal(CloseCode.OVERLOADED, "Something failed on our side.", retry_s=2.0))
        finally:
            await self.finish()

    async def serve(self) -> Dismissal | None:
        """Serve until the connection ends; what comes back says how to close it."""
        raise NotImplementedError

    async def finish(self) -> None:
        """Give everything back. Called exactly once, also when the task is cancelled."""

    async def receive_text(self) -> str | None:
        """The next message; None for a binary one.

        Raises:
            Gone: the client has hung up.
        """
        event = await self._receive()
        if event["type"] == "websocket.disconnect":
            raise Gone
        text: str | None = event.get("text")
        return text

    async def send_text(self, text: str) -> None:
        """Send one frame; waits while the client does not read.

        Raises:
            Gone: the server has closed the connection by itself, for example for want of a pong.
        """
        try:
            await self._send({"type": "websocket.send", "text": text})
        except RuntimeError as error:
            raise Gone from error

    async def close(self, dismissal: Dismissal) -> None:
        """Say goodbye and close. Never raises and never waits long."""
        if self._closed:
            return
        self._closed = True
        bye = frame_bye(dismissal.code, dismissal.why, retry_s=dismissal.retry_s)
        event = {"type": "websocket.close", "code": int(dismissal.code), "reason": dismissal.why[:120]}
        with contextlib.suppress(Gone, OSError, RuntimeError, TimeoutError):
            async with asyncio.timeout(CLOSE_TIMEOUT_S):
                await self.send_text(bye)
        with contextlib.suppress(Gone, OSError, RuntimeError, TimeoutError):
            async with asyncio.timeout(CLOSE_TIMEOUT_S):
                await self._send(event)

    async def pump(self, mailbox: Mailbox, sending: Callable[[bool], None]) -> None:
        """Send what comes into the mailbox until it is closed; `sending` hears each send begin and end."""
        while (frame := await mailbox.take()) is not None:
            sending(True)
            await self.send_text(frame)
            sending(False)
