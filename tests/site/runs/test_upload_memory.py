"""An upload needs little memory, whatever is in it: measured in fresh processes."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

from tests.site_server import ROOT

BENCHMARK = ROOT / "benchmarks" / "upload_memory.py"
MIB = 1024 * 1024
CEILING_BYTES = 320 * MIB


@pytest.mark.parametrize(
    ("case", "outcome"),
    [
        ("gzip bomb of 2 GiB", "refused, limit_exceeded"),
        ("2,000 records", "2000 taken, verified"),
        ("one record of 64 MiB, the last position changed", "1 taken, replay_mismatch steps["),
        ("64 MiB of small objects", "refused, limit_exceeded line 1, steps[0]"),
        ("64 MiB of distinct actions", "refused, limit_exceeded line 1, steps[0]"),
    ],
)
def test_an_upload_stays_under_the_stated_ceiling(case: str, outcome: str) -> None:
    done = subprocess.run(
        [sys.executable, str(BENCHMARK), "--json", "--path", "site", "--case", case],
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    figure = json.loads(done.stdout)
    assert figure["outcome"].startswith(outcome)
    assert figure["grown_bytes"] <= CEILING_BYTES, figure
