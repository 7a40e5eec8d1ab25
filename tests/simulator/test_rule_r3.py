"""R3: rotations are blocked, open chains are not."""

from __future__ import annotations

from typing import Any

import pytest

from tests.simulator.builders import document_from_map, last_step, movements, positions
from tests.simulator.rule_case_check import case_name, cases_of, check_rule_case


@pytest.mark.parametrize("case", cases_of("r3_"), ids=case_name)
def test_the_hand_made_cases_hold(case: dict[str, Any]) -> None:
    check_rule_case(case)


def test_a_rotation_of_four_is_blocked() -> None:
    document = document_from_map("AB.", "DCX")
    assert movements(document, {"A": "east", "B": "south", "C": "west", "D": "north"}) == dict.fromkeys(
        "ABCD", "blocked_cycle"
    )


def test_a_rotation_around_a_pillar_is_blocked() -> None:
    document = document_from_map("ABC.", "H#D.", "GFEX")
    actions = {"A": "east", "B": "east", "C": "south", "D": "south", "E": "west", "F": "west", "G": "north"}
    assert movements(document, {**actions, "H": "north"}) == dict.fromkeys("ABCDEFGH", "blocked_cycle")


def test_an_outsider_with_a_higher_id_does_not_break_the_rotation() -> None:
    document = document_from_map("ABZ", "DCX")
    result = movements(document, {"A": "east", "B": "south", "C": "west", "D": "north", "Z": "west"})
    assert result == {**dict.fromkeys("ABCD", "blocked_cycle"), "Z": "blocked_conflict"}


def test_an_outsider_with_a_lower_id_beats_one_member_and_the_chain_is_occupied() -> None:
    document = document_from_map("BCA", "EDX")
    result = movements(document, {"A": "west", "B": "east", "C": "south", "D": "west", "E": "north"})
    assert result == {
        "A": "blocked_occupied",
        "B": "blocked_conflict",
        "C": "blocked_occupied",
        "D": "blocked_occupied",
        "E": "blocked_occupied",
    }


def test_an_open_chain_moves_at_full_speed() -> None:
    step = last_step(document_from_map("CAB.X"), {"A": "east", "B": "east", "C": "east"})
    assert set(step["movements"].values()) == {"moved"}
    assert positions(step) == {"C": (0, 1), "A": (0, 2), "B": (0, 3)}


def test_a_chain_stops_as_a_whole_when_its_head_stops() -> None:
    assert movements(document_from_map("CAB#X"), {"A": "east", "B": "east", "C": "east"}) == {
        "A": "blocked_occupied",
        "B": "blocked_wall",
        "C": "blocked_occupied",
    }


def test_a_tail_that_runs_into_a_rotation_is_blocked() -> None:
    # T aims at the cell that D aims at as well; D has the lower ID and stays part of the rotation.
    document = document_from_map("TAB", ".DC", "..X")
    result = movements(document, {"A": "east", "B": "south", "C": "west", "D": "north", "T": "east"})
    assert result == {**dict.fromkeys("ABCD", "blocked_cycle"), "T": "blocked_conflict"}
