"""R6: entering fire is refused or deadly, as the scenario says."""

from __future__ import annotations

from typing import Any

import pytest

from tests.simulator.builders import document_from_map, last_step, positions, statuses
from tests.simulator.rule_case_check import case_name, cases_of, check_rule_case


@pytest.mark.parametrize("case", cases_of("r6_"), ids=case_name)
def test_the_hand_made_cases_hold(case: dict[str, Any]) -> None:
    check_rule_case(case)


def test_blocked_refuses_the_move_and_changes_nothing() -> None:
    document = document_from_map("A*.X", fire={"spread_interval": 7}, enter_fire="blocked")
    step = last_step(document, {"A": "east"})
    assert step["movements"] == {"A": "blocked_fire"}
    assert positions(step) == {"A": (0, 0)}
    assert step["casualties"] == []


def test_casualty_lets_the_person_move_and_die_there() -> None:
    step = last_step(document_from_map("A*.X", fire={"spread_interval": 7}), {"A": "east"})
    assert step["movements"] == {"A": "moved"}
    assert step["casualties"] == [{"id": "A", "cause": "entered_fire"}]
    assert positions(step) == {"A": (0, 1)}
    assert statuses(step) == {"A": "casualty"}


def test_the_cause_is_entered_fire_even_when_the_fire_also_spreads() -> None:
    step = last_step(document_from_map("A*.X"), {"A": "east"})
    assert step["casualties"] == [{"id": "A", "cause": "entered_fire"}]


def test_a_cell_that_ignites_in_this_step_was_not_burning_at_its_start() -> None:
    step = last_step(document_from_map("A.*X", enter_fire="blocked"), {"A": "east"})
    assert step["movements"] == {"A": "moved"}
    assert step["casualties"] == [{"id": "A", "cause": "fire_spread"}]


def test_a_chain_may_follow_somebody_into_the_fire() -> None:
    step = last_step(document_from_map("BA*X", fire={"spread_interval": 7}), {"A": "east", "B": "east"})
    assert step["movements"] == {"A": "moved", "B": "moved"}
    assert statuses(step) == {"A": "casualty", "B": "active"}
