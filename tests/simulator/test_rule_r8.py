"""R8: nothing burns out."""

from __future__ import annotations

import pytest

from simulator import Simulator
from tests.simulator.builders import Document, document_from_map, everyone, golden_cases, scenario_of

DOCUMENTS = [
    document_from_map("*....", "..#..", "A...X", "#####", "B#..X", enter_fire="blocked", max_steps=20),
    document_from_map(
        "*....",
        "..#..",
        "A...X",
        fire={"model": "stochastic", "spread_probability": 0.4},
        max_steps=20,
        seed=7,
    ),
    *[case["scenario"] for case in golden_cases()[:10]],
]


@pytest.mark.parametrize("document", DOCUMENTS)
def test_the_burning_set_never_shrinks(document: Document) -> None:
    simulator = Simulator(scenario_of(document))
    burning = simulator.observe().burning
    while not simulator.done:
        after = simulator.step(everyone(simulator)).burning
        assert burning <= after
        burning = after


def test_a_burning_exit_never_becomes_usable_again() -> None:
    document = document_from_map("B#A@", "##..", "X...", fire={"spread_interval": 2}, enter_fire="blocked")
    simulator = Simulator(scenario_of(document))
    for _ in range(8):
        simulator.step(everyone(simulator))
        assert (0, 3) in simulator.observe().burning
