"""The worker beside a web process at home: started, restarted when it dies, stopped with its parent."""

import logging
import subprocess
import sys
import threading
import time
from contextlib import suppress
from typing import Any

from django.conf import settings

logger = logging.getLogger(__name__)

FIRST_PAUSE_S = 1.0
LONGEST_PAUSE_S = 30.0
SETTLED_S = 60.0
"""A worker that lived this long was well; its next death is not counted with earlier ones."""

STOP_TIMEOUT_S = 10.0


def restart_pause_s(deaths_in_a_row: int) -> float:
    """Give how long to wait before the next start: a second, then double, at most half a minute."""
    return min(FIRST_PAUSE_S * 2 ** max(0, deaths_in_a_row - 1), LONGEST_PAUSE_S)


class WorkerProcess:
    """
    Keeps one `manage.py work` running until told to stop.

    The worker holds the read end of a pipe to this process. When the pipe closes, because
    `stop` was called or because this process died in whatever way, the worker ends its task and
    leaves. `stop` also sends SIGTERM where that is a request: it means the same to a worker at
    its tasks, and one that is still loading goes at once instead of first loading to the end. The
    worker is kept out of the terminal's group, so that Ctrl-C reaches this process alone and the
    order of stopping is always the same. Works on Linux, macOS and Windows.
    """

    def __init__(self) -> None:
        self._process: subprocess.Popen[bytes] | None = None
        self._stopping = threading.Event()
        self._lock = threading.Lock()
        self._keeper = threading.Thread(target=self._keep, name="worker-keeper", daemon=True)

    def start(self) -> None:
        """Start the worker and keep it."""
        self._keeper.start()

    def stop(self) -> None:
        """Let the worker finish its task, wait for it, and end it if it takes too long."""
        self._stopping.set()
        with self._lock:
            process = self._process
        if process is not None:
            _end(process)
        self._keeper.join(timeout=STOP_TIMEOUT_S)

    def _spawn(self) -> subprocess.Popen[bytes] | None:
        with self._lock:
            if self._stopping.is_set():
                return None
            apart: dict[str, Any] = {"start_new_session": True}
            if sys.platform == "win32":
                apart = {"creationflags": subprocess.CREATE_NEW_PROCESS_GROUP}
            self._process = subprocess.Popen(  # noqa: S603  (our own command, no input of others)
                [
                    sys.executable,
                    "-m",
                    "django",
                    "work",
                    "--with-parent",
                    "--settings",
                    settings.SETTINGS_MODULE,
                ],
                stdin=subprocess.PIPE,
                cwd=settings.BASE_DIR,
                **apart,
            )
            logger.info("The worker has started (process %d).", self._process.pid)
            return self._process

    def _keep(self) -> None:
        deaths_in_a_row = 0
        while (process := self._spawn()) is not None:
            started = time.monotonic()
            code = process.wait()
            if self._stopping.is_set():
                return
            deaths_in_a_row = 1 if time.monotonic() - started > SETTLED_S else deaths_in_a_row + 1
            pause_s = restart_pause_s(deaths_in_a_row)
            logger.warning("The worker ended (exit code %s); a new one starts in %.0f s.", code, pause_s)
            if process.stdin is not None:
                process.stdin.close()
            self._stopping.wait(pause_s)


def _end(process: subprocess.Popen[bytes]) -> None:
    """Ask the worker to leave and wait; push harder each time that the wait was in vain."""
    if process.stdin is not None:
        process.stdin.close()
    if sys.platform != "win32":  # there it would be no request but the end
        process.terminate()
    for push in (process.terminate, process.kill):
        with suppress(subprocess.TimeoutExpired):
            process.wait(timeout=STOP_TIMEOUT_S)
            return
        logger.warning("The worker has not ended yet (process %d).", process.pid)
        push()
    process.wait()
