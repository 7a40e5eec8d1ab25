"""
Workers killed with SIGKILL at random moments, again and again: every run gets exactly one verdict.

`EMBER_TEST_KILLS` says how often, else a hundred times; one worker at a time on SQLite, three on PostgreSQL.
"""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import threading
from collections import Counter
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest
from django.db import connection
from django.db.models import Count, Max

from ember_site.core.models import AuditAction, AuditEntry
from ember_site.runs import services
from ember_site.runs.models import Run, RunState, Verification
from simulator import policies, run_episode
from tests.patience import PATIENCE_S, wait_until
from tests.site.database import database_url
from tests.site.runs.conftest import scenarios
from tests.site.runs.test_killed_worker import LEASE_OF_SURVIVORS_S, ROOT

pytestmark = pytest.mark.django_db(transaction=True)

KILLS = int(os.environ.get("EMBER_TEST_KILLS", "100"))
LEASE_S = 0.2
LONGEST_LIFE_S = 0.25


class Nursery:
    """Workers on the test database, started by a process that has loaded the site already."""

    def __init__(self, data: Path) -> None:
        environment = os.environ | {
            "DJANGO_SETTINGS_MODULE": "ember_site.settings",
            "EMBER_DATA": str(data),
            "DATABASE_URL": database_url(),
            "EMBER_LOG_LEVEL": "ERROR",
        }
        command = [sys.executable, "-m", "tests.site.runs.worker_nursery"]
        self.process = subprocess.Popen(
            command, cwd=ROOT, env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        self.alive: list[int] = []

    def start(self, *, lease_s: float = LEASE_S) -> int:
        """Start a worker; give its pid."""
        assert self.process.stdin
        assert self.process.stdout
        self.process.stdin.write(f"{lease_s} --interval 0.01 --no-startup-delay\n")
        self.process.stdin.flush()
        pid = int(self.process.stdout.readline())
        self.alive.append(pid)
        return pid

    def kill(self, pid: int) -> None:
        """End a worker as a power cut would."""
        with suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)
        self.alive.remove(pid)

    def close(self) -> None:
        """End everything that was started."""
        for pid in list(self.alive):
            self.kill(pid)
        self.process.kill()
        self.process.communicate()


@pytest.fixture
def nursery(tmp_path: Path) -> Iterator[Nursery]:
    nursery = Nursery(tmp_path)
    yield nursery
    nursery.close()


def runs_make(agent, count: int) -> list[Run]:
    texts = [
        run_episode(scenarios()[8], policies.make_random(seed), seed=seed).to_json() for seed in range(count)
    ]
    return [services.run_store(agent=agent, record_text=text, source="upload", ranked=True) for text in texts]


def open_attempts() -> bool:
    return Verification.objects.filter(state__in=("queued", "running")).exists()


@pytest.mark.usefixtures("suite")
def test_kills_at_random_moments_leave_one_verdict_for_each_run(agent, settings, nursery, record_property):
    settings.EMBER_VERIFICATION_LEASE_S = LEASE_S
    workers = 1 if connection.vendor == "sqlite" else 3
    chance, ticker = random.Random(20), threading.Event()
    runs = runs_make(agent, KILLS)
    for _ in range(KILLS):
        while len(nursery.alive) < workers:
            nursery.start()
        if not open_attempts():  # there is always something to interrupt
            for run in chance.sample(runs, 20):
                services.run_enqueue(run=run)
        services.queue_sweep()
        ticker.wait(chance.uniform(0, LONGEST_LIFE_S))
        nursery.kill(chance.choice(nursery.alive))
    for pid in list(nursery.alive):
        nursery.kill(pid)

    def finished() -> bool:
        services.queue_sweep()
        for run in Run.objects.filter(state=RunState.FAILED):  # three deaths: our fault, and sent again
            services.run_enqueue(run=run)
        return not open_attempts()

    for _ in range(workers):
        nursery.start(lease_s=LEASE_OF_SURVIVORS_S)
    wait_until(finished, "every verdict", pause_s=0.1, patience_s=5 * PATIENCE_S)

    assert Run.objects.count() == len(runs)
    assert set(Run.objects.values_list("state", flat=True)) == {RunState.VERIFIED}
    live = Verification.objects.filter(live=True).values("run").annotate(n=Count("pk"))
    assert Counter(live.values_list("n", flat=True)) == {1: len(runs)}
    ends = Counter(Verification.objects.values_list("state", flat=True))
    assert set(ends) <= {RunState.VERIFIED, RunState.FAILED}
    entries = AuditEntry.objects.filter(action=AuditAction.VERDICT)
    told = Counter(entry.object_id for entry in entries if entry.data["state"] == RunState.VERIFIED)
    for run in Run.objects.prefetch_related("verifications").annotate(last=Max("verifications__attempt")):
        attempts = sorted(run.verifications.all(), key=lambda attempt: attempt.attempt)
        assert [attempt.attempt for attempt in attempts] == list(range(1, run.last + 1))
        verdicts = [attempt for attempt in attempts if attempt.state == RunState.VERIFIED]
        assert [attempt.live for attempt in verdicts] == [False] * (len(verdicts) - 1) + [True]
        assert told[str(run.pk)] == len(verdicts), "one entry in the log for each verdict that was written"
    record_property("kills", KILLS)
    record_property("attempts cut", ends[RunState.FAILED])
    print(f"{connection.vendor}: {KILLS} kills, {workers} workers, {len(runs)} runs, attempts {dict(ends)}")
