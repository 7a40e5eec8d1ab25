"""Real worker processes, killed in the middle of their work: every run still gets exactly one verdict."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from django.core.management import call_command

from ember_site.runs import services
from ember_site.runs.models import Run, RunState, Verification
from ember_site.runs.record_store import record_name
from simulator import policies, run_episode
from tests.patience import PATIENCE_S, wait_until
from tests.site.database import database_url
from tests.site.runs.conftest import scenarios

pytestmark = pytest.mark.django_db(transaction=True)

ROOT = Path(__file__).parents[3]
LEASE_S = 0.5
LEASE_OF_SURVIVORS_S = 60
"""Nobody takes the run of a worker that is only slow for that of a dead one."""
RUNS = 6
WORKERS = 2


def worker_start(data: Path, *options: str, lease_s: float = LEASE_S) -> subprocess.Popen[bytes]:
    environment = os.environ | {
        "DJANGO_SETTINGS_MODULE": "ember_site.settings",
        "EMBER_DATA": str(data),
        "DATABASE_URL": database_url(),
        "EMBER_VERIFICATION_LEASE_S": str(lease_s),
    }
    command = [sys.executable, "manage.py", "db_worker", "--interval", "0.05", "--no-startup-delay", *options]
    return subprocess.Popen(
        command, cwd=ROOT, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE
    )


def kill_when(data: Path, condition: Callable[[], bool]) -> None:
    """Start a worker and kill it at the moment."""
    worker = worker_start(data)
    wait_until(lambda: condition() or worker.poll() is not None, "the moment", pause_s=0.003)
    ended = worker.poll() is not None
    worker.kill()
    _, errors = worker.communicate()
    assert not ended, f"the worker ended by itself: {errors.decode()}"


def leases_lapse() -> None:
    """Wait until what dead workers held is put back."""
    running = Verification.objects.filter(state=RunState.RUNNING)
    wait_until(lambda: services.queue_sweep().requeued >= 0 and not running.exists(), "the lease to lapse")


@pytest.fixture
def runs(suite, agent) -> list[Run]:
    scenario = scenarios()[8]
    return [
        services.run_store(
            agent=agent,
            record_text=run_episode(scenario, policies.stay, seed=seed).to_json(),
            source="upload",
            ranked=True,
        )
        for seed in range(RUNS)
    ]


def test_killed_workers_lose_nothing_and_judge_nothing_twice(runs, settings, tmp_path):
    settings.EMBER_VERIFICATION_LEASE_S = LEASE_S
    victims = runs[1::2]
    for victim in victims:
        with record_stalled(tmp_path, victim):
            kill_when(tmp_path, victim.verifications.filter(state=RunState.RUNNING).exists)
        leases_lapse()

    for _ in range(2):  # a worker that finds the queue empty leaves; what the other put back comes again
        call_command("sweep_runs", verbosity=0)
        workers = [worker_start(tmp_path, "--batch", lease_s=LEASE_OF_SURVIVORS_S) for _ in range(WORKERS)]
        for worker in workers:
            _, errors = worker.communicate(timeout=5 * PATIENCE_S)
            assert worker.returncode == 0, errors.decode()

    assert set(Run.objects.values_list("state", flat=True)) == {RunState.VERIFIED}
    live = Verification.objects.filter(live=True)
    assert live.count() == live.values("run").distinct().count() == RUNS
    assert not Verification.objects.filter(state__in=["queued", "running"]).exists()
    for victim in victims:
        states = victim.verifications.order_by("attempt").values_list("state", "live")
        assert list(states) == [("failed", False), ("verified", True)]


@contextmanager
def record_stalled(data: Path, run: Run) -> Iterator[None]:
    """Let whoever reads the run's record wait for ever: a pipe that nobody writes to stands in its place."""
    path = data / "records" / record_name(run.digest)
    aside = path.with_suffix(".aside")
    path.rename(aside)
    os.mkfifo(path)
    try:
        yield
    finally:
        aside.replace(path)
