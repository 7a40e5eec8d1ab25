"""The benchmarks run, and the replay check keeps its bound."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

from tests.command.conftest import ROOT, ember_environment


@pytest.mark.parametrize(
    ("script", "options"),
    [
        ("replay_vs_json.py", ["--rounds", "7"]),
        ("step_speed.py", ["--rounds", "1"]),
        ("verify_throughput.py", ["--records", "12"]),
    ],
)
def test_each_benchmark_prints_its_figures(script: str, options: list[str]) -> None:
    done = subprocess.run(
        [sys.executable, str(ROOT / "benchmarks" / script), *options, "--json"],
        env=ember_environment(),
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    figures = json.loads(done.stdout)
    if script == "replay_vs_json.py":
        assert 0 < figures["ratio_best"] <= 3.0
        assert figures["ratio_median"] <= figures["bound"] == 3.0
    if script == "verify_throughput.py":
        assert figures["verified"] == figures["records"] == 12
