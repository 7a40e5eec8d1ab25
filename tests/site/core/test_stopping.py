"""Ctrl-C and SIGTERM at every stage: while loading, in preparation, at work, and with a worker just begun."""

from __future__ import annotations

import io
import os
import re
import signal
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from django_tasks_db.models import DBTaskResult

from ember_site.core.management.commands.work import QueueWorker
from ember_site.runs.tasks import sweep_queue
from tests.patience import PATIENCE_S
from tests.site_server import ROOT, WORKER, SiteServer

CTRL_C_IN_A_CALLBACK = """
import signal, weakref
from ember_site.core.stopping import stop_at_once

class Module:
    pass

stop_at_once()
module = Module()
reference = weakref.ref(module, lambda _: signal.raise_signal(signal.SIGINT))
del module
print("went on")
"""


def python(*arguments: str, **variables: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, *arguments],
        cwd=ROOT,
        env=os.environ | variables,
        capture_output=True,
        text=True,
        timeout=PATIENCE_S,
    )


def test_ctrl_c_is_not_lost_where_an_exception_would_be() -> None:
    run = python("-c", CTRL_C_IN_A_CALLBACK)
    assert (run.returncode, run.stdout, run.stderr) == (130, "\nStopped.\n", "")


@pytest.mark.parametrize("command", ["serve", "work"])
def test_ctrl_c_while_the_site_is_loading_ends_it_without_a_traceback(command: str, tmp_path: Path) -> None:
    slow = tmp_path / "django"
    slow.mkdir()
    (slow / "__init__.py").write_text("import signal\nsignal.raise_signal(signal.SIGINT)\n")
    run = python("manage.py", command, PYTHONPATH=str(tmp_path))
    assert (run.returncode, run.stdout, run.stderr) == (130, "\nStopped.\n", "")


@pytest.mark.parametrize("by", [signal.SIGINT, signal.SIGTERM])
def test_a_site_in_preparation_stops_at_once_and_can_be_started_again(
    tmp_path: Path, by: signal.Signals
) -> None:
    server = SiteServer(tmp_path, "--no-demo")
    server.wait_for(re.compile("Preparing"))
    assert server.stop(by) == 128 + by
    assert server.output.endswith("\nStopped.\n")
    assert "Traceback" not in server.output


def test_a_worker_that_has_just_begun_to_load_leaves_when_the_site_stops(tmp_path: Path) -> None:
    (tmp_path / "seeded").touch()  # no baselines: they take long and are not what this is about
    server = SiteServer(tmp_path, "--no-demo")
    server.wait_for(WORKER)
    assert server.stop(signal.SIGINT) == 0
    assert server.output.endswith("\nStopped.\n")
    assert "has not ended yet" not in server.output
    assert "Traceback" not in server.output


@pytest.mark.django_db(transaction=True)
def test_a_worker_told_to_leave_before_its_loop_takes_no_task(monkeypatch: pytest.MonkeyPatch) -> None:
    task = sweep_queue.enqueue()
    worker = QueueWorker()
    monkeypatch.setattr(sys, "stdin", SimpleNamespace(buffer=io.BytesIO()))
    worker.leave_with_parent()
    worker.run()
    assert DBTaskResult.objects.get(pk=task.id).status == "READY"


@pytest.mark.django_db(transaction=True)
def test_a_worker_told_to_leave_ends_its_task_and_takes_no_other(monkeypatch: pytest.MonkeyPatch) -> None:
    DBTaskResult.objects.all().delete()
    for _ in range(2):
        sweep_queue.enqueue()
    worker = QueueWorker()
    run_task = worker.run_task

    def told_meanwhile(task: Any) -> None:
        worker.shutdown(signal.SIGTERM, None)
        run_task(task)

    monkeypatch.setattr(worker, "run_task", told_meanwhile)
    worker.run()
    taken = [task for task in DBTaskResult.objects.all() if worker.worker_id in task.worker_ids]
    assert [task.status for task in taken] == ["SUCCESSFUL"]


def test_a_worker_told_twice_leaves_in_the_midst_of_its_task(monkeypatch: pytest.MonkeyPatch) -> None:
    worker = QueueWorker()
    monkeypatch.setattr(worker, "reset_signals", lambda: None)
    worker.running_task = True
    worker.shutdown(signal.SIGTERM, None)
    with pytest.raises(SystemExit):
        worker.shutdown(signal.SIGTERM, None)
