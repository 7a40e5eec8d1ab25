"""Which workers live: each writes a sign of life every few seconds while it runs."""

from __future__ import annotations

import logging
import os
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime, timedelta
from uuid import UUID, uuid4

from django.db import DatabaseError, connection

from ember_site.core import clock
from ember_site.core.models import WorkerBeat
from simulator import SIMULATOR_VERSION

logger = logging.getLogger(__name__)

BEAT_EVERY_S = 5.0
SILENT_AFTER = timedelta(seconds=20)
FORGOTTEN_AFTER = timedelta(hours=1)
LEAVE_TIMEOUT_S = 5.0


@dataclass(frozen=True, slots=True)
class WorkerState:
    """One worker as the status page shows it."""

    name: str
    simulator_version: str
    started_at: datetime
    silent_s: int
    alive: bool


@contextmanager
def worker_beating() -> Iterator[UUID]:
    """
    Give signs of life from a thread of its own while the block runs, and take them back at its end.

    They say that the process lives. Whether work moves on is told by the queue's oldest wait.
    """
    worker_id, started_at, leaving = uuid4(), clock.now(), threading.Event()
    arguments = (worker_id, started_at, leaving)
    thread = threading.Thread(target=_beat_until, args=arguments, name="worker-beat", daemon=True)
    thread.start()
    try:
        yield worker_id
    finally:
        leaving.set()
        thread.join(timeout=LEAVE_TIMEOUT_S)


def worker_beat(*, worker_id: UUID, started_at: datetime) -> None:
    """Write one sign of life, and forget workers that have been silent for long."""
    now = clock.now()
    if not WorkerBeat.objects.filter(pk=worker_id).update(beat_at=now):
        WorkerBeat.objects.create(
            pk=worker_id,
            name=worker_name(),
            simulator_version=SIMULATOR_VERSION,
            started_at=started_at,
            beat_at=now,
        )
        WorkerBeat.objects.filter(beat_at__lt=now - FORGOTTEN_AFTER).delete()


def worker_name() -> str:
    """Host and process, as in the history of a run."""
    return f"{socket.gethostname()[:80]}:{os.getpid()}"


def worker_list() -> list[WorkerState]:
    """The workers that were heard of within the last hour, those that live first, then the oldest."""
    now = clock.now()
    beats = WorkerBeat.objects.filter(beat_at__gte=now - FORGOTTEN_AFTER)
    states = [
        WorkerState(
            name=beat.name,
            simulator_version=beat.simulator_version,
            started_at=beat.started_at,
            silent_s=max(0, int((now - beat.beat_at).total_seconds())),
            alive=now - beat.beat_at <= SILENT_AFTER,
        )
        for beat in beats
    ]
    return sorted(states, key=lambda state: (not state.alive, state.started_at))


def _beat_until(worker_id: UUID, started_at: datetime, leaving: threading.Event) -> None:
    """Beat until told to leave. A database that is away for a while ends nothing."""
    while True:
        try:
            worker_beat(worker_id=worker_id, started_at=started_at)
        except DatabaseError as error:
            logger.warning("The worker's sign of life could not be written: %s", type(error).__name__)
            connection.close()
        if leaving.wait(BEAT_EVERY_S):
            break
    try:
        WorkerBeat.objects.filter(pk=worker_id).delete()
    except DatabaseError:
        logger.warning("The worker's sign of life could not be taken back.")
    finally:
        connection.close()
