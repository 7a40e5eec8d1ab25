"""The observation contract: the tests that the fairness spec lists in its section 4, one by one."""

from __future__ import annotations

import dataclasses
import json
from typing import Any

import pytest

from simulator import Observation, Simulator
from simulator import observation as observation_module
from simulator import scenario as scenario_module
from simulator.rng import GAMMA, MASK, mix, stream_seed
from tests.simulator.builders import DATA, everyone, golden_cases, scenario_of
from tests.simulator.reference_engine import canonical
from tests.simulator.secret_scenario import SEED, nodes, secret_document, simulator_after

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
        (observation.map.exits[0], "position"),
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
