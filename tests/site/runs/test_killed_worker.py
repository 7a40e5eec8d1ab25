"""Real worker processes, killed in the middle of their work: every run still gets exactly one verdict."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path

import pytest
from django.core.management import call_command
from django.db import connection
from django_tasks_db.models import DBTaskResult

from ember_site.runs import services
from ember_site.runs.models import Run, RunState, Verification
from simulator import policies, run_episode
from tests.site.runs.conftest import scenarios

pytestmark = [
    pytest.mark.django_db(transaction=True),
    pytest.mark.skipif(
        connection.vendor != "sqlite", reason="the worker is given the file of the test database"
    ),
]

ROOT = Path(__file__).parents[3]
LEASE_S = 0.5
RUNS = 16
KILLS = 3
PATIENCE_S = 90


def worker_start(data: Path, *options: str) -> subprocess.Popen[bytes]:
    environment = os.environ | {
        "DJANGO_SETTINGS_MODULE": "ember_site.settings",
        "EMBER_DATA": str(data),
        "DATABASE_URL": f"sqlite:///{Path(connection.settings_dict['NAME']).as_posix()}",
        "EMBER_VERIFICATION_LEASE_S": str(LEASE_S),
    }
    command = [sys.executable, "manage.py", "db_worker", "--interval", "0.05", "--no-startup-delay", *options]
    return subprocess.Popen(
        command, cwd=ROOT, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE
    )


def wait_until(condition: Callable[[], bool], *, pause_s: float = 0.003) -> None:
    ticker = threading.Event()
    for _ in range(int(PATIENCE_S / pause_s)):
        if condition():
            return
        ticker.wait(pause_s)
    raise AssertionError("waited in vain")


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
    for _ in range(KILLS):
        worker = worker_start(tmp_path)
        wait_until(
            lambda: Verification.objects.filter(state=RunState.RUNNING, lease_until__isnull=False).exists()
        )
        os.kill(worker.pid, signal.SIGKILL)
        worker.communicate()
        wait_until(lambda: services.queue_sweep().requeued >= 0 and not _running())

    last = worker_start(tmp_path, "--batch")
    _, errors = last.communicate(timeout=PATIENCE_S)
    assert last.returncode == 0, errors.decode()
    call_command("sweep_runs", verbosity=0)
    last = worker_start(tmp_path, "--batch")
    last.communicate(timeout=PATIENCE_S)

    assert set(Run.objects.values_list("state", flat=True)) == {RunState.VERIFIED}
    live = Verification.objects.filter(live=True)
    assert live.count() == live.values("run").distinct().count() == RUNS
    assert not Verification.objects.filter(state__in=["queued", "running"]).exists()
    stuck = DBTaskResult.objects.filter(status="RUNNING").count()
    assert stuck <= KILLS, "only what a kill left behind"


def _running() -> bool:
    return Verification.objects.filter(state=RunState.RUNNING).exists()
