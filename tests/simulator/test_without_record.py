"""A simulator that keeps no record: the same run, in the same memory however long it goes on."""

from __future__ import annotations

import tracemalloc
from collections.abc import Callable
from random import Random

import pytest

from simulator import SimulationError, Simulator
from tests.simulator.builders import document_from_map, golden_cases, scenario_of

CROWD = "ABCDEFGHIJKLMNOPQRSTUVWY"
"""More than 20 people: Python keeps freed tuples of fewer for later, which would count as held."""
WALKERS = scenario_of(
    document_from_map(CROWD, "." * 24, "#" * 23 + "X", "*" + "#" * 23, max_steps=100_000),
)
BACK_AND_FORTH = ("south", "north")


def grown_bytes(simulator: Simulator, steps: int) -> int:
    """Memory that is held after so many steps on top of what was held before them."""
    actions = [dict.fromkeys(simulator.active_ids, action) for action in BACK_AND_FORTH]
    for step in range(64):
        simulator.step(actions[step % 2])
    tracemalloc.start()
    before, _ = tracemalloc.get_traced_memory()
    for step in range(steps):
        simulator.step(actions[step % 2])
    after, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    return after - before


def test_memory_does_not_grow_with_the_steps() -> None:
    assert grown_bytes(Simulator(WALKERS, keep_record=False), 1_000) < 4_096
    assert grown_bytes(Simulator(WALKERS), 1_000) > 100_000, "the measure sees a record that is kept"


@pytest.mark.parametrize("number", range(0, len(golden_cases()), 25))
def test_it_is_the_same_run(number: int) -> None:
    case = golden_cases()[number]
    scenario = scenario_of(case["scenario"])
    with_record = Simulator(scenario, case["seed"])
    without = Simulator(scenario, case["seed"], keep_record=False)
    choice = Random(number)
    while not with_record.done and with_record.step_count < 40:
        actions = {
            person: choice.choice(("north", "south", "east", "west", "stay"))
            for person in with_record.active_ids
        }
        assert with_record.step(actions) == without.step(actions)
        assert with_record.state_digest == without.state_digest
    assert (with_record.termination, with_record.metrics) == (without.termination, without.metrics)


TEXTS: list[Callable[[Simulator], object]] = [
    Simulator.record,
    Simulator.record_text,
    Simulator.record_digest,
    Simulator.opening_text,
    Simulator.closing_text,
    Simulator.last_step_text,
]


@pytest.mark.parametrize("text", TEXTS, ids=lambda text: text.__name__)
def test_asking_it_for_a_record_says_what_is_needed(text: Callable[[Simulator], object]) -> None:
    with pytest.raises(SimulationError, match="keep_record=True"):
        text(Simulator(WALKERS, keep_record=False))
