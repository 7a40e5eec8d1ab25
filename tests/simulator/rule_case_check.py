"""Check one hand-made rule case completely: every step, the positions and the record digest."""

from __future__ import annotations

from typing import Any

from tests.simulator.boards import board
from tests.simulator.builders import positions, record_of, rule_cases, simulate


def cases_of(*prefixes: str) -> list[Any]:
    """The rule cases whose names start with one of the prefixes; never an empty list."""
    chosen = [case for case in rule_cases() if case["name"].startswith(prefixes)]
    assert chosen, f"no rule case starts with {prefixes}"
    return chosen


def case_name(case: dict[str, Any]) -> str:
    """The name of a case, for the test report."""
    return str(case["name"])


def check_rule_case(case: dict[str, Any]) -> None:
    """Play the case and compare each step with what the case expects."""
    document = case["scenario"]
    simulator = simulate(document, case["actions"], case["seed"])
    record = record_of(simulator)
    assert record["initial"]["trapped"] == case["initial_trapped"]
    assert len(record["steps"]) == len(case["expected"])
    for index, (step, expected) in enumerate(zip(record["steps"], case["expected"], strict=True)):
        where = f"{case['name']}, step {index + 1}\n{board(document, record, index + 1)}"
        for key in ("movements", "evacuations", "casualties", "ignitions"):
            assert step[key] == expected[key], f"{key} in {where}"
        assert step["state"]["trapped"] == expected["trapped"], f"trapped in {where}"
        if "pos" in expected:
            assert positions(step) == {key: tuple(cell) for key, cell in expected["pos"].items()}, where
        if "burning" in expected:
            assert step["state"]["burning"] == expected["burning"], where
        if "draws" in expected:
            assert step["state"]["fire_draws"] == expected["draws"], where
    end = record["termination"] and record["termination"]["reason"]
    assert end == case["expected"][-1]["end"]
    assert simulator.record().digest == case["record_digest"]
