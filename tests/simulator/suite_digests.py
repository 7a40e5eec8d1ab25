"""Write `tests/data/suite_digests.json`: the baselines' runs of the public suite.

Run it only together with a new simulator version and a changelog line under *Rules*:

    python -m tests.simulator.suite_digests
"""

from __future__ import annotations

import json
from typing import Any

from simulator import SIMULATOR_VERSION, RunRecord, Scenario, policies, run_episode
from tests.simulator.builders import DATA, PUBLIC_SUITE

LETTERS = {".": "stay", "N": "north", "S": "south", "E": "east", "W": "west"}
PINNED_POLICIES = ("cautious", "greedy", "random", "stay")
NOTE = (
    "Made by this project's own simulator (python -m tests.simulator.suite_digests): record digests of the "
    "ten public scenarios with their own seed under each published baseline. Each string of actions is one "
    "step, one letter for each person active at its start, in ID order: '.' stay, N, S, E, W. Change it only "
    "together with the simulator version."
)


def actions_of(record: RunRecord) -> list[dict[str, str]]:
    """The actions of a record, one mapping for each step."""
    return [step["actions"] for step in record.to_dict()["steps"]]


def unpack(active: list[str], row: str) -> dict[str, str]:
    """The actions that a packed step stands for."""
    return {person: LETTERS[letter] for person, letter in zip(active, row, strict=True)}


def entry_of(scenario_id: str, policy: str, record: RunRecord) -> dict[str, Any]:
    """One run as it is pinned."""
    letters = {action: letter for letter, action in LETTERS.items()}
    assert record.termination is not None
    return {
        "scenario_id": scenario_id,
        "policy": policy,
        "digest": record.digest,
        "reason": record.termination.reason,
        "actions": [
            "".join(letters[actions[person]] for person in sorted(actions)) for actions in actions_of(record)
        ],
    }


def main() -> None:
    """Run everything and write the file."""
    runs = []
    for path in sorted(PUBLIC_SUITE.glob("v1-pub-*.json")):
        scenario = Scenario.from_json(path.read_bytes())
        for name in PINNED_POLICIES:
            record = run_episode(scenario, policies.BASELINES[name]())
            runs.append(entry_of(path.stem, name, record))
    document = {"note": NOTE, "simulator_version": SIMULATOR_VERSION, "runs": runs}
    (DATA / "suite_digests.json").write_text(json.dumps(document, indent=1) + "\n")


if __name__ == "__main__":
    main()
