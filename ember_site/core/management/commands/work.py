"""`manage.py work`: a worker that verifies runs."""

import sys
import threading
from argparse import ArgumentParser
from types import FrameType
from typing import Any

from django.core.management import call_command
from django.core.management.base import BaseCommand
from django.db import connection
from django.utils.crypto import get_random_string
from django_tasks_db.management.commands.db_worker import Worker

from ember_site.core.stopping import end_promptly, stop_at_once
from ember_site.core.workers import worker_beating

POLL_INTERVAL_S = 0.3
CONNECTION_AGE_S = 60


class Command(BaseCommand):
    """Runs tasks from the queue until stopped; start as many as there are processors to spare."""

    help = "Run a worker: it verifies runs from the queue until it is stopped."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument(
            "--with-parent",
            action="store_true",
            help="leave when standard input closes, as it does when the process that started this one ends",
        )

    def handle(self, *args: Any, **options: Any) -> None:
        """Tidy up, then run the loop of the queue until told to leave, however early that was said."""
        stop_at_once(quiet=options["with_parent"])
        worker = QueueWorker()
        if options["with_parent"]:
            threading.Thread(target=worker.leave_with_parent, name="parent-watch", daemon=True).start()
        call_command("prune_db_task_results", verbosity=0)
        call_command("sweep_runs", verbosity=0)
        # One connection for many tasks: to make and close one for each takes longer than a short replay.
        connection.settings_dict["CONN_MAX_AGE"] = CONNECTION_AGE_S
        worker.configure_signals()
        with worker_beating():
            worker.run()
        end_promptly()


class QueueWorker(Worker):
    """The queue's own worker, which is told to leave by a flag that it looks at after each task."""

    def __init__(self) -> None:
        super().__init__(
            queue_names=["default"],
            interval=POLL_INTERVAL_S,
            batch=False,
            backend_name="default",
            startup_delay=False,
            max_tasks=None,
            worker_id=get_random_string(32),
            excluded_queue_names=[],
        )
        self.told = False

    def shutdown(self, signum: int, frame: FrameType | None) -> None:
        """
        Take Ctrl-C or SIGTERM: leave after the task in hand; when told again, in the midst of it.

        The package's own way leaves at once where no task has begun, and so between the taking of a
        task and its beginning too: nobody else would take that one.
        """
        if self.told:
            super().shutdown(signum, frame)
        self.told = True
        self.running = False

    def leave_with_parent(self) -> None:
        """Wait for the end of standard input, then let the loop end, or not begin at all."""
        while sys.stdin.buffer.read(1024):
            pass
        self.running = False
