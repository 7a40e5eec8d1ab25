"""Background tasks: load by id, call one service; each is safe to run twice."""

from __future__ import annotations

from django_tasks import task

from ember_site.accounts.services import sessions_prune_daily
from ember_site.runs.services.queue import queue_sweep, queue_sweep_now_and_then, sweep_schedule
from ember_site.runs.services.records import orphans_sweep_daily
from ember_site.runs.services.verification import run_verify
from ember_site.runs.signals import queue_swept


@task()
def verify_run(*, run_id: str) -> None:
    """Put back what dead workers left behind, then verify one run."""
    queue_sweep_now_and_then()
    run_verify(run_id=run_id)


@task()
def sweep_queue() -> None:
    """Put back what dead workers left behind, come again while runs are open; then tidy up."""
    queue_sweep()
    sweep_schedule()
    orphans_sweep_daily()
    sessions_prune_daily()
    queue_swept.send_robust(sender=sweep_queue)  # what fails there stands in the log and stops no sweep
