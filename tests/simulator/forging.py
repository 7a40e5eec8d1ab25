"""An honest record with every kind of event, and the ways to change one place of it."""

from __future__ import annotations

import copy
import json
from collections.abc import Iterator
from typing import Any

from simulator import Scenario, policies, replay
from tests.simulator.builders import document_from_map, simulate

Path = tuple[str | int, ...]

# A run with every kind of event: evacuations, both causes, blocked moves, trapped people, draws.
DOCUMENT = document_from_map(
    "*..C...X",
    "..#D#...",
    "A.#.....",
    ".B...G..",
    "#####.*.",
    "..E.#...",
    names={"C": "P10", "D": "P2"},
    fire={"model": "stochastic", "spread_interval": 1, "spread_probability": 0.55},
    max_steps=9,
    seed=2**63 + 5,
)
ACTIONS = [
    {"A": "south", "B": "east", "E": "west", "G": "south", "P10": "east", "P2": "south"},
    {"A": "north", "B": "east", "E": "west", "G": "east", "P10": "east", "P2": "south"},
]


def honest() -> dict[str, Any]:
    """The record of a run to the end: the actions above, then greedy, but E always west."""
    simulator = simulate(DOCUMENT, [])
    for scripted in [*ACTIONS, *[{}] * 20]:
        if simulator.done:
            break
        actions = {person: action.value for person, action in policies.greedy(simulator.observe()).items()}
        simulator.step({person: scripted.get(person, action) for person, action in actions.items()})
    result: dict[str, Any] = json.loads(simulator.record().to_json())
    return result


def verdict_of(record: Any, scenario: Scenario) -> tuple[str, str | None]:
    verdict = replay(json.dumps(record), scenario)
    assert verdict.message
    return str(verdict.code), verdict.place


def place_of(path: Path) -> str:
    text = ""
    for key in path:
        text += f"[{key}]" if isinstance(key, int) else f".{key}" if text else key
    return text


def walk(value: Any, path: Path = ()) -> Iterator[tuple[Path, Any]]:
    """Every node of a record; a position is one value and is not walked into."""
    yield path, value
    if isinstance(value, dict):
        for key, inner in value.items():
            yield from walk(inner, (*path, key))
    elif isinstance(value, list) and not is_cell(value):
        for index, inner in enumerate(value):
            yield from walk(inner, (*path, index))


def is_cell(value: Any) -> bool:
    return isinstance(value, list) and len(value) == 2 and all(type(number) is int for number in value)


def replaced(record: dict[str, Any], path: Path, value: Any) -> dict[str, Any]:
    forged = copy.deepcopy(record)
    node: Any = forged
    for key in path[:-1]:
        node = node[key]
    node[path[-1]] = value
    return forged


def without(record: dict[str, Any], path: Path) -> dict[str, Any]:
    forged = copy.deepcopy(record)
    node: Any = forged
    for key in path[:-1]:
        node = node[key]
    del node[path[-1]]
    return forged


def keyed_by_id(path: Path) -> bool:
    """Whether the node is an object keyed by person IDs."""
    return bool(path) and path[-1] in ("people", "actions", "movements")


def swap_first_two(values: list[Any]) -> list[Any]:
    """The list with its first two elements exchanged."""
    return [values[1], values[0], *values[2:]]
