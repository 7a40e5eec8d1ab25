"""The load of a crowd in short: counts, no times. The long form is `benchmarks/live_load.py` as it is."""

from __future__ import annotations

import json
import subprocess
import sys

from tests.patience import PATIENCE_S
from tests.site.episodes.web_process import ROOT

SHORT = {
    "--seconds": 12,
    "--rate": 15,
    "--people": 300,
    "--spectators": 30,
    "--stopped": 3,
    "--players": 5,
    "--slow-reader-s": 5,
}


def test_a_crowd_watches_without_a_hole_while_some_stop_reading_and_others_play() -> None:
    options = [word for name, value in SHORT.items() for word in (name, str(value))]
    done = subprocess.run(
        [sys.executable, str(ROOT / "benchmarks" / "live_load.py"), *options, "--json"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=10 * PATIENCE_S,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    figures = json.loads(done.stdout)
    site = figures["site"]
    assert (site["spectators"], site["readers"], site["readers_with_every_step"]) == (30, 27, 27)
    assert site["unannounced_gaps"] == 0
    assert site["stopped_closed"] + site["stopped_one_snapshot"] == site["stopped_readers"] == 3
    assert (site["players"], site["player_steps"], site["player_steps_not_applied"]) == (5, 60, 0)
    assert (site["player_gaps"], site["server_errors"]) == (0, 0)
    # The plain way made the same steps for as many people.
    assert (figures["plain"]["spectators"], figures["plain"]["steps"]) == (30, site["steps"])
