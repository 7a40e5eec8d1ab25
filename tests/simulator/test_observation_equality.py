"""Observations: equal where only hidden things differ, different where a public rule does, and frozen."""

from __future__ import annotations

import copy
from typing import Any

import pytest

from simulator import Observation, Scenario, Simulator
from tests.simulator.builders import Document, document_from_map, everyone, golden_cases, scenario_of
from tests.simulator.reference_engine import ReferenceEngine, canonical
from tests.simulator.secret_scenario import SEED, secret_document, simulator_after

# -- identical for different seeds and metadata -------------------------------------------


def test_the_first_observation_is_identical_for_different_seeds() -> None:
    observations = [simulator_after(secret_document(), 0, seed).observe() for seed in (0, 1, SEED, 2**64 - 1)]
    assert all(observation == observations[0] for observation in observations)
    assert len({canonical(observation.to_dict()) for observation in observations}) == 1


@pytest.mark.parametrize("probability", [None, 0, 1])
def test_observations_stay_identical_where_the_seed_decides_nothing(probability: float | None) -> None:
    document = secret_document()
    if probability is None:
        document["fire"] = {"model": "deterministic", "spread_interval": 1, "exits_flammable": True}
    else:
        document["fire"]["spread_probability"] = probability
    for steps in range(6):
        texts = {canonical(simulator_after(document, steps, seed).observe().to_dict()) for seed in (0, SEED)}
        assert len(texts) == 1


def test_observations_are_identical_for_different_hidden_metadata() -> None:
    changes: list[dict[str, Any]] = [
        {},
        {"scenario_id": "another"},
        {"description": "another"},
        {"seed": 5},
        {"scenario_id": "x", "description": "", "seed": 0},
    ]
    for steps in (0, 1, 7):
        texts = {
            canonical(simulator_after(secret_document(**change), steps, SEED).observe().to_dict())
            for change in changes
        }
        assert len(texts) == 1


def test_observations_do_not_depend_on_the_order_of_the_input() -> None:
    document = secret_document()
    turned = {
        **document,
        **{key: document[key][::-1] for key in ("people", "exits", "obstacles", "ignitions")},
    }
    for steps in (0, 4):
        assert simulator_after(document, steps).observe() == simulator_after(turned, steps).observe()


# -- the rules -----------------------------------------------------------------------------

RULE_CHANGES: dict[str, tuple[tuple[str, str], Any]] = {
    "spread_interval": (("fire", "spread_interval"), 3),
    "spread_probability": (("fire", "spread_probability"), 0.625),
    "exits_flammable": (("fire", "exits_flammable"), False),
    "enter_fire": (("movement", "enter_fire"), "blocked"),
    "max_steps": (("termination", "max_steps"), 41),
}


@pytest.mark.parametrize("rule", RULE_CHANGES)
def test_one_public_rule_changes_the_observation_and_only_there(rule: str) -> None:
    (section, key), value = RULE_CHANGES[rule]
    changed = copy.deepcopy(secret_document())
    changed[section][key] = value
    one, other = (simulator_after(document, 0).observe() for document in (secret_document(), changed))
    assert one != other
    left, right = one.to_dict(), other.to_dict()
    assert {name for name in left if left[name] != right[name]} == {"rules"}
    assert {name for name in left["rules"] if left["rules"][name] != right["rules"][name]} == {rule}


def test_the_fire_model_changes_the_observation_and_only_there() -> None:
    changed = secret_document()
    changed["fire"] = {"model": "deterministic", "spread_interval": 2, "exits_flammable": True}
    left, right = (
        simulator_after(document, 0).observe().to_dict() for document in (secret_document(), changed)
    )
    assert {name for name in left if left[name] != right[name]} == {"rules"}
    assert {name for name in left["rules"] if left["rules"][name] != right["rules"][name]} == {
        "fire_model",
        "spread_probability",
    }


@pytest.mark.parametrize(
    "document",
    [secret_document(), document_from_map("A.X"), *[case["scenario"] for case in golden_cases()[:12]]],
    ids=lambda document: document["scenario_id"],
)
def test_every_rule_equals_the_configuration(document: Document) -> None:
    scenario: Scenario = scenario_of(document)
    rules = Simulator(scenario).observe().rules
    assert rules.fire_model == scenario.fire.model == document["fire"]["model"]
    assert rules.spread_interval == scenario.fire.spread_interval == document["fire"]["spread_interval"]
    assert (
        rules.spread_probability
        == scenario.fire.spread_probability
        == document["fire"].get("spread_probability")
    )
    assert rules.exits_flammable is scenario.fire.exits_flammable is document["fire"]["exits_flammable"]
    assert rules.enter_fire == scenario.movement.enter_fire == document["movement"]["enter_fire"]
    assert rules.conflict_resolution == scenario.movement.conflict_resolution == "lowest_id_wins"
    assert rules.max_steps == scenario.max_steps == document["termination"]["max_steps"]


def test_the_probability_is_null_for_deterministic_fire() -> None:
    observation = Simulator(scenario_of(document_from_map("A.X"))).observe()
    assert observation.rules.spread_probability is None
    assert '"spread_probability":null' in canonical(observation.to_dict())


# -- independence ---------------------------------------------------------------------------


def test_a_step_never_changes_an_earlier_observation() -> None:
    simulator = simulator_after(secret_document(), 0)
    kept: list[tuple[Observation, str]] = []
    while not simulator.done:
        observation = simulator.observe()
        kept.append((observation, canonical(observation.to_dict())))
        simulator.step(everyone(simulator, "east"))
    assert len(kept) > 3
    assert all(canonical(observation.to_dict()) == text for observation, text in kept)


def test_the_dictionary_form_is_a_copy() -> None:
    simulator = simulator_after(secret_document(), 2)
    before = simulator.observe().to_dict()
    spoiled = simulator.observe().to_dict()
    spoiled["people"].clear()
    spoiled["burning"].append([0, 0])
    spoiled["map"]["obstacles"][0][0] = 99
    spoiled["map"]["exits"][0]["position"][0] = 99
    spoiled["rules"]["max_steps"] = 1
    assert simulator.observe().to_dict() == before
    simulator.step(everyone(simulator))


def test_observing_changes_nothing() -> None:
    watched, alone = (simulator_after(secret_document(), 0) for _ in range(2))
    while not alone.done:
        for _ in range(3):
            assert watched.observe() == watched.observe()
        assert watched.step(everyone(watched)) == watched.observe()
        alone.step(everyone(alone))
    assert watched.record().to_json() == alone.record().to_json()


def test_the_observation_equals_the_plain_one_at_every_step() -> None:
    document = secret_document()
    simulator, engine = simulator_after(document, 0), ReferenceEngine(document)
    while not simulator.done:
        assert simulator.observe().to_dict() == engine.observation()
        actions = everyone(simulator, "south")
        simulator.step(actions)
        engine.step(actions)
    assert simulator.observe().to_dict() == engine.observation()
