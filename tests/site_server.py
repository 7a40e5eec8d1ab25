"""The real site in a process of its own: `manage.py serve` with its worker, on a free port."""

import os
import queue
import re
import signal
import socket
import subprocess
import sys
import threading
import time
from pathlib import Path

from tests.patience import PATIENCE_S

ROOT = Path(__file__).resolve().parent.parent
READY = re.compile(r"EMBERBench is ready:\s+(http://\S+)/")
WORKER = re.compile(r"The worker has started \(process (\d+)\)")


def port_keep() -> socket.socket:
    """
    Keep a free port of this machine for a server that goes and comes back; give the socket that holds it.

    It is bound but does not listen. As long as it is open, the system gives its port to nobody who asks for
    just any; who names the port may listen on it.
    """
    holder = socket.socket()
    holder.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    holder.bind(("127.0.0.1", 0))
    return holder


class SiteServer:
    """Starts the site on construction, on a free port unless one is named; `wait_ready` gives its address."""

    def __init__(self, data: Path, *options: str, port: int = 0) -> None:
        environment = {
            name: value for name, value in os.environ.items() if not name.startswith(("EMBER_", "DJANGO_"))
        }
        environment.pop("SECRET_KEY", None)
        environment |= {"EMBER_DATA": str(data), "PYTHONUNBUFFERED": "1"}
        environment["EMBER_BASELINES_PER_ADDRESS"] = "100"  # all visitors of the tests have one address
        self.lines: list[str] = []
        self._passed: list[str] = []
        self._arriving: queue.Queue[str | None] = queue.Queue()
        self.process = subprocess.Popen(
            [sys.executable, "manage.py", "serve", "--port", str(port), *options],
            cwd=ROOT,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            encoding="utf-8",
        )
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    def _read(self) -> None:
        assert self.process.stdout is not None
        for line in self.process.stdout:
            self.lines.append(line)
            self._arriving.put(line)
        self._arriving.put(None)

    @property
    def output(self) -> str:
        """Everything that the processes have printed so far."""
        return "".join(self.lines)

    def wait_for(self, pattern: re.Pattern[str], timeout_s: float = PATIENCE_S) -> re.Match[str]:
        """Read on until a line matches; fail with all output when none comes in time or at the end."""
        deadline = time.monotonic() + timeout_s
        while (left_s := deadline - time.monotonic()) > 0:
            try:
                line = self._arriving.get(timeout=left_s)
            except queue.Empty:
                break
            if line is None:
                raise AssertionError(f"the server ended:\n{self.output}")
            self._passed.append(line)
            if match := pattern.search(line):
                return match
        raise AssertionError(f"no line matched {pattern.pattern!r} within {timeout_s} s:\n{self.output}")

    def wait_ready(self, timeout_s: float = 240) -> str:
        """
        Wait until the site serves; give its address without a final slash.

        The site may have said so while something else was waited for: its worker starts beside it.
        """
        said = next(filter(None, map(READY.search, self._passed)), None)
        return (said or self.wait_for(READY, timeout_s))[1]

    def stop(self, by: signal.Signals = signal.SIGTERM) -> int:
        """Ask the site to stop; give its exit code. What it printed to the last is in `output` then."""
        if self.process.poll() is None:
            self.process.send_signal(by)
        try:
            code = self.process.wait(timeout=PATIENCE_S)
        except subprocess.TimeoutExpired:
            self.process.kill()
            raise AssertionError(f"the server did not stop:\n{self.output}") from None
        self._read_out()
        return code

    def kill(self) -> None:
        """End the web process at once, as a crash does; its worker leaves a moment later by itself."""
        self.process.kill()
        self.process.wait(timeout=PATIENCE_S)

    def _read_out(self) -> None:
        """Wait until all that the ended processes printed has been read, the worker's last words too."""
        self._reader.join(timeout=PATIENCE_S)
        assert not self._reader.is_alive(), f"somebody still holds the output:\n{self.output}"
