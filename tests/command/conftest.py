"""Fixtures of the command's tests: real processes, typer's runner, records and suites."""

from __future__ import annotations

import os
import pty
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from simulator import load_suite, policies, run_episode
from simulator.command.main import app
from tests.patience import PATIENCE_S

ROOT = Path(__file__).resolve().parents[2]
PUBLIC = ROOT / "scenarios" / "public" / "v1"
SUBMIT_TOKEN = "ember_0123456789abcdef"  # of nowhere

Process = subprocess.CompletedProcess[str]


def ember_command(*arguments: str) -> list[str]:
    """The command line of a real process."""
    return [sys.executable, "-m", "simulator.command", *arguments]


def ember_environment() -> dict[str, str]:
    """The environment of a real process: no colours forced, wide lines, the checkout on the path."""
    kept = {key: value for key, value in os.environ.items() if key not in {"FORCE_COLOR", "PYTHONPATH"}}
    return {**kept, "PYTHONPATH": str(ROOT), "COLUMNS": "100", "TERM": "dumb"}


def on_a_terminal(*arguments: str, cwd: Path | None = None, stdout: int | None = None) -> str:
    """What `ember` writes to a terminal of 256 colours; with `stdout` only its standard error."""
    leader, follower = pty.openpty()
    environment = {**ember_environment(), "TERM": "xterm-256color"}
    environment.pop("NO_COLOR", None)
    process = subprocess.Popen(
        ember_command(*arguments),
        stdin=follower,
        stdout=follower if stdout is None else stdout,
        stderr=follower,
        cwd=cwd,
        env=environment,
    )
    os.close(follower)
    parts = []
    while True:
        try:
            part = os.read(leader, 65536)
        except OSError:  # the other side is closed: that is how Linux ends it
            break
        if not part:
            break
        parts.append(part)
    os.close(leader)
    assert process.wait(timeout=PATIENCE_S) == 0
    return b"".join(parts).decode()


@pytest.fixture
def ember(tmp_path: Path) -> Callable[..., Process]:
    """Run `ember` as a process in an empty directory; bytes or text as standard input."""

    def run(*arguments: str, stdin: bytes = b"", cwd: Path | None = None) -> Process:
        done = subprocess.run(
            ember_command(*arguments),
            cwd=cwd or tmp_path,
            env=ember_environment(),
            input=stdin,
            capture_output=True,
            timeout=PATIENCE_S,
            check=False,
        )
        return subprocess.CompletedProcess(
            done.args, done.returncode, done.stdout.decode(), done.stderr.decode()
        )

    return run


@pytest.fixture
def invoke(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Result]:
    """Run `ember` inside the test, in an empty directory: quick, for breadth."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", list(sys.path))

    def run(*arguments: str, stdin: bytes = b"") -> Result:
        return CliRunner().invoke(app, list(arguments), input=stdin, prog_name="ember")

    return run


@pytest.fixture(scope="session")
def greedy_lines() -> list[str]:
    """The ten greedy records of the public suite, canonical text, in ID order."""
    return [run_episode(scenario, policies.greedy).to_json() for scenario in load_suite(PUBLIC).scenarios]


@pytest.fixture
def suite_copy(tmp_path: Path) -> Path:
    """A copy of the public suite that a test may damage."""
    return Path(shutil.copytree(PUBLIC, tmp_path / "suite"))


@pytest.fixture
def submit_environment(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """A token, no site, and no config file of the person who runs the tests."""
    monkeypatch.setenv("EMBER_TOKEN", SUBMIT_TOKEN)
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    monkeypatch.setattr("simulator.command.site_client.FIRST_PAUSE_S", 0.01)
    monkeypatch.setattr("simulator.command.submit.FIRST_LOOK_S", 0.01)
    for name in ("EMBER_SITE", "EMBER_CONFIG"):
        monkeypatch.delenv(name, raising=False)


@pytest.fixture
def record(tmp_path: Path, greedy_lines: list[str]) -> str:
    (tmp_path / "r.jsonl").write_text(greedy_lines[0] + "\n")
    return greedy_lines[0]


@pytest.fixture
def send(invoke: Callable[..., Result], record: str) -> Callable[..., Result]:
    """Submit `r.jsonl` to a site; the token must appear nowhere."""

    def run(url: str, *options: str) -> Result:
        done = invoke("submit", "r.jsonl", "--agent", "my-agent", "--site", url, *options)
        assert SUBMIT_TOKEN not in done.output + done.stderr
        assert "Traceback" not in done.output
        return done

    return run
