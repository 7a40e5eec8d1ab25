"""The bounded queue between a hub and one socket."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable

#: Most frames outside the chain (acks, end, notices) that survive a collapse; the newest are kept.
CONTROL_KEPT = 8


class Mailbox:
    """Frames for one socket, at most `max_frames` and `max_bytes`.

    Deltas form a chain, so none of them may be dropped alone. When the box would overflow,
    every waiting delta is given up for one snapshot, which is built only when the reader
    takes it and so shows the newest state; deltas that come before that are covered by it
    and are not queued. A reader that stopped therefore costs a bounded amount of memory and
    finds, when it comes back, exactly one snapshot and no hole.

    Not thread-safe: it belongs to one event loop.
    """

    def __init__(self, *, max_frames: int, max_bytes: int, snapshot: Callable[[], str]) -> None:
        """`snapshot` gives the frame of the newest published state."""
        self._max_frames = max_frames
        self._max_bytes = max_bytes
        self._snapshot = snapshot
        self._control_kept = min(CONTROL_KEPT, max_frames // 2)
        # A text with whether it is outside the chain; None stands for the snapshot to be made.
        self._entries: deque[tuple[str | None, bool]] = deque()
        self._size_bytes = 0
        self._collapsed = False
        self._ready = asyncio.Event()
        self._closed = False

    def __len__(self) -> int:
        return len(self._entries)

    @property
    def size_bytes(self) -> int:
        """Size of the frames that wait, in characters of their JSON text (which is ASCII)."""
        return self._size_bytes

    @property
    def closed(self) -> bool:
        """Whether nothing more will be taken in."""
        return self._closed

    def put_delta(self, frame: str) -> None:
        """Queue the next link of the chain of states."""
        self._put(frame, control=False)

    def put_control(self, frame: str) -> None:
        """Queue a frame that is not part of the chain: ack, end, crowd, notice, err."""
        self._put(frame, control=True)

    def put_snapshot(self) -> None:
        """Have the newest state sent whole, in place of every waiting delta."""
        self._give_up_chain(self._entries_control())
        self._entries.append((None, False))
        self._ready.set()

    def close(self) -> None:
        """Take nothing more in; what waits can still be taken out."""
        self._closed = True
        self._ready.set()

    async def take(self) -> str | None:
        """The next frame to send; None when the box is closed and empty."""
        while True:
            if self._entries:
                text, _control = self._entries.popleft()
                if text is None:
                    self._collapsed = False
                    return self._snapshot()
                self._size_bytes -= len(text)
                return text
            if self._closed:
                return None
            self._ready.clear()
            await self._ready.wait()

    def _put(self, frame: str, *, control: bool) -> None:
        if self._closed or (self._collapsed and not control):
            return
        full = len(self) >= self._max_frames or self._size_bytes + len(frame) > self._max_bytes
        if full:
            # The state comes before the acks that speak of it.
            self._give_up_chain(self._entries_control()[-self._control_kept :])
            self._entries.appendleft((None, False))
        if control or not full:
            self._entries.append((frame, control))
            self._size_bytes += len(frame)
        self._ready.set()

    def _entries_control(self) -> list[tuple[str | None, bool]]:
        return [entry for entry in self._entries if entry[1]]

    def _give_up_chain(self, kept: list[tuple[str | None, bool]]) -> None:
        self._entries = deque(kept)
        self._size_bytes = sum(len(text) for text, _control in kept if text is not None)
        self._collapsed = True
