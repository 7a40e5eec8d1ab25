"""The observation contract: the tests that the fairness spec lists in its section 4, one by one."""

from __future__ import annotations

import copy
import dataclasses
import gc
import json
from collections.abc import Iterator
from enum import Enum
from typing import Any

import pytest

from simulator import Observation, Scenario, Simulator
from simulator import observation as observation_module
from simulator import scenario as scenario_module
from simulator.rng import GAMMA, MASK, mix, stream_seed
from tests.simulator.builders import DATA, Document, document_from_map, everyone, golden_cases, scenario_of
from tests.simulator.reference_engine import ReferenceEngine, canonical

SEED = 0xA5F3_91C2_7E44_0B6D
CASES: list[dict[str, Any]] = json.loads((DATA / "observation_cases.json").read_text())
PUBLIC_TYPES = {
    Observation,
    observation_module.MapView,
    observation_module.RulesView,
    observation_module.PersonState,
    observation_module.PersonStatus,
    observation_module.Action,
    scenario_module.ExitSpec,
    scenario_module.Position,
    scenario_module.FireModelName,
    scenario_module.EnterFirePolicy,
    scenario_module.ConflictResolution,
    tuple,
    frozenset,
    int,
    float,
    bool,
    str,
    type(None),
}


def secret_document(**changes: Any) -> Document:
    """A stochastic scenario whose hidden fields are easy to find again."""
    document = document_from_map(
        "*.......X",
        ".A..#..B.",
        "....#....",
        "*...C....",
        fire={"model": "stochastic", "spread_interval": 2, "spread_probability": 0.3125},
        max_steps=40,
        seed=SEED,
        scenario_id="SECRET-scenario-id",
    )
    return {**document, "description": "SECRET description", **changes}


def simulator_after(document: Document, steps: int, seed: int | None = None) -> Simulator:
    simulator = Simulator(scenario_of(document), seed)
    for _ in range(steps):
        simulator.step(everyone(simulator))
    return simulator


def nodes(root: Any) -> Iterator[Any]:
    """Every object reachable from an observation through any attribute, slot, item or C-level reference.

    Classes and the attribute dictionaries themselves are not yielded; an enum member ends the
    walk, after its own attributes.
    """
    seen: set[int] = set()
    stack = [root]
    while stack:
        node = stack.pop()
        if id(node) in seen or isinstance(node, type):
            continue
        seen.add(id(node))
        attributes = list(vars(node).values()) if hasattr(node, "__dict__") else []
        for kind in type(node).__mro__:
            slots = kind.__dict__.get("__slots__", ())
            for slot in (slots,) if isinstance(slots, str) else slots:
                attributes += [getattr(node, slot)] if hasattr(node, slot) else []
        yield node
        if not isinstance(node, Enum):
            own = vars(node) if hasattr(node, "__dict__") else None
            attributes += [found for found in gc.get_referents(node) if found is not own]
        stack += attributes


@pytest.mark.parametrize("case", CASES, ids=lambda case: f"case-{case['case']}")
def test_the_observations_of_the_independent_implementation_hold(case: dict[str, Any]) -> None:
    golden = next(entry for entry in golden_cases() if entry["case"] == case["case"])
    simulator = Simulator(scenario_of(golden["scenario"]), golden["seed"])
    for step, expected in enumerate(case["observations"]):
        if step:
            simulator.step(golden["actions"][step - 1])
        assert canonical(simulator.observe().to_dict()) == expected


# -- exact field lists ---------------------------------------------------------------


def test_the_observation_has_exactly_the_published_fields() -> None:
    names = [field.name for field in dataclasses.fields(Observation)]
    assert names == ["step", "map", "rules", "people", "burning", "allowed_actions"]


def test_the_map_view_has_exactly_the_published_fields() -> None:
    names = [field.name for field in dataclasses.fields(observation_module.MapView)]
    assert names == ["width", "height", "obstacles", "exits"]


def test_the_rules_view_has_exactly_the_published_fields() -> None:
    names = [field.name for field in dataclasses.fields(observation_module.RulesView)]
    assert names == [
        "fire_model",
        "spread_interval",
        "spread_probability",
        "exits_flammable",
        "enter_fire",
        "conflict_resolution",
        "max_steps",
    ]


def test_a_person_has_exactly_id_position_and_status() -> None:
    names = [field.name for field in dataclasses.fields(observation_module.PersonState)]
    assert names == ["id", "position", "status"]


def test_the_serialised_form_has_exactly_the_published_keys() -> None:
    value = simulator_after(secret_document(), 3).observe().to_dict()
    assert set(value) == {
        "observation_version",
        "step",
        "map",
        "rules",
        "people",
        "burning",
        "allowed_actions",
    }
    assert set(value["map"]) == {"width", "height", "obstacles", "exits"}
    assert set(value["rules"]) == {
        "fire_model",
        "spread_interval",
        "spread_probability",
        "exits_flammable",
        "enter_fire",
        "conflict_resolution",
        "max_steps",
    }
    assert {frozenset(entry) for entry in value["map"]["exits"]} == {frozenset({"id", "position"})}
    assert {frozenset(entry) for entry in value["people"]} == {frozenset({"id", "position", "status"})}
    assert value["observation_version"] == "1.0"


