"""The base of the consumers, on a server that is made up: what it does when the line ends in between."""

from __future__ import annotations

import asyncio
import logging
from typing import Any

import pytest

from ember_site.episodes.consumer_base import SocketConsumer
from ember_site.episodes.protocol import CloseCode
from ember_site.episodes.room import Dismissal


class Talker(SocketConsumer):
    """Sends for ever, then gives back what it holds."""

    finished = 0

    async def serve(self) -> Dismissal | None:
        while True:
            await self.send_text("{}")

    async def finish(self) -> None:
        self.finished += 1


class Refused(Talker):
    """Says goodbye at once."""

    async def serve(self) -> Dismissal | None:
        return Dismissal(CloseCode.TOO_SLOW, "The line is too slow.")


@pytest.mark.parametrize("kind", [Talker, Refused])
@pytest.mark.parametrize("error", [RuntimeError("after sending 'websocket.close'"), OSError("gone")])
def test_a_line_that_the_server_closed_by_itself_is_no_fault_of_ours(
    kind: type[Talker], error: Exception, caplog: pytest.LogCaptureFixture
) -> None:
    sent: list[Any] = []

    async def receive() -> dict[str, Any]:
        return {"type": "websocket.connect"}

    async def send(event: Any) -> None:
        sent.append(event)
        if len(sent) > (1 if kind is Refused else 3):
            raise error

    consumer = kind({"type": "websocket"}, receive, send)
    with caplog.at_level(logging.WARNING):
        asyncio.run(consumer.run())
    assert consumer.finished == 1
    assert not caplog.records
