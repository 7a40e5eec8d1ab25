"""Work off the queue in this process, task by task, as the worker of a site does."""

from __future__ import annotations

from datetime import timedelta

from django_tasks_db.management.commands.db_worker import Worker
from django_tasks_db.models import DBTaskResult


def run_tasks(limit: int = 10_000) -> int:
    """Run the ready tasks in their order until none is left, or `limit` of them; give the number."""
    worker = Worker(
        queue_names=["default"],
        interval=0,
        batch=True,
        backend_name="default",
        startup_delay=False,
        max_tasks=None,
        worker_id="test-worker",
        excluded_queue_names=[],
    )
    for done in range(limit):
        task = DBTaskResult.objects.ready().first()
        if task is None:
            return done
        task.claim(worker.worker_id)
        worker.run_task(task)
        task.refresh_from_db()
        assert task.status == "SUCCESSFUL", task.traceback
    return limit


def sweeps_due() -> None:
    """Let the scheduled sweeps be due now."""
    for task in DBTaskResult.objects.filter(status="READY", task_path__endswith="sweep_queue"):
        task.run_after -= timedelta(hours=1)
        task.save()
