"""R9: who counts as trapped."""

from __future__ import annotations

from typing import Any

import pytest

from tests.simulator.builders import document_from_map, play_out, record_of, simulate
from tests.simulator.rule_case_check import case_name, cases_of, check_rule_case


@pytest.mark.parametrize("case", cases_of("r9_"), ids=case_name)
def test_the_hand_made_cases_hold(case: dict[str, Any]) -> None:
    check_rule_case(case)


def test_walls_trap_from_the_start() -> None:
    record = record_of(simulate(document_from_map("A#.", "#.X", "B.."), []))
    assert record["initial"]["trapped"] == ["A"]


def test_fire_in_the_only_passage_traps() -> None:
    record = record_of(simulate(document_from_map("A.*.X", fire={"spread_interval": 9}), []))
    assert record["initial"]["trapped"] == ["A"]


def test_people_in_the_way_do_not_trap() -> None:
    record = record_of(simulate(document_from_map("ABCX"), []))
    assert record["initial"]["trapped"] == []


def test_an_exit_that_burns_is_no_way_out() -> None:
    record = record_of(simulate(document_from_map("A..@", fire={"spread_interval": 9}), []))
    assert record["initial"]["trapped"] == ["A"]


def test_a_path_may_cross_an_exit_cell() -> None:
    # The first exit burns later; what counts is any exit that does not burn, wherever the path leads.
    record = record_of(simulate(document_from_map("AX.X"), []))
    assert record["initial"]["trapped"] == []


def test_the_set_is_recomputed_after_every_step() -> None:
    document = document_from_map("A.....X", "#####..", "#####*#", fire={"spread_interval": 1})
    record = record_of(simulate(document, [{"A": "stay"}] * 3))
    assert [step["state"]["trapped"] for step in record["steps"]] == [[], ["A"], ["A"]]


def test_the_evacuated_and_casualties_are_not_trapped() -> None:
    document = document_from_map("AX#B*", fire={"spread_interval": 1})
    record = record_of(simulate(document, [{"A": "east", "B": "stay"}]))
    assert record["initial"]["trapped"] == ["B"]
    assert record["steps"][0]["state"]["trapped"] == []


def test_trapped_people_still_act_and_the_run_goes_on() -> None:
    record = record_of(play_out(document_from_map("A.#X", max_steps=4), action="east"))
    assert record["termination"] == {"reason": "max_steps", "step": 4}
    assert [step["movements"]["A"] for step in record["steps"]] == ["moved"] + ["blocked_wall"] * 3
