"""Two starts on one data folder prepare it one after the other."""

from __future__ import annotations

import subprocess
import sys
import threading
from pathlib import Path

from ember_site.core.turn import turn
from tests.patience import PATIENCE_S
from tests.site_server import ROOT, SiteServer

HOLD = """
import sys
from pathlib import Path
from ember_site.core.turn import turn
with turn(Path(sys.argv[1]), waiting=lambda: print("waits", flush=True)):
    print("holds", flush=True)
    sys.stdin.read()
"""


def holder(path: Path) -> subprocess.Popen[str]:
    """A process that takes the turn and keeps it until its input closes or it is killed."""
    process = subprocess.Popen(
        [sys.executable, "-c", HOLD, str(path)],
        cwd=ROOT,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None
    assert process.stdout.readline() == "holds\n"
    return process


def test_a_turn_is_waited_for_and_ends_with_a_process_that_is_killed(tmp_path: Path) -> None:
    path = tmp_path / "preparing"
    first = holder(path)
    told, taken = threading.Event(), threading.Event()

    def take() -> None:
        with turn(path, waiting=told.set):
            taken.set()

    thread = threading.Thread(target=take, daemon=True)
    thread.start()
    assert told.wait(PATIENCE_S)
    assert not taken.is_set()
    first.kill()
    assert taken.wait(PATIENCE_S)
    first.communicate()
    thread.join(PATIENCE_S)


def test_a_second_start_on_the_same_folder_waits_and_then_serves_too(tmp_path: Path) -> None:
    (tmp_path / "seeded").touch()  # no baselines: they take long and are not what this is about
    servers = [SiteServer(tmp_path, "--no-demo") for _ in range(2)]
    try:
        assert len({server.wait_ready() for server in servers}) == 2
    finally:
        codes = [server.stop() for server in servers]
    assert codes == [0, 0]
    assert sum("Waiting for another start" in server.output for server in servers) <= 1
    assert not [server.output for server in servers if "Traceback" in server.output]
