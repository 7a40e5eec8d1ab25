"""Database work of the hub, away from the event loop.

The hub has threads of its own: Channels' helper runs everything in one shared thread, where a
single slow query stalls all sockets.
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

THREADS = 12


@lru_cache(maxsize=1)
def _executor() -> ThreadPoolExecutor:
    return ThreadPoolExecutor(max_workers=THREADS, thread_name_prefix="episodes")


async def in_thread(work: Callable[P, R], /, *args: P.args, **kwargs: P.kwargs) -> R:
    """Run blocking work in one of the hub's threads and give its result.

    A thread keeps its database connection from job to job; after an error it is closed, so that
    a lost connection costs one job.
    """

    def job() -> R:
        try:
            return work(*args, **kwargs)
        except BaseException:
            for connection in connections.all(initialized_only=True):
                connection.close()
            raise

    return await asyncio.get_running_loop().run_in_executor(_executor(), job)
