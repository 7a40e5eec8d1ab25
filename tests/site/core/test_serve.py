"""`manage.py serve` for real: web process and worker start, survive and stop together."""

import os
import re
import signal
import socket
import subprocess
import sys
import urllib.request
from collections.abc import Iterator
from pathlib import Path

import pytest
from django.core.management.base import CommandError

from ember_site.core.management.commands.serve import host_names, listener_open
from ember_site.core.worker_process import restart_pause_s
from tests.patience import PATIENCE_S, wait_until
from tests.site_server import ROOT, WORKER, SiteServer


@pytest.fixture
def server(tmp_path: Path) -> Iterator[SiteServer]:
    server = SiteServer(tmp_path, "--no-demo")
    yield server
    server.stop()


def get(address: str) -> tuple[int, str]:
    with urllib.request.urlopen(address, timeout=PATIENCE_S) as answer:
        return answer.status, answer.read().decode()


def wait_gone(pid: int) -> None:
    """Wait until a process that is not our child has ended."""

    def gone() -> bool:
        state = subprocess.run(["ps", "-o", "stat=", "-p", str(pid)], capture_output=True, text=True)
        return not state.stdout.strip() or state.stdout.startswith("Z")

    wait_until(gone, f"the end of process {pid}", pause_s=0.2)


def test_one_command_serves_the_site_and_one_ctrl_c_stops_all_of_it(
    server: SiteServer, tmp_path: Path
) -> None:
    worker = int(server.wait_for(WORKER, 240)[1])
    address = server.wait_ready()
    assert get(f"{address}/readyz") == (200, '{"status": "ok", "database": "ok"}')
    status, home = get(f"{address}/")
    assert status == 200
    stylesheet = re.search(r'href="(/static/css/site\.[0-9a-f]+\.css)"', home)
    assert stylesheet is not None
    assert get(address + stylesheet[1])[0] == 200
    assert "createsuperuser" in server.output
    assert (tmp_path / "secret_key").stat().st_mode & 0o077 == 0

    os.kill(worker, signal.SIGKILL)
    next_worker = int(server.wait_for(WORKER)[1])
    assert next_worker != worker

    assert server.stop(signal.SIGINT) == 0
    wait_gone(next_worker)
    assert server.output.rstrip().endswith("Stopped.")
    assert "Traceback" not in server.output, server.output


def test_the_worker_leaves_when_the_web_process_is_killed(server: SiteServer) -> None:
    worker = int(server.wait_for(WORKER, 240)[1])
    server.wait_ready()
    server.process.kill()
    wait_gone(worker)


def test_a_taken_port_is_told_in_plain_words(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        run = subprocess.run(
            [sys.executable, "manage.py", "serve", "--port", str(port)],
            cwd=ROOT,
            env=os.environ | {"EMBER_DATA": str(tmp_path)},
            capture_output=True,
            text=True,
            timeout=PATIENCE_S,
        )
    assert run.returncode == 1
    assert f"Cannot serve on 127.0.0.1 port {port}" in run.stderr
    assert f"--port {port + 1}" in run.stderr
    assert "Traceback" not in run.stderr
    assert not (tmp_path / "ember.sqlite3").exists(), "the port is claimed before anything is written"


def test_a_port_that_cannot_be_is_told_in_plain_words() -> None:
    with pytest.raises(CommandError, match="no port 70000"):
        listener_open("127.0.0.1", 70000)


def test_a_site_on_all_addresses_answers_to_the_names_of_the_machine() -> None:
    assert socket.gethostname() in host_names("0.0.0.0")
    assert host_names("192.0.2.7") == ["192.0.2.7"]
    assert host_names("2001:db8::7") == ["[2001:db8::7]"]


def test_a_worker_that_keeps_dying_is_restarted_ever_more_slowly() -> None:
    assert [restart_pause_s(deaths) for deaths in (1, 2, 3, 4, 5, 6, 20)] == [1, 2, 4, 8, 16, 30, 30]
