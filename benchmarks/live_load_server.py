"""
The web process of `live_load.py`: the site as `manage.py serve` runs it, and beside it the plain way.

`/plain/<episode>/` is what Channels' documentation suggests for a crowd: a stock consumer, everybody in one
group, every frame through `group_send` of the in-memory channel layer. Steps are made by the same service.
This module is its own settings module: those of the site, with the limits of the benchmark.
"""

from __future__ import annotations

import json
import os
import socket
import sys
from typing import Any
from uuid import UUID

from ember_site.settings import *  # noqa: F403

EPISODE_LIMITS = json.loads(os.environ.get("LIVE_LOAD_LIMITS", "{}"))
CHANNEL_LAYERS: dict[str, Any] = {"default": {"BACKEND": "channels.layers.InMemoryChannelLayer"}}

SEND_BUFFER_BYTES = 16 * 1024
"""The kernel keeps this much for each socket. By itself it grows to megabytes, and hides for minutes that
somebody has stopped reading."""


def plain_consumer() -> Any:
    """The comparison; made late, since it needs the apps to be loaded."""
    from channels.db import database_sync_to_async
    from channels.generic.websocket import AsyncWebsocketConsumer

    from ember_site.episodes.protocol import frame_ack, frame_delta, frame_snapshot
    from ember_site.episodes.services import episode_step, episode_view

    view = database_sync_to_async(episode_view)
    step = database_sync_to_async(episode_step)

    class PlainConsumer(AsyncWebsocketConsumer):
        async def connect(self) -> None:
            self.episode_id = UUID(self.scope["url_route"]["kwargs"]["episode_id"])
            self.group = f"plain.{self.episode_id.hex}"
            await self.channel_layer.group_add(self.group, self.channel_name)
            await self.accept()
            now = await view(episode_id=self.episode_id)
            await self.send(text_data=frame_snapshot(now.observation.to_dict()))

        async def disconnect(self, code: int) -> None:
            await self.channel_layer.group_discard(self.group, self.channel_name)

        async def receive(self, text_data: str | None = None, bytes_data: bytes | None = None) -> None:
            act = json.loads(text_data or "")
            number = act["step"]
            answer = await step(episode_id=self.episode_id, step=number, actions=act["actions"])
            now = await view(episode_id=self.episode_id, after=number - 1)
            for delta in now.deltas or ():
                await self.channel_layer.group_send(
                    self.group, {"type": "plain.frame", "text": frame_delta(delta)}
                )
            await self.send(text_data=frame_ack(step=number, result=answer.result, now=answer.now))

        async def plain_frame(self, event: dict[str, str]) -> None:
            await self.send(text_data=event["text"])

    return PlainConsumer.as_asgi()


def application() -> Any:
    """The site's application with one more address for sockets."""
    from channels.routing import URLRouter
    from django.urls import re_path

    from ember_site.asgi import application as site

    plain = URLRouter([re_path(r"^plain/(?P<episode_id>[0-9a-f-]{36})/$", plain_consumer())])

    async def both(scope: Any, receive: Any, send: Any) -> None:
        chosen = plain if scope["type"] == "websocket" and scope["path"].startswith("/plain/") else site
        await chosen(scope, receive, send)

    return both


def main() -> None:
    """Serve on a free port of this machine and print the address."""
    from ember_site.core.management.commands.serve import AnnouncingServer, server_config

    listener = socket.create_server(("127.0.0.1", 0), backlog=2048)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, SEND_BUFFER_BYTES)
    address = "{}:{}".format(*listener.getsockname())
    config = server_config(application())
    AnnouncingServer(config, lambda: print(address, flush=True)).run(sockets=[listener])


if __name__ == "__main__":
    os.environ["DJANGO_SETTINGS_MODULE"] = "benchmarks.live_load_server"
    sys.exit(main())
