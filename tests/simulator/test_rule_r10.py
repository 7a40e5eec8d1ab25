"""R10: how a run ends."""

from __future__ import annotations

from typing import Any

import pytest

from simulator import SimulationError, Simulator
from tests.simulator.builders import document_from_map, play_out, record_of, scenario_of, simulate
from tests.simulator.rule_case_check import case_name, cases_of, check_rule_case


@pytest.mark.parametrize("case", cases_of("r10_"), ids=case_name)
def test_the_hand_made_cases_hold(case: dict[str, Any]) -> None:
    check_rule_case(case)


def test_a_run_ends_when_nobody_is_active() -> None:
    record = record_of(simulate(document_from_map("AX"), [{"A": "east"}]))
    assert record["termination"] == {"reason": "all_resolved", "step": 1}


def test_all_resolved_wins_on_the_last_step() -> None:
    record = record_of(simulate(document_from_map("AX", max_steps=1), [{"A": "east"}]))
    assert record["termination"] == {"reason": "all_resolved", "step": 1}


def test_a_run_ends_at_max_steps_with_people_still_active() -> None:
    record = record_of(play_out(document_from_map("A.X", max_steps=3)))
    assert record["termination"] == {"reason": "max_steps", "step": 3}
    assert len(record["steps"]) == 3


def test_casualties_resolve_a_run_too() -> None:
    record = record_of(play_out(document_from_map("*A.X")))
    assert record["termination"] == {"reason": "all_resolved", "step": 1}


def test_a_run_does_not_end_because_everybody_is_trapped() -> None:
    record = record_of(play_out(document_from_map("A#X", max_steps=5)))
    assert record["initial"]["trapped"] == ["A"]
    assert record["termination"] == {"reason": "max_steps", "step": 5}


def test_a_run_that_has_not_ended_has_no_termination() -> None:
    simulator = simulate(document_from_map("A.X"), [{"A": "east"}])
    assert not simulator.done
    assert simulator.termination is None
    assert record_of(simulator)["termination"] is None


def test_a_terminated_simulator_refuses_to_step() -> None:
    simulator = simulate(document_from_map("AX"), [{"A": "east"}])
    before = simulator.record().to_json()
    assert simulator.done
    for actions in ({}, {"A": "stay"}):
        with pytest.raises(SimulationError):
            simulator.step(actions)
    assert simulator.record().to_json() == before


def test_termination_tells_reason_and_step() -> None:
    simulator = simulate(document_from_map("A.X", max_steps=1), [{"A": "stay"}])
    assert simulator.termination is not None
    assert str(simulator.termination.reason) == "max_steps"
    assert simulator.termination.step == 1
    assert simulator.step_count == 1


def test_evacuation_comes_before_casualties_inside_a_step() -> None:
    record = record_of(simulate(document_from_map("AX*", ".B#", "X.#"), [{"A": "east", "B": "stay"}]))
    assert record["steps"][0]["evacuations"] == ["A"]
    assert record["steps"][0]["casualties"] == []


def test_a_scenario_starts_running_even_if_everybody_is_trapped() -> None:
    assert not Simulator(scenario_of(document_from_map("A#X"))).done
