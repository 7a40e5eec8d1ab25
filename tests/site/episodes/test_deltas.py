"""Snapshot and deltas give the observation: for random scenarios, actions and seeds."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ember_site.episodes.deltas import delta_between, observation_summary
from simulator import Simulator
from tests.simulator.builders import document_from_map, everyone, scenario_of, simulate
from tests.simulator.strategies import ActionChooser, action_choosers, scenario_documents
from tests.site.episodes.delta_apply import delta_apply


@settings(max_examples=150)
@given(scenario_documents(), action_choosers(), st.integers(0, 2**64 - 1))
def test_a_snapshot_and_the_deltas_after_it_give_every_later_observation(
    document: dict[str, Any], choose: ActionChooser, seed: int
) -> None:
    simulator = Simulator(scenario_of(document), seed)
    before = simulator.observe()
    held = before.to_dict()
    while not simulator.done:
        after = simulator.step(choose(simulator.active_ids))
        held = delta_apply(held, delta_between(before, after))
        assert held == after.to_dict()
        before = after


def test_a_delta_names_each_change_once() -> None:
    document = document_from_map("#####", "#ABX#", "#*..#", "#####")
    simulator = simulate(document, [])
    before = simulator.observe()
    delta = delta_between(before, simulator.step({"A": "south", "B": "east"}))
    assert delta == {
        "step": 1,
        "moved": [],
        "evacuated": [["B", 1, 3]],
        "casualties": [["A", 2, 1]],
        "ignitions": [[1, 1], [2, 2]],
    }


def test_a_delta_over_two_steps_is_refused() -> None:
    simulator = simulate(document_from_map("A..X"), [])
    first = simulator.observe()
    simulator.step(everyone(simulator))
    with pytest.raises(ValueError, match="expected step 1, got 2"):
        delta_between(first, simulator.step(everyone(simulator)))


def test_a_delta_that_leaves_a_gap_is_refused() -> None:
    simulator = simulate(document_from_map("A..X"), [])
    held = simulator.observe().to_dict()
    gap = {"step": 2, "moved": [], "evacuated": [], "casualties": [], "ignitions": []}
    with pytest.raises(ValueError, match="expected a delta of step 1, got 2"):
        delta_apply(held, gap)


def test_the_summary_counts_what_the_observation_shows() -> None:
    simulator = simulate(document_from_map("#####", "#ABX#", "#*..#", "#####"), [{"A": "stay", "B": "east"}])
    assert observation_summary(simulator.observe()) == {
        "population": 2,
        "evacuated": 1,
        "casualties": 1,
        "unresolved": 0,
        "steps": 1,
    }
