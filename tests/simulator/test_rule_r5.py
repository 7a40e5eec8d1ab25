"""R5: a burning exit lets nobody out."""

from __future__ import annotations

from typing import Any

import pytest

from tests.simulator.builders import document_from_map, last_step, record_of, simulate, statuses
from tests.simulator.rule_case_check import case_name, cases_of, check_rule_case


@pytest.mark.parametrize("case", cases_of("r5_"), ids=case_name)
def test_the_hand_made_cases_hold(case: dict[str, Any]) -> None:
    check_rule_case(case)


def test_whoever_reaches_an_exit_together_with_the_fire_is_evacuated() -> None:
    step = last_step(document_from_map("AX*"), {"A": "east"})
    assert step["evacuations"] == ["A"]
    assert [0, 1] in step["ignitions"]
    assert step["casualties"] == []


def test_an_exit_that_burned_at_the_start_of_the_step_is_a_casualty_trap() -> None:
    record = record_of(simulate(document_from_map(".AX*", "X..."), [{"A": "stay"}, {"A": "east"}]))
    assert record["steps"][1]["evacuations"] == []
    assert record["steps"][1]["casualties"] == [{"id": "A", "cause": "entered_fire"}]


def test_a_burning_exit_refuses_where_fire_blocks() -> None:
    document = document_from_map("A@", "X.", fire={"spread_interval": 5}, enter_fire="blocked")
    step = last_step(document, {"A": "east"})
    assert step["movements"] == {"A": "blocked_fire"}
    assert statuses(step) == {"A": "active"}


def test_an_exit_that_cannot_burn_stays_usable_in_the_middle_of_the_fire() -> None:
    document = document_from_map("A.", "X*", fire={"spread_interval": 1, "exits_flammable": False})
    record = record_of(simulate(document, [{"A": "south"}]))
    assert record["steps"][0]["evacuations"] == ["A"]
    assert [1, 0] not in record["steps"][0]["ignitions"]


def test_fire_does_not_cross_an_exit_that_cannot_burn() -> None:
    document = document_from_map("*X.A", fire={"exits_flammable": False})
    record = record_of(simulate(document, [{"A": "stay"}] * 5))
    assert [step["ignitions"] for step in record["steps"]] == [[]] * 5
