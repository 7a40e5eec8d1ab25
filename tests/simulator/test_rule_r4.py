"""R4: one person for each exit cell and step, and no gaps in a queue."""

from __future__ import annotations

from typing import Any

import pytest

from tests.simulator.builders import document_from_map, last_step, record_of, simulate
from tests.simulator.rule_case_check import case_name, cases_of, check_rule_case


@pytest.mark.parametrize("case", cases_of("r4_"), ids=case_name)
def test_the_hand_made_cases_hold(case: dict[str, Any]) -> None:
    check_rule_case(case)


def test_a_queue_drains_one_person_a_step_without_gaps() -> None:
    document = document_from_map("DCBAX")
    record = record_of(simulate(document, [dict.fromkeys("ABCD"[index:], "east") for index in range(4)]))
    assert [step["evacuations"] for step in record["steps"]] == [["A"], ["B"], ["C"], ["D"]]
    assert all(set(step["movements"].values()) == {"moved"} for step in record["steps"])


def test_two_people_at_one_exit_take_two_steps() -> None:
    document = document_from_map("AXB")
    record = record_of(simulate(document, [{"A": "east", "B": "west"}, {"B": "west"}]))
    assert [step["evacuations"] for step in record["steps"]] == [["A"], ["B"]]


def test_two_adjacent_exits_let_two_people_through() -> None:
    step = last_step(document_from_map("AB", "XX"), {"A": "south", "B": "south"})
    assert step["evacuations"] == ["A", "B"]


def test_an_exit_is_empty_after_every_step() -> None:
    step = last_step(document_from_map("A.X", "..B"), {"A": "stay", "B": "north"})
    assert step["evacuations"] == ["B"]
    assert step["state"]["people"]["B"] == {"position": [0, 2], "status": "evacuated"}
