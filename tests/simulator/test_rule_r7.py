"""R7: when fire starts and spreads."""

from __future__ import annotations

from typing import Any

import pytest

from simulator import Simulator
from tests.simulator.builders import document_from_map, last_step, play_out, record_of, scenario_of, simulate
from tests.simulator.rule_case_check import case_name, cases_of, check_rule_case


@pytest.mark.parametrize("case", cases_of("r7_"), ids=case_name)
def test_the_hand_made_cases_hold(case: dict[str, Any]) -> None:
    check_rule_case(case)


def test_the_ignitions_burn_in_the_first_observation() -> None:
    simulator = Simulator(scenario_of(document_from_map("A*.X")))
    assert simulator.observe().burning == frozenset({(0, 1)})


@pytest.mark.parametrize("interval", [1, 2, 3, 5])
def test_fire_spreads_on_multiples_of_the_interval_only(interval: int) -> None:
    document = document_from_map(
        "*.......", "########", "A......X", fire={"spread_interval": interval}, max_steps=10
    )
    record = record_of(play_out(document))
    spread = [step["step"] for step in record["steps"] if step["ignitions"]]
    assert spread == [number for number in range(1, 11) if number % interval == 0][:7]


def test_whoever_leaves_a_cell_that_ignites_survives() -> None:
    step = last_step(document_from_map("*A..X"), {"A": "east"})
    assert step["ignitions"] == [[0, 1]]
    assert step["casualties"] == []


def test_whoever_stays_on_a_cell_that_ignites_is_a_casualty_of_the_spread() -> None:
    step = last_step(document_from_map("*A..X"), {"A": "stay"})
    assert step["casualties"] == [{"id": "A", "cause": "fire_spread"}]


def test_new_fire_is_in_the_next_observation() -> None:
    simulator = simulate(document_from_map("*...AX"), [{"A": "stay"}])
    assert simulator.observe().burning == frozenset({(0, 0), (0, 1)})


def test_new_fire_does_not_spread_in_the_same_step() -> None:
    assert last_step(document_from_map("*...AX"), {"A": "stay"})["ignitions"] == [[0, 1]]
