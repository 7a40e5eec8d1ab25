"""Fire: draws, candidates and the equivalences of `burn` and `deadline` with the plain rules."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, settings

from simulator import Scenario
from simulator.fire import NEVER, FireTrajectory, fire_trajectory
from tests.simulator.builders import (
    Document,
    document_from_map,
    golden_cases,
    play_out,
    public_documents,
    record_of,
    scenario_of,
    simulate,
)
from tests.simulator.reference_engine import ReferenceEngine
from tests.simulator.rule_case_check import case_name, cases_of, check_rule_case
from tests.simulator.strategies import scenario_documents

ROOM = ("*....", "..#..", "A.#.X")


@pytest.mark.parametrize("case", cases_of("sto_"), ids=case_name)
def test_the_hand_made_cases_hold(case: dict[str, Any]) -> None:
    check_rule_case(case)


def stochastic(probability: float, interval: int = 1) -> dict[str, Any]:
    return {"model": "stochastic", "spread_interval": interval, "spread_probability": probability}


def test_deterministic_fire_takes_no_draws() -> None:
    record = record_of(play_out(document_from_map(*ROOM)))
    assert {step["state"]["fire_draws"] for step in record["steps"]} == {0}


@pytest.mark.parametrize("probability", [0, 1])
def test_draws_are_taken_at_the_ends_of_the_range_too(probability: int) -> None:
    record = record_of(
        simulate(document_from_map("*..", "A.X", fire=stochastic(probability)), [{"A": "east"}])
    )
    assert record["steps"][0]["state"]["fire_draws"] == 2
    assert len(record["steps"][0]["ignitions"]) == 2 * probability


def test_probability_zero_never_ignites_and_one_equals_the_deterministic_model() -> None:
    burning = {}
    for name, fire in {"zero": stochastic(0), "one": stochastic(1), "plain": {}}.items():
        document = document_from_map(*ROOM, fire=fire, max_steps=9)
        burning[name] = [step["ignitions"] for step in record_of(play_out(document))["steps"]]
    assert not any(burning["zero"])
    assert burning["one"] == burning["plain"][: len(burning["one"])]


def test_every_edge_is_drawn_even_after_the_candidate_is_lit() -> None:
    # The middle cell has four burning neighbours and nothing else can burn.
    document = document_from_map("#*##.", "*.*#.", "#*##A", "####X", fire=stochastic(1))
    record = record_of(simulate(document, [{"A": "stay"}]))
    assert record["steps"][0]["ignitions"] == [[1, 1]]
    assert record["steps"][0]["state"]["fire_draws"] == 4


def test_no_draws_are_taken_between_two_intervals() -> None:
    document = document_from_map("*....", "#####", "A...X", fire=stochastic(0, interval=3), max_steps=7)
    record = record_of(play_out(document))
    assert [step["state"]["fire_draws"] for step in record["steps"]] == [0, 0, 1, 1, 1, 2, 2]


def test_walls_and_exits_that_cannot_burn_are_no_candidates() -> None:
    fire = {**stochastic(1), "exits_flammable": False}
    document = document_from_map("#*X", "##.", "A.X", fire=fire)
    record = record_of(simulate(document, [{"A": "stay"}]))
    assert record["steps"][0]["state"]["fire_draws"] == 0
    assert record["steps"][0]["ignitions"] == []


def test_a_draw_equal_to_the_probability_does_not_ignite() -> None:
    plain = ReferenceEngine(document_from_map("*.", "AX", fire=stochastic(0.5)))
    first = plain.stream.uniform()
    for probability, ignites in ((first, False), (first + 2.0**-53, True)):
        document = document_from_map("*.#", "##A", "##X", fire=stochastic(probability))
        assert bool(record_of(simulate(document, [{"A": "stay"}]))["steps"][0]["ignitions"]) is ignites


def plain_history(document: Document, seed: int, steps: int) -> list[tuple[frozenset[Any], int]]:
    """Burning set and draws after each step by the plain phase 7, without any people."""
    engine = ReferenceEngine(document, seed)
    history = [(frozenset(engine.burning), 0)]
    for number in range(1, steps + 1):
        engine.spread(number)
        history.append((frozenset(engine.burning), engine.stream.drawn))
    return history


def assert_trajectory_is_plain(document: Document, seed: int, steps: int) -> None:
    trajectory = FireTrajectory(scenario_of(document), seed)
    trajectory.reach(steps)
    positions = trajectory.ground.positions
    burning = {tuple(cell) for cell in document["ignitions"]}
    for step, (expected, draws) in enumerate(plain_history(document, seed, steps)):
        ignited = [tuple(positions[cell]) for cell in trajectory.ignitions[step]]
        assert ignited == sorted(ignited)
        burning |= set(ignited)
        assert burning == expected, f"step {step}"
        assert trajectory.burning[step] == len(expected)
        assert trajectory.draws[step] == draws
        by_burn = {tuple(positions[cell]) for cell, since in enumerate(trajectory.burn) if since <= step}
        assert by_burn == expected, f"burn, step {step}"


def assert_deadline_is_the_search(document: Document, seed: int, steps: int) -> None:
    """`deadline <= t` says exactly who the breadth-first search finds trapped, for every free cell."""
    trajectory = FireTrajectory(scenario_of(document), seed)
    trajectory.reach(steps)
    engine = ReferenceEngine(document, seed)
    cells = [
        (row, col)
        for row in range(document["grid"]["height"])
        for col in range(document["grid"]["width"])
        if (row, col) not in engine.walls
    ]
    for step in range(steps + 1):
        if step:
            engine.spread(step)
        for cell in cells:
            deadline = trajectory.deadline[trajectory.ground.cell(cell)]
            assert (deadline <= step) is not engine.escape_exists(cell), f"cell {cell}, step {step}"


@settings(max_examples=40)
@given(scenario_documents(largest_side=7))
def test_the_trajectory_equals_the_plain_phase_seven(document: Document) -> None:
    assert_trajectory_is_plain(document, document["seed"], min(25, document["termination"]["max_steps"]))


@settings(max_examples=40)
@given(scenario_documents(largest_side=7))
def test_the_deadline_equals_a_search_at_every_step(document: Document) -> None:
    assert_deadline_is_the_search(document, document["seed"], min(25, document["termination"]["max_steps"]))


@pytest.mark.parametrize("document", public_documents().values(), ids=public_documents())
@pytest.mark.parametrize("seed", [0, 11])
def test_trajectory_and_deadline_hold_on_the_public_suite(document: Document, seed: int) -> None:
    assert_trajectory_is_plain(document, seed, 24)
    if document["grid"]["width"] * document["grid"]["height"] < 250:
        assert_deadline_is_the_search(document, seed, 24)


@pytest.mark.parametrize("case", golden_cases()[::4], ids=lambda case: f"case-{case['case']}")
def test_trajectory_and_deadline_hold_on_golden_scenarios(case: dict[str, Any]) -> None:
    steps = case["scenario"]["termination"]["max_steps"]
    assert_trajectory_is_plain(case["scenario"], case["seed"], steps)
    assert_deadline_is_the_search(case["scenario"], case["seed"], steps)


def test_a_cell_without_any_way_out_has_deadline_zero() -> None:
    trajectory = FireTrajectory(scenario_of(document_from_map("A#X", "##B", "*..")), 0)
    assert trajectory.deadline[trajectory.ground.cell((0, 0))] == 0
    assert trajectory.deadline[trajectory.ground.cell((1, 2))] > 0


def test_a_way_that_never_burns_has_no_deadline() -> None:
    trajectory = FireTrajectory(scenario_of(document_from_map("A.X", "###", "*..")), 0)
    assert trajectory.deadline[trajectory.ground.cell((0, 0))] >= NEVER


def test_reaching_further_in_small_and_in_large_stretches_is_the_same() -> None:
    document = document_from_map("*" + "." * 120, "#" * 121, "A" + "." * 119 + "X", max_steps=300)
    document["fire"] = {**stochastic(0.5), "exits_flammable": True}
    scenario = Scenario.from_json(json.dumps(document))
    small, large = FireTrajectory(scenario, 5), FireTrajectory(scenario, 5)
    for step in range(301):
        small.reach(step)
    large.reach(300)
    assert (small.burn, small.burning, small.draws, small.deadline) == (
        large.burn,
        large.burning,
        large.draws,
        large.deadline,
    )
    assert small.ignitions == large.ignitions


def test_the_seed_changes_stochastic_fire_only() -> None:
    plain = scenario_of(document_from_map(*ROOM))
    assert fire_trajectory(plain, 1).burn == fire_trajectory(plain, 2).burn
    random = scenario_of(document_from_map(*ROOM, fire=stochastic(0.5)))
    seeds = {tuple(fire_trajectory(random, seed).burn) for seed in range(8)}
    assert len(seeds) > 1
