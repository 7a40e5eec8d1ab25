"""What usually lies behind a refusal, in a sentence or two for the person who sent the record."""

from __future__ import annotations

import re

from ember_site.runs.models import Run, RunState
from simulator import OBSERVATION_VERSION, SIMULATOR_VERSION

INDEX = re.compile(r"\[\d+\]")

CAUSES: tuple[tuple[str, str], ...] = (
    (
        r"header\.simulator_version",
        f"The record was made by another version of the simulator; make it again with {SIMULATOR_VERSION}.",
    ),
    (
        r"header\.observation_version",
        f"The agent was shown another observation; make the record again with version {OBSERVATION_VERSION}.",
    ),
    (
        r"header\.",
        "The header names another scenario than the one with this hash; the record was edited or mixed up.",
    ),
    (
        r"steps\[\]\.actions",
        "Each person who is active needs exactly one of stay, north, south, east, west in each step, "
        "and nobody else may have one.",
    ),
    (
        r"steps\[\]\.movements",
        "Often a tie broken by list order in place of ID order (rule R1), or outcomes written by a simulator "
        "of one's own. Later differences are not listed.",
    ),
    (
        r"(initial|steps\[\]\.state)\.(fire_draws|burning)|steps\[\]\.ignitions",
        "Another fire: a different seed, or a random stream of one's own. "
        "The fire depends on scenario and seed alone.",
    ),
    (
        r".*\.trapped",
        "Somebody counts as trapped when no exit can be reached any more before the fire (rule R9).",
    ),
    (
        r"steps\[\]\.(casualties|evacuations)|.*\.people",
        "People move before the fire spreads: who reaches an exit that did not burn before is out. "
        "Later differences are not listed.",
    ),
    (
        r"termination",
        "A run ends when nobody is active or at the step limit, and not before; steps may be missing.",
    ),
    (r"steps\[\]", "The record goes on after its run has ended, or its steps are numbered wrongly."),
)


def run_cause(run: Run) -> str:
    """The usual cause of the run's refusal; empty where there is none to tell."""
    if run.state == RunState.VERIFIED and run.ended is False:
        return "Let the run go on until nobody is active or the step limit is reached, then send all of it."
    if run.state != RunState.REJECTED:
        return ""
    if run.code == "scenario_unknown":
        return (
            "The scenario file was changed, or its suite is not on this site. "
            "The command ember hash prints a file's hash; the suite's page lists the known ones."
        )
    place = INDEX.sub("[]", run.place)
    return next((cause for pattern, cause in CAUSES if re.match(pattern, place)), "")
