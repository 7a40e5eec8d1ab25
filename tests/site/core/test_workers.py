"""Signs of life of workers: given while one runs, taken back when it leaves, silent after a kill."""

from __future__ import annotations

import os
import signal
import sqlite3
import subprocess
import sys
from datetime import timedelta
from pathlib import Path
from uuid import uuid4

import pytest
from django.db import DatabaseError

from ember_site.core import clock, workers
from ember_site.core.models import WorkerBeat
from ember_site.core.workers import FORGOTTEN_AFTER, SILENT_AFTER, worker_beat, worker_beating, worker_list
from tests.patience import PATIENCE_S, wait_until

ROOT = Path(__file__).resolve().parents[3]


@pytest.mark.django_db
def test_a_worker_is_alive_until_it_has_been_silent_for_long(monkeypatch: pytest.MonkeyPatch) -> None:
    start = clock.now()
    worker_id = uuid4()
    worker_beat(worker_id=worker_id, started_at=start)
    (state,) = worker_list()
    assert state.alive
    assert state.started_at == start
    monkeypatch.setattr(clock, "now", lambda: start + SILENT_AFTER + timedelta(seconds=5))
    (state,) = worker_list()
    assert not state.alive
    assert state.silent_s >= 20
    worker_beat(worker_id=worker_id, started_at=start)
    assert worker_list()[0].alive
    assert WorkerBeat.objects.count() == 1


@pytest.mark.django_db
def test_a_worker_that_died_long_ago_is_forgotten_when_another_starts(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    start = clock.now()
    worker_beat(worker_id=uuid4(), started_at=start)
    monkeypatch.setattr(clock, "now", lambda: start + FORGOTTEN_AFTER + timedelta(seconds=1))
    assert worker_list() == []
    newcomer = uuid4()
    worker_beat(worker_id=newcomer, started_at=clock.now())
    assert [beat.pk for beat in WorkerBeat.objects.all()] == [newcomer]


@pytest.mark.django_db(transaction=True)
def test_the_thread_beats_while_the_work_goes_on_and_takes_its_sign_back() -> None:
    with worker_beating() as worker_id:
        wait_until(WorkerBeat.objects.filter(pk=worker_id).exists, "a sign of life")
    assert not WorkerBeat.objects.exists()


@pytest.mark.django_db(transaction=True)
def test_a_database_that_is_away_for_a_moment_ends_no_worker(monkeypatch: pytest.MonkeyPatch) -> None:
    failures = iter([DatabaseError("database is locked")])
    real = worker_beat

    def away_once(**arguments: object) -> None:
        for failure in failures:
            raise failure
        real(**arguments)  # type: ignore[arg-type]

    monkeypatch.setattr(workers, "worker_beat", away_once)
    monkeypatch.setattr(workers, "BEAT_EVERY_S", 0.01)
    with worker_beating() as worker_id:
        wait_until(WorkerBeat.objects.filter(pk=worker_id).exists, "a sign of life")


def test_a_real_worker_shows_up_and_a_killed_one_falls_silent(tmp_path: Path) -> None:
    environment = {name: value for name, value in os.environ.items() if not name.startswith("EMBER_")}
    environment |= {"EMBER_DATA": str(tmp_path), "DJANGO_SETTINGS_MODULE": "ember_site.settings"}
    environment.pop("DATABASE_URL", None)

    def manage(*arguments: str) -> str:
        command = [sys.executable, "manage.py", *arguments]
        return subprocess.run(
            command, cwd=ROOT, env=environment, capture_output=True, text=True, check=True, timeout=PATIENCE_S
        ).stdout

    def count() -> int:
        with sqlite3.connect(tmp_path / "ember.sqlite3") as database:
            return int(database.execute("SELECT COUNT(*) FROM core_workerbeat").fetchone()[0])

    manage("migrate", "-v", "0")
    for by, left in ((signal.SIGTERM, 0), (signal.SIGKILL, 1)):
        worker = subprocess.Popen([sys.executable, "manage.py", "work"], cwd=ROOT, env=environment)
        try:
            wait_until(lambda worker=worker: count() == 1 or worker.poll() is not None, "a sign of life")
            assert worker.poll() is None, "the worker left by itself"
        finally:
            worker.send_signal(by)
            worker.wait(timeout=PATIENCE_S)
        assert count() == left
