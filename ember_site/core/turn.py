"""One at a time: a turn that processes on the same data folder take, and that ends with its process."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

POLL_INTERVAL_S = 0.2


@contextmanager
def turn(path: Path, *, waiting: Callable[[], None]) -> Iterator[None]:
    """
    Hold the turn that the file stands for while the block runs; wait for whoever has it.

    `waiting` is called once, when the turn is another's. The system takes the turn back from a process
    that dies, so none can be left behind.
    """
    with path.open("a+b") as file:
        told = False
        while not _taken(file.fileno()):
            if not told:
                waiting()
                told = True
            time.sleep(POLL_INTERVAL_S)
        yield


if sys.platform == "win32":
    import msvcrt

    def _taken(descriptor: int) -> bool:
        try:
            msvcrt.locking(descriptor, msvcrt.LK_NBLCK, 1)
        except OSError:
            return False
        return True

else:
    import fcntl

    def _taken(descriptor: int) -> bool:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        return True
