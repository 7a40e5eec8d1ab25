"""Hints between processes that an episode went on. They carry no state: the log has it.

With Redis a hint goes over the channel layer; without it every process asks the database in
`Hub._poll`, which also catches hints that were lost.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from typing import Any
from uuid import UUID

from channels.layers import InMemoryChannelLayer, get_channel_layer

logger = logging.getLogger(__name__)

#: Seconds between two questions to the database where hints come over Redis.
POLL_WITH_LAYER_S = 5.0
RECONNECT_S = 2.0
SEND_TIMEOUT_S = 2.0


class Hints:
    """Tells other processes about steps made here, and hears about theirs."""

    def __init__(self, heard: Callable[[UUID, int | None], None]) -> None:
        """`heard` is called in the event loop with the episode and its step."""
        self._heard = heard
        layer: Any = get_channel_layer()
        self._layer: Any = None if isinstance(layer, InMemoryChannelLayer) else layer
        self._channel = ""
        self._followed: set[UUID] = set()
        self._polled_at = 0.0
        self._tasks: set[asyncio.Task[None]] = set()

    def poll_due(self) -> bool:
        """Whether the database is to be asked now."""
        if self._layer is None:
            return True
        now = asyncio.get_running_loop().time()
        if now - self._polled_at < POLL_WITH_LAYER_S:
            return False
        self._polled_at = now
        return True

    def follow(self, episode_id: UUID) -> None:
        """Hear about this episode from now on."""
        self._followed.add(episode_id)
        self._subscribe_later(episode_id)

    def forget(self, episode_id: UUID) -> None:
        """Hear no more about it."""
        self._followed.discard(episode_id)
        self._subscribe_later(episode_id)

    async def tell(self, episode_id: UUID, step: int | None) -> None:
        """Hint that the episode has reached a step, or with None that somebody came or went.

        A lost hint costs a little time only.
        """
        if self._layer is None:
            return
        message = {"type": "episode.hint", "episode": str(episode_id), "step": step}
        try:
            async with asyncio.timeout(SEND_TIMEOUT_S):
                await self._layer.group_send(_group(episode_id), message)
        except Exception:
            logger.warning("A hint could not be sent", exc_info=True)

    async def listen(self) -> None:
        """Hear hints for as long as the process lives."""
        while self._layer is not None:
            try:
                self._channel = await self._layer.new_channel()
                for episode_id in list(self._followed):
                    await self._layer.group_add(_group(episode_id), self._channel)
                while True:
                    message = await self._layer.receive(self._channel)
                    self._heard(UUID(message["episode"]), message["step"])
            except Exception:
                logger.warning("The channel layer is gone; trying again", exc_info=True)
                await asyncio.sleep(RECONNECT_S)

    def _subscribe_later(self, episode_id: UUID) -> None:
        if self._layer is None or not self._channel:
            return
        task = asyncio.get_running_loop().create_task(self._subscribe(episode_id))
        self._tasks.add(task)  # the loop alone would not keep it
        task.add_done_callback(self._tasks.discard)

    async def _subscribe(self, episode_id: UUID) -> None:
        """Be in the episode's group or not, as is wanted by now: who left may have come back."""
        change = self._layer.group_add if episode_id in self._followed else self._layer.group_discard
        try:
            await change(_group(episode_id), self._channel)
        except Exception:
            logger.warning("The channel layer did not take a subscription", exc_info=True)


def _group(episode_id: UUID) -> str:
    return f"episode.{episode_id.hex}"
