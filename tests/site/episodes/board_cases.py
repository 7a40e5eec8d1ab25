"""Cases that the browser's rules are checked against, made by the simulator.

`python -m tests.site.episodes.board_cases` writes them to tests/data/board_cases.json; a test
here compares the file with what this code gives, and tests/js read it.
"""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any

from ember_site.episodes.deltas import delta_between
from simulator import Scenario, Simulator, load_suite
from tests.simulator.builders import PUBLIC_SUITE, document_from_map, scenario_of

FILE = Path(__file__).resolve().parents[2] / "data" / "board_cases.json"
ACTIONS = ("stay", "north", "south", "east", "west")
CROWDS = 48


def cases() -> dict[str, Any]:
    """All cases, JSON-ready."""
    return {
        "about": "Made by tests/site/episodes/board_cases.py from the simulator; read by tests/js.",
        "steps": [_crowd_case(number) for number in range(CROWDS)],
        "fires": [_fire_case(scenario) for scenario in _certain_fires()],
        "episode": _episode_case(),
    }


def _certain_fires() -> list[Scenario]:
    scenarios = load_suite(PUBLIC_SUITE).scenarios
    return [scenario for scenario in scenarios if str(scenario.fire.model) == "deterministic"]


def _crowd_case(number: int) -> dict[str, Any]:
    """One crowded room after some steps: observation, actions, and the outcome of each person."""
    source = random.Random(number)
    width, height = source.randint(4, 7), source.randint(3, 5)
    cells = [(row, col) for row in range(height) for col in range(width)]
    source.shuffle(cells)
    rows = [["."] * width for _ in range(height)]
    letters = "ZaMb0kQ9cTxA"
    for kind in [*"X", *("#" * source.randint(0, 3)), *("*" * source.randint(0, 2))]:
        row, col = cells.pop()
        rows[row][col] = kind
    for letter in letters[: max(1, len(cells) * 2 // 3)]:
        row, col = cells.pop()
        rows[row][col] = letter
    document = document_from_map(
        *("".join(line) for line in rows),
        names={"0": "P10", "9": "P2"},
        enter_fire=source.choice(["blocked", "casualty"]),
        fire={"spread_interval": 2},
    )
    simulator = Simulator(scenario_of(document))
    for _ in range(source.randint(0, 2)):
        if simulator.done:
            break
        simulator.step({person: source.choice(ACTIONS) for person in simulator.active_ids})
    if simulator.done:
        return _crowd_case(number + 1000)
    observation = simulator.observe().to_dict()
    actions = {person: source.choice(ACTIONS[1:] + ACTIONS) for person in simulator.active_ids}
    simulator.step(actions)
    movements = json.loads(simulator.record().to_json())["steps"][-1]["movements"]
    return {"observation": observation, "actions": actions, "movements": movements}


def _fire_case(scenario: Scenario) -> dict[str, Any]:
    """The whole fire of a scenario: the step after which each cell burns, for the cells that ever do."""
    simulator = Simulator(scenario)
    observation = simulator.observe()
    first = observation.to_dict()
    burns = {f"{row},{col}": 0 for row, col in observation.burning}
    while not simulator.done:
        after = simulator.step(dict.fromkeys(simulator.active_ids, "stay"))
        for row, col in after.burning - observation.burning:
            burns[f"{row},{col}"] = after.step
        observation = after
    return {"observation": first, "burns": burns, "last_step": observation.step}


def _episode_case() -> dict[str, Any]:
    """Snapshot, deltas and the observation they lead to, for a short game."""
    document = document_from_map("######", "#A.B.X", "#*C..#", "######", fire={"spread_interval": 2})
    simulator = Simulator(scenario_of(document))
    first = before = simulator.observe()
    deltas = []
    for _ in range(4):
        after = simulator.step(dict.fromkeys(simulator.active_ids, "east"))
        deltas.append(delta_between(before, after))
        before = after
    return {"first": first.to_dict(), "deltas": deltas, "last": before.to_dict()}


def text() -> str:
    """The file."""
    return json.dumps(cases(), separators=(",", ":"), sort_keys=True) + "\n"


if __name__ == "__main__":
    FILE.write_text(text())
