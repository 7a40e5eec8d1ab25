"""Database work of the hub, away from the event loop.

The hub has threads of its own: Channels' helper runs everything in one shared thread, where a
single slow query stalls all sockets. What writes has threads apart from what only reads, so that
a locked database holds up nobody who joins or watches.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import lru_cache
from typing import ParamSpec, TypeVar

from django.db import connections

P = ParamSpec("P")
R = TypeVar("R")

THREADS = 8
"""Of each kind."""


@lru_cache(maxsize=2)
def _executor(kind: str) -> ThreadPoolExecutor:
    return ThreadPoolExecutor(max_workers=THREADS, thread_name_prefix=f"episodes-{kind}")


async def in_thread(work: Callable[P, R], /, *args: P.args, **kwargs: P.kwargs) -> R:
    """Run blocking work that writes nothing in one of the hub's threads and give its result.

    A thread keeps its database connection from job to job; after an error it is closed, so that
    a lost connection costs one job.
    """
    return await _run("read", lambda: work(*args, **kwargs))


async def in_writing_thread(work: Callable[P, R], /, *args: P.args, **kwargs: P.kwargs) -> R:
    """Run work that writes, and may wait for other writers, in one of the threads for that."""
    return await _run("write", lambda: work(*args, **kwargs))


async def _run(kind: str, work: Callable[[], R]) -> R:
    def job() -> R:
        try:
            return work()
        except BaseException:
            for connection in connections.all(initialized_only=True):
                connection.close()
            raise

    return await asyncio.get_running_loop().run_in_executor(_executor(kind), job)
