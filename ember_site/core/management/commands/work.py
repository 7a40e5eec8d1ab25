"""`manage.py work`: a worker that verifies runs."""

import _thread
import signal
import sys
import threading
from argparse import ArgumentParser
from contextlib import suppress
from typing import Any

from django.core.management import call_command
from django.core.management.base import BaseCommand
from django.db import connection

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
        """Run the queue's own worker loop."""
        with suppress(KeyboardInterrupt):  # told to leave before the loop took over the signals
            if options["with_parent"]:
                threading.Thread(target=_leave_with_parent, name="parent-watch", daemon=True).start()
            call_command("prune_db_task_results", verbosity=0)
            call_command("sweep_runs", verbosity=0)
            # One connection for many tasks: to make and close one for each takes longer than a short replay.
            connection.settings_dict["CONN_MAX_AGE"] = CONNECTION_AGE_S
            with worker_beating():
                call_command("db_worker", interval=POLL_INTERVAL_S, startup_delay=False, reload=False)


def _leave_with_parent() -> None:
    """Wait for the end of standard input, then ask the main thread to finish, as Ctrl-C would."""
    while sys.stdin.buffer.read(1024):
        pass
    _thread.interrupt_main(signal.SIGINT)
