"""Start and stop of a web process: the hub lives as long as the server."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any

from ember_site.episodes.hub import hub

Event = MutableMapping[str, Any]


async def lifespan_application(
    scope: Event, receive: Callable[[], Awaitable[Event]], send: Callable[[Event], Awaitable[None]]
) -> None:
    """Answer the server's lifespan events: start the hub, stop it at the end."""
    while True:
        event = await receive()
        if event["type"] == "lifespan.startup":
            hub().start()
            await send({"type": "lifespan.startup.complete"})
        elif event["type"] == "lifespan.shutdown":
            await hub().stop()
            await send({"type": "lifespan.shutdown.complete"})
            return
