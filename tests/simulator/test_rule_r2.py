"""R2: swaps are blocked."""

from __future__ import annotations

from typing import Any

import pytest

from tests.simulator.builders import document_from_map, last_step, movements, positions
from tests.simulator.rule_case_check import case_name, cases_of, check_rule_case


@pytest.mark.parametrize("case", cases_of("r2_"), ids=case_name)
def test_the_hand_made_cases_hold(case: dict[str, Any]) -> None:
    check_rule_case(case)


def test_two_people_cannot_exchange_cells() -> None:
    step = last_step(document_from_map("AB.X"), {"A": "east", "B": "west"})
    assert step["movements"] == {"A": "blocked_cycle", "B": "blocked_cycle"}
    assert positions(step) == {"A": (0, 0), "B": (0, 1)}


def test_a_swap_is_blocked_in_a_wide_passage_too() -> None:
    step = last_step(document_from_map("...", "A..", "B.X"), {"A": "south", "B": "north"})
    assert step["movements"] == {"A": "blocked_cycle", "B": "blocked_cycle"}


def test_a_follower_of_a_swap_is_blocked_as_occupied() -> None:
    # C aims at the cell of B, as A does; A has the lower ID, C loses before the cycle is seen.
    assert movements(document_from_map("ABCX"), {"A": "east", "B": "west", "C": "west"}) == {
        "A": "blocked_cycle",
        "B": "blocked_cycle",
        "C": "blocked_conflict",
    }


def test_an_outsider_with_a_lower_id_breaks_the_swap() -> None:
    assert movements(document_from_map("BCAX"), {"A": "west", "B": "east", "C": "west"}) == {
        "A": "blocked_occupied",
        "B": "blocked_conflict",
        "C": "blocked_occupied",
    }