def test_the_lists_stand_in_the_published_order() -> None:
    observation = simulator_after(secret_document(), 6).observe()
    assert list(observation.map.obstacles) == sorted(observation.map.obstacles)
    assert [entry.id for entry in observation.map.exits] == sorted(
        entry.id for entry in observation.map.exits
    )
    assert [person.id for person in observation.people] == ["A", "B", "C"]
    assert [action.value for action in observation.allowed_actions] == [
        "stay",
        "north",
        "south",
        "east",
        "west",
    ]
    burning = observation.to_dict()["burning"]
    assert burning == sorted(burning)


# -- the object graph ------------------------------------------------------------------


@pytest.mark.parametrize("steps", [0, 1, 5, 40])
@pytest.mark.parametrize("enter_fire", ["casualty", "blocked"])
def test_the_object_graph_holds_only_public_types(steps: int, enter_fire: str) -> None:
    document = secret_document()
    document["movement"]["enter_fire"] = enter_fire
    simulator = simulator_after(document, 0)
    for _ in range(steps):
        if not simulator.done:
            simulator.step(everyone(simulator))
    found = {type(node) for node in nodes(simulator.observe())}
    assert found <= PUBLIC_TYPES, found - PUBLIC_TYPES


def test_the_walk_would_notice_a_smuggled_reference() -> None:
    @dataclasses.dataclass(frozen=True)
    class Leaky:
        step: int

    leaky = Leaky(1)
    object.__setattr__(leaky, "_simulator", simulator_after(secret_document(), 0))
    assert Simulator in {type(node) for node in nodes(leaky)}


def test_an_observation_has_no_undeclared_attribute() -> None:
    observation = simulator_after(secret_document(), 2).observe()
    for node in nodes(observation):
        if dataclasses.is_dataclass(node):
            declared = {field.name for field in dataclasses.fields(node)}
            assert set(getattr(node, "__dict__", {})) <= declared


def test_observations_are_frozen() -> None:
    observation = simulator_after(secret_document(), 0).observe()
    for owner, name in (
        (observation, "step"),
        (observation.map, "width"),
        (observation.rules, "max_steps"),
        (observation.people[0], "position"),
    ):
        with pytest.raises((AttributeError, TypeError)):
            setattr(owner, name, 7)


# -- nothing private ---------------------------------------------------------------------


def leaves(root: Any) -> list[Any]:
    return [
        node for node in nodes(root) if isinstance(node, int | float | str) and not isinstance(node, bool)
    ]


@pytest.mark.parametrize("steps", [0, 1, 4, 9])
def test_seed_stream_seed_positions_and_draws_are_absent(steps: int) -> None:
    document = secret_document()
    simulator = simulator_after(document, steps)
    draws = json.loads(simulator.record().to_json())["steps"][-1]["state"]["fire_draws"] if steps else 0
    stream = stream_seed(SEED, "fire")
    states = [(stream + position * GAMMA) & MASK for position in range(200)]
    outputs = [mix(state) for state in states]
    private = {SEED, stream, *states, *outputs, *[(output >> 11) * 2.0**-53 for output in outputs]}
    private |= {draws} if draws > 40 else set()
    assert not private & set(leaves(simulator.observe()))
    text = canonical(simulator.observe().to_dict())
    for number in (SEED, stream, *states, *outputs):
        for form in (str(number), f"{number:x}", f"{number:X}"):
            assert form not in text
        assert repr((number >> 11) * 2.0**-53) not in text


def test_the_position_of_the_stream_is_absent_also_when_it_is_large() -> None:
    simulator = simulator_after(secret_document(), 16)
    draws = json.loads(simulator.record().to_json())["steps"][-1]["state"]["fire_draws"]
    assert draws > 40, "the scenario must draw more often than any public number is large"
    assert draws not in leaves(simulator.observe())


@pytest.mark.parametrize("steps", [0, 5])
def test_hidden_metadata_and_trapped_are_absent(steps: int) -> None:
    document = secret_document()
    simulator = simulator_after(document, steps)
    text = canonical(simulator.observe().to_dict())
    scenario = scenario_of(document)
    for hidden in (
        "SECRET",
        scenario.content_hash,
        "schema",
        "seed",
        "trapped",
        "draws",
        "scenario",
        "description",
    ):
        assert hidden not in text
    strings = {leaf for leaf in leaves(simulator.observe()) if isinstance(leaf, str)}
    assert not strings & {
        document["scenario_id"],
        document["description"],
        scenario.content_hash,
        "1.0",
        "trapped",
    }


def test_repr_and_str_show_nothing_private() -> None:
    observation = simulator_after(secret_document(), 3).observe()
    for text in (repr(observation), str(observation)):
        assert "SECRET" not in text
        assert str(SEED) not in text


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
