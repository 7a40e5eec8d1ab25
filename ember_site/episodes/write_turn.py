"""One writer at a time in this process, in turn, where the database has room for only one.

SQLite lets a single connection write. Others that wait look again every tenth of a second, so that under
load whoever comes new gets in before who has waited long, until somebody's patience ends. A lock of the
process hands the turn on at once.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager

from django.db import OperationalError, connection

_turn = threading.Lock()


@contextmanager
def write_turn() -> Iterator[None]:
    """Wait for the turn to write, as long as a connection would wait for the database.

    Raises:
        OperationalError: the turn did not come in time.
    """
    if connection.vendor != "sqlite":
        yield
        return
    if not _turn.acquire(timeout=float(connection.settings_dict["OPTIONS"].get("timeout", 5.0))):
        raise OperationalError("the turn to write did not come")
    try:
        yield
    finally:
        _turn.release()
