"""Builders for test scenarios: they take only what a test is about."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from simulator import Scenario, Simulator
from tests.simulator.reference_engine import ReferenceEngine

DATA = Path(__file__).resolve().parent.parent / "data"
ROOT = DATA.parent.parent
PUBLIC_SUITE = ROOT / "scenarios" / "public" / "v1"
FIXTURES = ROOT / "scenarios" / "fixtures"

Document = dict[str, Any]
Actions = list[dict[str, str]]


def document_from_map(
    *rows: str,
    names: Mapping[str, str] | None = None,
    fire: Mapping[str, Any] | None = None,
    enter_fire: str = "casualty",
    max_steps: int = 50,
    seed: int = 0,
    scenario_id: str = "built",
) -> Document:
    """A scenario document from a drawn map.

    `#` wall, `.` floor, `*` ignition, `X` exit (`X1`, `X2`... in reading order), `@` exit
    that is an ignition too; every other character is a person whose ID is that character,
    or what `names` says.
    """
    document: Document = {
        "schema_version": "1.0",
        "scenario_id": scenario_id,
        "grid": {"width": len(rows[0]), "height": len(rows)},
        "obstacles": [],
        "exits": [],
        "people": [],
        "ignitions": [],
        "fire": {"model": "deterministic", "spread_interval": 1, "exits_flammable": True, **(fire or {})},
        "movement": {"conflict_resolution": "lowest_id_wins", "enter_fire": enter_fire},
        "termination": {"max_steps": max_steps},
        "seed": seed,
    }
    for row, line in enumerate(rows):
        assert len(line) == len(rows[0]), "the drawn map must be rectangular"
        for col, sign in enumerate(line):
            cell = [row, col]
            if sign == "#":
                document["obstacles"].append(cell)
            elif sign in "X@":
                document["exits"].append({"id": f"X{len(document['exits']) + 1}", "position": cell})
            elif sign not in ".*":
                document["people"].append({"id": (names or {}).get(sign, sign), "position": cell})
            if sign in "*@":
                document["ignitions"].append(cell)
    return document


def scenario_of(document: Document) -> Scenario:
    """The parsed scenario of a document."""
    return Scenario.from_json(json.dumps(document))


def simulate(document: Document, actions: Sequence[Mapping[str, str]], seed: int | None = None) -> Simulator:
    """A simulator that has played the given actions."""
    simulator = Simulator(scenario_of(document), seed)
    for chosen in actions:
        simulator.step(chosen)
    return simulator


def record_of(simulator: Simulator) -> dict[str, Any]:
    """The simulator's record as JSON values, through its canonical text."""
    result: dict[str, Any] = json.loads(simulator.record().to_json())
    return result


def last_step(document: Document, *actions: Mapping[str, str]) -> dict[str, Any]:
    """Play the actions and return the last step of the record."""
    steps = record_of(simulate(document, actions))["steps"]
    result: dict[str, Any] = steps[-1]
    return result


def movements(document: Document, *actions: Mapping[str, str]) -> dict[str, str]:
    """Play the actions and return the movement outcomes of the last step."""
    result: dict[str, str] = last_step(document, *actions)["movements"]
    return result


def positions(step: Mapping[str, Any]) -> dict[str, tuple[int, int]]:
    """Where everybody is after a step of a record."""
    return {person: tuple(state["position"]) for person, state in step["state"]["people"].items()}


def statuses(step: Mapping[str, Any]) -> dict[str, str]:
    """Everybody's status after a step of a record."""
    return {person: state["status"] for person, state in step["state"]["people"].items()}


def everyone(simulator: Simulator, action: str = "stay") -> dict[str, str]:
    """The same action for each active person."""
    return {person.id: action for person in simulator.observe().people if person.status.value == "active"}


def play_out(document: Document, seed: int | None = None, action: str = "stay") -> Simulator:
    """Give everybody the same action until the run ends."""
    simulator = Simulator(scenario_of(document), seed)
    while not simulator.done:
        simulator.step(everyone(simulator, action))
    return simulator


def rule_cases() -> list[dict[str, Any]]:
    """The hand-made rule cases of the independent reference implementation."""
    result: list[dict[str, Any]] = json.loads((DATA / "rule_cases.json").read_text())
    return result


def golden_cases() -> list[dict[str, Any]]:
    """The random adversarial runs of the independent reference implementation."""
    return [json.loads(line) for line in (DATA / "golden_cases.jsonl").read_text().splitlines()]


def public_documents() -> dict[str, Document]:
    """The ten public scenarios as JSON values, by scenario ID."""
    return {path.stem: json.loads(path.read_text()) for path in sorted(PUBLIC_SUITE.glob("v1-pub-*.json"))}


def reference_engine(document: Document, actions: Actions, seed: int | None = None) -> ReferenceEngine:
    """The naive engine after the same actions; stops with the run."""
    engine = ReferenceEngine(document, seed)
    for chosen in actions:
        engine.step(chosen)
    return engine
