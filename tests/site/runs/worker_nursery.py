"""Start workers in no time: a process that has loaded the site forks one for each line that it reads.

The line begins with the seconds that the worker may hold a run; the worker's options follow.
It keeps no connection open, so each worker is a process like any other, only without the seconds that
loading takes. Run with `python -m`; the pid of each worker comes back on a line of its own.
"""

from __future__ import annotations

import os
import signal
import sys

import django


def main() -> None:
    """Fork a worker for each line of standard input."""
    django.setup()
    from django.conf import settings
    from django.core.management import call_command, load_command_class

    from ember_site.runs import tasks
    from ember_site.runs.services import verification

    assert tasks and verification  # loaded before the fork
    command = load_command_class("django_tasks_db", "db_worker")
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    for line in sys.stdin:
        pid = os.fork()
        if pid == 0:
            signal.signal(signal.SIGCHLD, signal.SIG_DFL)
            lease_s, *options = line.split()
            settings.EMBER_VERIFICATION_LEASE_S = float(lease_s)
            call_command(command, *options)
            os._exit(0)
        sys.stdout.write(f"{pid}\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main()
