"""Fire is exogenous: matched runs meet the same fire whatever their people do (fairness spec, section 2)."""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from simulator import Observation, Simulator, policies
from tests.simulator.builders import (
    Document,
    document_from_map,
    everyone,
    public_documents,
    record_of,
    scenario_of,
)
from tests.simulator.reference_engine import ReferenceEngine
from tests.simulator.strategies import ActionChooser, action_choosers, scenario_documents

Player = Callable[[Observation], Mapping[str, Any]]
FireHistory = list[tuple[list[list[int]], frozenset[Any], int]]

HALL = (
    "*.........X",
    ".A..#..B...",
    "....#..*...",
    "..C.#......",
    "X.......D..",
    "*........E.",
)


def fire(probability: float | None, interval: int = 1, flammable: bool = True) -> dict[str, Any]:
    if probability is None:
        return {"model": "deterministic", "spread_interval": interval, "exits_flammable": flammable}
    return {
        "model": "stochastic",
        "spread_interval": interval,
        "exits_flammable": flammable,
        "spread_probability": probability,
    }


DOCUMENTS: dict[str, Document] = {
    f"p={probability}, interval {interval}, {'flammable' if flammable else 'other'} exits": document_from_map(
        *HALL, fire=fire(probability, interval, flammable), max_steps=30
    )
    for probability in (None, 0, 0.2, 0.5, 1)
    for interval in (1, 2)
    for flammable in (True, False)
} | {"route invalidation": public_documents()["v1-pub-10-route-invalidation"]}
SEEDS = (0, 1, 2**53 + 1, 18364758544493064720)


def random_player(seed: int) -> Player:
    source = random.Random(seed)

    def player(observation: Observation) -> dict[str, str]:
        return {
            person.id: source.choice(["stay", "north", "south", "east", "west"])
            for person in observation.people
            if person.status.value == "active"
        }

    return player


def one_way(action: str) -> Player:
    return lambda observation: {
        person.id: action for person in observation.people if person.status.value == "active"
    }


PLAYERS: dict[str, Callable[[], Player]] = {
    "stay": lambda: policies.stay,
    "greedy": lambda: policies.greedy,
    "random": lambda: policies.make_random(4),
    "north": lambda: one_way("north"),
    "east": lambda: one_way("east"),
    "other random": lambda: random_player(99),
}


def fire_history(document: Document, seed: int, player: Player) -> FireHistory:
    """Ignitions, burning set and stream position after each step of one run."""
    simulator = Simulator(scenario_of(document), seed)
    burning = [simulator.observe().burning]
    while not simulator.done:
        burning.append(simulator.step(player(simulator.observe())).burning)
    record = record_of(simulator)
    return [
        (step["ignitions"], after, step["state"]["fire_draws"])
        for step, after in zip(record["steps"], burning[1:], strict=True)
    ]


def history_without_people(document: Document, seed: int, steps: int) -> FireHistory:
    """The same from the plain phase 7 alone: nobody is on the board."""
    engine = ReferenceEngine(document, seed)
    history: FireHistory = []
    for number in range(1, steps + 1):
        ignited = engine.spread(number)
        history.append(
            ([list(cell) for cell in sorted(ignited)], frozenset(engine.burning), engine.stream.drawn)
        )
    return history


@pytest.mark.parametrize("name", DOCUMENTS)
@pytest.mark.parametrize("seed", SEEDS)
def test_fire_is_the_same_for_every_action_stream(name: str, seed: int) -> None:
    document = DOCUMENTS[name]
    histories = {player: fire_history(document, seed, make()) for player, make in PLAYERS.items()}
    longest = max(histories.values(), key=len)
    assert longest == history_without_people(document, seed, len(longest))
    for player, history in histories.items():
        assert history == longest[: len(history)], player


def test_the_streams_of_actions_differ_for_real() -> None:
    document = DOCUMENTS["p=0.5, interval 1, flammable exits"]
    records = set()
    for make in PLAYERS.values():
        simulator, player = Simulator(scenario_of(document), 1), make()
        while not simulator.done:
            simulator.step(player(simulator.observe()))
        records.add(simulator.record().digest)
    assert len(records) == len(PLAYERS)


@settings(max_examples=50)
@given(scenario_documents(), action_choosers(), action_choosers())
def test_random_scenarios_burn_alike_whatever_people_do(
    document: Document, first: ActionChooser, second: ActionChooser
) -> None:
    histories = []
    for chooser in (first, second):
        player: Player = lambda observation, chooser=chooser: chooser(  # noqa: E731
            [person.id for person in observation.people if person.status.value == "active"]
        )
        histories.append(fire_history(document, document["seed"], player))
    for one, other in zip(*histories, strict=False):
        assert one == other


@settings(max_examples=20)
@given(st.integers(0, 2**64 - 1), st.integers(0, 2**64 - 1))
def test_the_seed_alone_selects_the_fire(one: int, other: int) -> None:
    document = DOCUMENTS["p=0.5, interval 1, flammable exits"]
    same = fire_history(document, one, policies.stay)
    assert fire_history({**document, "seed": other}, one, policies.stay) == same


def test_a_seed_given_to_the_simulator_replaces_the_one_of_the_scenario() -> None:
    document = {**DOCUMENTS["p=0.5, interval 1, flammable exits"], "seed": 3}
    default = Simulator(scenario_of(document))
    given_seed = Simulator(scenario_of(document), 7)
    for _ in range(4):
        default.step(everyone(default))
        given_seed.step(everyone(given_seed))
    assert record_of(default)["header"]["seed"] == 3
    assert record_of(given_seed)["header"]["seed"] == 7
    assert default.observe().burning != given_seed.observe().burning
