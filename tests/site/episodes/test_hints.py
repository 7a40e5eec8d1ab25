"""Hints between processes: who follows an episode hears of it, whatever came and went in between."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from typing import Any
from uuid import UUID, uuid4

import pytest
import pytest_asyncio

from ember_site.episodes import hints as hints_module
from ember_site.episodes.hints import Hints


class Layer:
    """A channel layer in this process that can refuse, and notes who is in which group."""

    def __init__(self) -> None:
        self.groups: set[str] = set()
        self.refuses = False
        self.listened = asyncio.Event()
        self.messages: asyncio.Queue[dict[str, Any]] = asyncio.Queue()

    async def new_channel(self) -> str:
        return "channel"

    async def group_add(self, group: str, _channel: str) -> None:
        await self._answer()
        self.groups.add(group)

    async def group_discard(self, group: str, _channel: str) -> None:
        await self._answer()
        self.groups.discard(group)

    async def group_send(self, _group: str, message: dict[str, Any]) -> None:
        await self._answer()
        self.messages.put_nowait(message)

    async def receive(self, _channel: str) -> dict[str, Any]:
        self.listened.set()
        return await self.messages.get()

    async def _answer(self) -> None:
        await asyncio.sleep(0)
        if self.refuses:
            raise ConnectionError("the layer is gone")


async def settle(hints: Hints) -> None:
    """Wait until every subscription that was asked for has been answered."""
    while hints._tasks:
        await asyncio.gather(*hints._tasks)


@pytest.fixture
def layer(monkeypatch: pytest.MonkeyPatch) -> Layer:
    """Give the layer that the site uses."""
    layer = Layer()
    monkeypatch.setattr(hints_module, "get_channel_layer", lambda: layer)
    return layer


@pytest.fixture
def heard() -> asyncio.Queue[tuple[UUID, int | None]]:
    """Give what was heard, in order."""
    return asyncio.Queue()


@pytest_asyncio.fixture
async def hints(layer: Layer, heard: asyncio.Queue[tuple[UUID, int | None]]) -> AsyncIterator[Hints]:
    """Give hints that are being listened for."""
    hints = Hints(lambda *hint: heard.put_nowait(hint))
    listening = asyncio.create_task(hints.listen())
    await asyncio.wait_for(layer.listened.wait(), 60)
    yield hints
    listening.cancel()
    await asyncio.gather(listening, return_exceptions=True)


async def test_a_hint_is_heard_with_episode_and_step(
    hints: Hints, heard: asyncio.Queue[tuple[UUID, int | None]]
) -> None:
    episode_id = uuid4()
    hints.follow(episode_id)
    for step in (7, None):
        await hints.tell(episode_id, step)
        assert await asyncio.wait_for(heard.get(), 60) == (episode_id, step)


async def test_who_leaves_and_comes_back_at_once_still_follows_and_who_only_leaves_does_not(
    hints: Hints, layer: Layer
) -> None:
    stays, goes = uuid4(), uuid4()
    for episode_id in (stays, goes):
        hints.follow(episode_id)
        hints.forget(episode_id)
    hints.follow(stays)
    await settle(hints)
    assert layer.groups == {f"episode.{stays.hex}"}


async def test_a_layer_that_is_gone_is_told_in_the_log_and_stops_nobody(
    hints: Hints, layer: Layer, caplog: pytest.LogCaptureFixture
) -> None:
    layer.refuses = True
    hints.follow(uuid4())
    await hints.tell(uuid4(), 1)
    await settle(hints)
    said = [record.message for record in caplog.records if record.name == hints_module.__name__]
    assert sorted(said) == ["A hint could not be sent", "The channel layer did not take a subscription"]
