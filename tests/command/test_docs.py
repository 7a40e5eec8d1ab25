"""Every example of `docs/command.md` is run, and its tables are complete."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import typer.main

from simulator import VerdictCode
from simulator.command.main import app
from simulator.limits import LIMITS
from tests.command.conftest import ROOT, ember_environment
from tests.patience import PATIENCE_S

DOCUMENT = (ROOT / "docs" / "command.md").read_text()
BLOCKS = re.findall(r"```console\n(.*?)```", DOCUMENT, re.DOTALL)


def examples(block: str) -> list[tuple[str, list[str]]]:
    """(command, lines of output) of each example; a command goes on in lines that begin with `> `."""
    found: list[tuple[str, list[str]]] = []
    for line in block.splitlines():
        if line.startswith("$ "):
            found.append((line[2:], []))
        elif line.startswith("> "):
            found[-1] = (f"{found[-1][0]}\n{line[2:]}", [])
        else:
            found[-1][1].append(line)
    return found


def as_pattern(lines: list[str]) -> str:
    """`...` alone stands for any lines, inside a line for any text."""
    patterns = [
        r"(?:.*\n)*?" if line == "..." else re.escape(line).replace(r"\.\.\.", ".*") + r"\n" for line in lines
    ]
    return "".join(patterns)


@pytest.fixture(scope="module")
def checkout(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder that looks like a checkout to the examples, with `ember` on the path."""
    folder = tmp_path_factory.mktemp("checkout")
    (folder / "scenarios").symlink_to(ROOT / "scenarios")
    (folder / "bin").mkdir()
    script = folder / "bin" / "ember"
    script.write_text(f'#!/bin/sh\nexec {sys.executable} -m simulator.command "$@"\n')
    script.chmod(0o755)
    return folder


def test_the_examples_do_what_they_say(checkout: Path) -> None:
    assert len(BLOCKS) > 8
    environment = ember_environment()
    environment["PATH"] = f"{checkout / 'bin'}:{environment['PATH']}"
    for command, lines in (example for block in BLOCKS for example in examples(block)):
        done = subprocess.run(
            ["sh", "-c", f"exec 2>&1\n{command}\n"],
            cwd=checkout,
            env=environment,
            capture_output=True,
            text=True,
            timeout=PATIENCE_S,
            check=False,
        )
        assert re.fullmatch(as_pattern(lines), done.stdout), f"$ {command}\n{done.stdout}"


def test_every_command_and_option_is_described() -> None:
    group: Any = typer.main.get_command(app)
    commands = dict(group.commands)
    suite = commands.pop("suite")
    for name, command in {**commands, **{f"suite {n}": c for n, c in suite.commands.items()}}.items():
        assert f"## ember {name}\n" in DOCUMENT
        for parameter in command.params:
            for option in parameter.opts:
                if option.startswith("--"):
                    assert f"`{option}" in DOCUMENT, option


def test_every_code_is_listed_and_no_other() -> None:
    sources = "".join(path.read_text() for path in (ROOT / "simulator" / "command").glob("*.py"))
    used = set(re.findall(r'code(?:: str = |=)"(\w+)"', sources))
    table = DOCUMENT[DOCUMENT.index("| `error.code`") :]
    assert set(re.findall(r"^\| `(\w+)` \|", table, re.MULTILINE)) == used
    assert all(f"| `{code}` |" in DOCUMENT for code in VerdictCode)


def test_the_limits_are_the_enforced_ones() -> None:
    assert ", ".join(LIMITS.texts) in DOCUMENT
