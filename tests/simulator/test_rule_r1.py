"""R1: of several movers with one target the lowest person ID wins."""

from __future__ import annotations

from typing import Any

import pytest

from tests.simulator.builders import document_from_map, movements
from tests.simulator.rule_case_check import case_name, cases_of, check_rule_case


@pytest.mark.parametrize("case", cases_of("r1_"), ids=case_name)
def test_the_hand_made_cases_hold(case: dict[str, Any]) -> None:
    check_rule_case(case)


def test_the_lowest_id_wins_and_every_other_mover_is_blocked() -> None:
    document = document_from_map(".B.", "A.D", ".CX")
    assert movements(document, {"A": "east", "B": "south", "C": "north", "D": "west"}) == {
        "A": "moved",
        "B": "blocked_conflict",
        "C": "blocked_conflict",
        "D": "blocked_conflict",
    }


@pytest.mark.parametrize(
    ("winner", "loser"),
    [("P10", "P2"), ("-", "0"), ("9", "A"), ("Z", "_"), ("_", "a"), ("A", "AA"), ("P01", "P1")],
)
def test_ids_compare_by_code_point(winner: str, loser: str) -> None:
    document = document_from_map("a.bX", names={"a": loser, "b": winner})
    assert movements(document, {loser: "east", winner: "west"}) == {
        winner: "moved",
        loser: "blocked_conflict",
    }


def test_a_loser_is_not_re_awarded_the_cell() -> None:
    # A beats C for the cell of B, but B stays: neither gets it, although only A was in C's way.
    document = document_from_map("ABCX")
    assert movements(document, {"A": "east", "B": "stay", "C": "west"}) == {
        "A": "blocked_occupied",
        "B": "stayed",
        "C": "blocked_conflict",
    }


def test_a_loser_blocks_whoever_follows() -> None:
    document = document_from_map("DC.A", "...X")
    assert movements(document, {"A": "west", "C": "east", "D": "east"}) == {
        "A": "moved",
        "C": "blocked_conflict",
        "D": "blocked_occupied",
    }


def test_the_lowest_id_wins_an_exit_too() -> None:
    document = document_from_map("BXA")
    assert movements(document, {"A": "west", "B": "east"}) == {"A": "moved", "B": "blocked_conflict"}


def test_only_one_person_enters_a_burning_cell() -> None:
    document = document_from_map("A*BX", fire={"spread_interval": 9})
    assert movements(document, {"A": "east", "B": "west"}) == {"A": "moved", "B": "blocked_conflict"}
