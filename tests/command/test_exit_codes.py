"""What every command does on the way out: exit codes, one clear line, pipes, interrupts, odd terminals."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from typer.testing import Result

from simulator import OBSERVATION_VERSION, SCHEMA_VERSION, SIMULATOR_VERSION
from tests.command.conftest import PUBLIC, Process, ember_command, ember_environment
from tests.patience import PATIENCE_S

Invoke = Callable[..., Result]
FIXTURE = "narrow_corridor"


@pytest.fixture(autouse=True)
def material(tmp_path: Path, greedy_lines: list[str]) -> None:
    """Files of every kind in the directory where the command runs."""
    (tmp_path / "good.json").write_text(greedy_lines[0])
    (tmp_path / "bad.json").write_text("{}")
    (tmp_path / "latin1.json").write_bytes('{"description": "é"}'.encode("latin-1"))
    (tmp_path / "directory").mkdir()
    (tmp_path / "empty.json").write_bytes(b"")


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        ("--version", 0),
        ("--help", 0),
        ("-h", 0),
        ("run --help", 0),
        ("suite check --help", 0),
        (f"run {FIXTURE} -p greedy", 0),
        (f"show {FIXTURE}", 0),
        ("hash good.json", 0),
        ("verify good.json", 0),
        (f"suite check {PUBLIC}", 0),
        ("verify bad.json", 1),
        ("verify latin1.json", 1),
        ("verify empty.json", 1),
        ("show bad.json", 1),
        ("show latin1.json", 1),
        ("show empty.json", 1),
        ("run bad.json -p greedy", 1),
        ("hash bad.json", 1),
        ("hash latin1.json", 1),
        ("verify good.json --scenario bad.json", 1),
        ("", 2),
        ("nonsense", 2),
        ("suite", 2),
        ("suite check", 2),
        ("suite check nowhere", 2),
        ("suite check good.json", 2),
        ("suite check directory", 2),
        ("verify", 2),
        ("verify absent.json", 2),
        ("verify directory", 2),
        ("verify - -", 2),
        ("verify good.json --suite directory", 2),
        ("verify good.json --scenario absent.json", 2),
        ("verify good.json --nonsense", 2),
        ("show", 2),
        ("show absent.json", 2),
        ("show directory", 2),
        ("show no_such_scenario", 2),
        ("hash absent.json", 2),
        ("hash directory", 2),
        (f"run {FIXTURE} -p greedy -o directory", 2),
        ("run absent.json -p greedy", 2),
        ("run --suite absent -p greedy", 2),
    ],
)
def test_exit_codes(invoke: Invoke, arguments: str, code: int) -> None:
    done = invoke(*arguments.split())
    assert done.exit_code == code, done.output
    assert "Traceback" not in done.output
    if code == 1:
        assert len(done.output.strip().splitlines()) == 1


@pytest.mark.parametrize("code", [0, 1, 2])
def test_a_real_process_exits_with_them_too(ember: Callable[..., Process], code: int) -> None:
    done = ember("verify", ["good.json", "bad.json", "absent.json"][code])
    assert done.returncode == code
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize(
    "arguments",
    [
        "verify absent.json",
        "show bad.json",
        "show absent.json",
        "hash latin1.json",
        f"run {FIXTURE} -p nobody",
        "suite check nowhere",
        "run bad.json -p stay",
    ],
)
def test_a_failure_as_json_has_the_same_keys_everywhere(invoke: Invoke, arguments: str) -> None:
    plain, machine = invoke(*arguments.split()), invoke(*arguments.split(), "--json")
    assert plain.exit_code == machine.exit_code
    assert plain.stdout == ""
    assert machine.stderr == ""
    answer = json.loads(machine.stdout)
    assert set(answer) == {"ok", "error"}
    assert answer["ok"] is False
    assert {"code", "message", "file", "place"} <= set(answer["error"])


def test_the_versions(invoke: Invoke) -> None:
    said = invoke("--version").stdout
    versions = f"simulator {SIMULATOR_VERSION}, observation {OBSERVATION_VERSION}"
    assert said == f"ember: {versions}, scenario schema {SCHEMA_VERSION}\n"


def test_a_file_that_may_not_be_read_is_one_line(invoke: Invoke, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*arguments: object, **options: object) -> None:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr("builtins.open", refuse)
    done = invoke("verify", "good.json", "--suite", "directory")
    assert done.exit_code == 2
    done = invoke("hash", "good.json")
    assert (done.exit_code, done.stderr) == (2, "ember: good.json: cannot be read (permission denied)\n")


@pytest.mark.parametrize(
    "arguments",
    ["show FILE", "hash FILE", "verify FILE", "suite check DIRECTORY", f"run {FIXTURE} -p stay -o FILE"],
)
def test_a_directory_that_may_not_be_entered_is_wrong_use(
    invoke: Invoke, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, arguments: str
) -> None:
    locked = str(tmp_path / "directory")

    def refuse(function: Callable[..., object]) -> Callable[..., object]:
        def refused(path: object, *more: object, **options: object) -> object:
            if isinstance(path, str | os.PathLike) and os.fspath(path).startswith(locked):
                raise PermissionError(13, "Permission denied", os.fspath(path))
            return function(path, *more, **options)

        return refused

    for name in ("os.stat", "os.lstat", "os.listdir", "builtins.open"):
        module, _, function = name.partition(".")
        monkeypatch.setattr(name, refuse(getattr(sys.modules[module], function)))
    named = arguments.replace("FILE", f"{locked}/x.json").replace("DIRECTORY", locked)
    done = invoke(*named.split())
    assert (done.exit_code, len(done.stderr.splitlines())) == (2, 1)
    assert done.stderr.startswith(f"ember: {locked}")
    assert "(permission denied)" in done.stderr


def test_a_name_that_no_file_can_have_is_one_line(invoke: Invoke) -> None:
    for command in ("hash", "verify"):
        done = invoke(command, "a\0b")
        assert done.exit_code == 2
        assert len(done.stderr.splitlines()) == 1


def test_a_fault_of_our_own_is_one_line_and_whole_on_request(
    invoke: Invoke, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*arguments: object) -> None:
        raise RuntimeError("it broke")

    monkeypatch.setattr("simulator.command.hash.file_read", fail)
    done = invoke("hash", "good.json")
    assert done.exit_code == 1
    assert done.stderr == (
        "ember: this is a fault of ember itself (RuntimeError: it broke); --debug shows where\n"
    )
    assert "Traceback" in invoke("hash", "good.json", "--debug").stderr
    assert json.loads(invoke("hash", "good.json", "--json").stdout)["error"]["code"] == "internal"


def test_a_reader_that_stops_early_ends_the_command_quietly(tmp_path: Path) -> None:
    (tmp_path / "many.jsonl").write_text("{}\n" * 2000)
    process = subprocess.Popen(
        ember_command("verify", "many.jsonl"),
        cwd=tmp_path,
        env=ember_environment(),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    assert process.stdout is not None
    assert process.stderr is not None
    process.stdout.readline()
    process.stdout.close()
    said = process.stderr.read()
    assert process.wait(timeout=PATIENCE_S) == 141
    assert said == b""


def test_ctrl_c_leaves_one_line_and_no_half_file(tmp_path: Path) -> None:
    (tmp_path / "waits.py").write_text(
        "import sys\n\n\ndef policy(observation):\n    print('ready', flush=True)\n    sys.stdin.readline()\n"
    )
    process = subprocess.Popen(
        ember_command("run", FIXTURE, "-p", "waits:policy", "-o", "r.json"),
        cwd=tmp_path,
        env=ember_environment(),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    assert process.stderr is not None
    assert process.stderr.readline() == b"ready\n"
    before = {path.name for path in tmp_path.iterdir()}
    assert any(name.endswith(".part") for name in before)
    process.send_signal(signal.SIGINT)
    _, said = process.communicate(timeout=PATIENCE_S)
    assert process.returncode == 130
    assert said == b"ember: interrupted\n"
    assert not any(path.name.endswith((".part", "r.json")) for path in tmp_path.iterdir())


def test_a_terminal_without_umlauts_gets_codes_and_no_error(tmp_path: Path) -> None:
    document = json.loads((PUBLIC / "v1-pub-01-single-exit-sparse.json").read_text())
    (tmp_path / "s.json").write_text(json.dumps({**document, "description": "Tür"}))
    environment = {**ember_environment(), "PYTHONIOENCODING": "ascii"}
    done = subprocess.run(
        ember_command("show", "s.json"),
        cwd=tmp_path,
        env=environment,
        capture_output=True,
        timeout=PATIENCE_S,
        check=False,
    )
    assert done.returncode == 0
    assert b"T\\xfcr" in done.stdout


def test_a_file_name_that_is_no_utf8_is_shown_and_read(tmp_path: Path, greedy_lines: list[str]) -> None:
    name = os.fsencode(tmp_path) + b"/\xff.json"
    with open(name, "w") as stream:
        stream.write(greedy_lines[0])
    done = subprocess.run(
        [*map(os.fsencode, ember_command("verify")), name],
        env=ember_environment(),
        capture_output=True,
        timeout=PATIENCE_S,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert b"verified  4 of 4 evacuated" in done.stdout


def test_the_command_needs_no_web_framework() -> None:
    code = (
        "import sys, simulator.command.main as m; print(sorted({'django', 'ember_site'} & set(sys.modules)))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code],
        env=ember_environment(),
        capture_output=True,
        text=True,
        timeout=PATIENCE_S,
        check=False,
    )
    assert done.stdout == "[]\n"
