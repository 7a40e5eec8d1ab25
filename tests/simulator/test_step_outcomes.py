"""Phases 1 to 3 and 5: outcomes of a step that concern one person alone."""

from __future__ import annotations

from typing import Any

import pytest

from tests.simulator.builders import document_from_map, last_step, movements, positions, record_of, simulate
from tests.simulator.rule_case_check import case_name, cases_of, check_rule_case


@pytest.mark.parametrize("case", cases_of("outcome_"), ids=case_name)
def test_the_hand_made_cases_hold(case: dict[str, Any]) -> None:
    check_rule_case(case)


@pytest.mark.parametrize(
    ("action", "cell"),
    [("north", (0, 1)), ("south", (2, 1)), ("east", (1, 2)), ("west", (1, 0)), ("stay", (1, 1))],
)
def test_each_direction_leads_to_its_neighbour(action: str, cell: tuple[int, int]) -> None:
    step = last_step(document_from_map("...X", ".A..", "...."), {"A": action})
    assert positions(step)["A"] == cell
    assert step["movements"] == {"A": "stayed" if action == "stay" else "moved"}


@pytest.mark.parametrize(
    ("action", "outcome"),
    [("north", "blocked_bounds"), ("west", "blocked_bounds"), ("south", "blocked_wall")],
)
def test_the_ground_refuses_the_edge_of_the_grid_and_walls(action: str, outcome: str) -> None:
    assert movements(document_from_map("A..X", "#..."), {"A": action}) == {"A": outcome}


def test_two_movers_into_the_same_wall_both_hear_of_the_wall() -> None:
    assert movements(document_from_map("A#BX"), {"A": "east", "B": "west"}) == {
        "A": "blocked_wall",
        "B": "blocked_wall",
    }


def test_two_movers_into_the_same_blocked_fire_both_hear_of_the_fire() -> None:
    document = document_from_map("A*BX", fire={"spread_interval": 9}, enter_fire="blocked")
    assert movements(document, {"A": "east", "B": "west"}) == {"A": "blocked_fire", "B": "blocked_fire"}


def test_a_person_refused_by_the_ground_blocks_the_follower() -> None:
    assert movements(document_from_map("BA#X"), {"A": "east", "B": "east"}) == {
        "A": "blocked_wall",
        "B": "blocked_occupied",
    }


def test_nobody_walks_through_a_person_who_stays() -> None:
    assert movements(document_from_map("AB.X"), {"A": "east", "B": "stay"}) == {
        "A": "blocked_occupied",
        "B": "stayed",
    }


def test_only_active_people_occupy_a_cell() -> None:
    # A burns on the cell next to B in step 1; with fire that may be entered B can move there.
    document = document_from_map("*A.B.X", fire={"spread_interval": 1})
    record = record_of(simulate(document, [{"A": "stay", "B": "stay"}, {"B": "west"}]))
    assert record["steps"][0]["casualties"] == [{"id": "A", "cause": "fire_spread"}]
    assert record["steps"][1]["movements"] == {"B": "moved"}


def test_the_position_of_the_evacuated_and_of_casualties_stays() -> None:
    document = document_from_map("A*..", ".BX.", ".C..", fire={"spread_interval": 2})
    record = record_of(simulate(document, [{"A": "east", "B": "east", "C": "stay"}, {"C": "stay"}]))
    people = record["steps"][-1]["state"]["people"]
    assert people["A"] == {"position": [0, 1], "status": "casualty"}
    assert people["B"] == {"position": [1, 2], "status": "evacuated"}
