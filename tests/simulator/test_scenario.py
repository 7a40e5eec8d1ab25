"""Scenario files: every rule of the schema, each refusal with its exact place, canonical form and hash."""

from __future__ import annotations

import contextlib
import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from simulator import Scenario, ScenarioError
from tests.simulator.builders import document_from_map
from tests.simulator.scenario_edits import Edit, base, drop, edited, put


def refusal(document: Any) -> ScenarioError:
    with pytest.raises(ScenarioError) as caught:
        Scenario.from_json(json.dumps(document))
    return caught.value


def place_of(path: tuple[str | int, ...]) -> str:
    text = ""
    for key in path:
        text += f"[{key}]" if isinstance(key, int) else f".{key}" if text else key
    return text


KEYS: list[tuple[str | int, ...]] = [
    ("schema_version",),
    ("scenario_id",),
    ("grid",),
    ("grid", "width"),
    ("grid", "height"),
    ("obstacles",),
    ("exits",),
    ("exits", 1, "id"),
    ("exits", 1, "position"),
    ("people",),
    ("people", 3, "id"),
    ("people", 3, "position"),
    ("ignitions",),
    ("fire",),
    ("fire", "model"),
    ("fire", "spread_interval"),
    ("fire", "exits_flammable"),
    ("fire", "spread_probability"),
    ("movement",),
    ("movement", "conflict_resolution"),
    ("movement", "enter_fire"),
    ("termination",),
    ("termination", "max_steps"),
    ("seed",),
]
OBJECTS: list[tuple[str | int, ...]] = [
    (),
    ("grid",),
    ("exits", 0),
    ("people", 2),
    ("fire",),
    ("movement",),
    ("termination",),
]
INTEGERS: list[tuple[tuple[str | int, ...], int, int | None]] = [
    (("grid", "width"), 1, 1024),
    (("grid", "height"), 1, 1024),
    (("obstacles", 0, 0), 0, 4),
    (("obstacles", 0, 1), 0, 18),
    (("exits", 1, "position", 0), 0, 4),
    (("exits", 1, "position", 1), 0, 18),
    (("people", 3, "position", 0), 0, 4),
    (("people", 3, "position", 1), 0, 18),
    (("ignitions", 0, 0), 0, 4),
    (("ignitions", 0, 1), 0, 18),
    (("fire", "spread_interval"), 1, None),
    (("termination", "max_steps"), 1, 100_000),
    (("seed",), 0, 2**64 - 1),
]
WRONG_TYPES: dict[str, list[Any]] = {
    "object": [None, True, 0, 0.5, "x", []],
    "list": [None, True, 0, 0.5, "x", {}],
    "string": [None, True, 0, 0.5, [], {}],
    "boolean": [None, 0, 1, 0.0, "true", [], {}],
    "integer": [None, True, False, 1.0, 1e0, 0.5, "1", [], {}],
    "number": [None, True, False, "0.5", [], {}],
}
TYPED: list[tuple[tuple[str | int, ...], str]] = [
    ((), "object"),
    (("schema_version",), "string"),
    (("scenario_id",), "string"),
    (("description",), "string"),
    (("grid",), "object"),
    (("obstacles",), "list"),
    (("obstacles", 0), "list"),
    (("exits",), "list"),
    (("exits", 1), "object"),
    (("exits", 1, "id"), "string"),
    (("exits", 1, "position"), "list"),
    (("people",), "list"),
    (("people", 2), "object"),
    (("people", 2, "id"), "string"),
    (("people", 2, "position"), "list"),
    (("ignitions",), "list"),
    (("ignitions", 0), "list"),
    (("fire",), "object"),
    (("fire", "model"), "string"),
    (("fire", "exits_flammable"), "boolean"),
    (("fire", "spread_probability"), "number"),
    (("movement",), "object"),
    (("movement", "conflict_resolution"), "string"),
    (("movement", "enter_fire"), "string"),
    (("termination",), "object"),
    *[(path, "integer") for path, _, _ in INTEGERS],
]


def test_the_base_scenario_is_valid() -> None:
    scenario = Scenario.from_json(json.dumps(base()))
    assert (scenario.width, scenario.height) == (19, 5)
    assert [person.id for person in scenario.people] == ["A", "B", "C", "D"]
    assert scenario.seed == 0
    assert scenario.max_steps == 50
    assert scenario.description == "a test"


@pytest.mark.parametrize("path", KEYS, ids=place_of)
def test_a_missing_key_is_named(path: tuple[str | int, ...]) -> None:
    assert refusal(edited(drop(*path))).place == place_of(path)


@pytest.mark.parametrize("path", OBJECTS, ids=lambda path: place_of(path) or "whole")
@pytest.mark.parametrize("key", ["extra", "Seed", "seeds"])
def test_an_unknown_key_is_named_at_every_level(path: tuple[str | int, ...], key: str) -> None:
    assert refusal(edited(put(*path, key, value=1))).place == place_of((*path, key))


@pytest.mark.parametrize(
    ("path", "value"),
    [(path, value) for path, kind in TYPED for value in WRONG_TYPES[kind]],
    ids=lambda item: place_of(item) if isinstance(item, tuple) else repr(item),
)
def test_a_value_of_the_wrong_type_is_named(path: tuple[str | int, ...], value: Any) -> None:
    document = edited(put(*path, value=value)) if path else value
    problem = refusal(document)
    assert problem.place == place_of(path)
    assert "expected" in problem.message


@pytest.mark.parametrize(
    ("path", "value"),
    [(path, low - 1) for path, low, _ in INTEGERS] + [(path, high + 1) for path, _, high in INTEGERS if high],
    ids=lambda item: place_of(item) if isinstance(item, tuple) else str(item),
)
def test_an_integer_out_of_range_is_named(path: tuple[str | int, ...], value: int) -> None:
    problem = refusal(edited(put(*path, value=value)))
    # A smaller grid puts what stands on it out of bounds; the range of the side itself speaks first.
    assert problem.place == place_of(path)
    assert f"got {value}" in problem.message


def test_the_message_says_place_range_and_value() -> None:
    problem = refusal(edited(put("people", 3, "position", 1, value=19)))
    assert str(problem) == "people[3].position[1]: expected 0 to 18, got 19"
    assert (problem.place, problem.message) == ("people[3].position[1]", "expected 0 to 18, got 19")


@pytest.mark.parametrize(
    ("path", "value"),
    [
        (("obstacles", 0), [0]),
        (("obstacles", 0), [0, 0, 0]),
        (("people", 1, "position"), []),
        (("people", 1, "position"), [1]),
        (("exits", 0, "position"), [1, 2, 3]),
        (("ignitions", 0), [[2], 4]),
    ],
    ids=str,
)
def test_a_cell_is_a_pair(path: tuple[str | int, ...], value: Any) -> None:
    assert refusal(edited(put(*path, value=value))).place.startswith(place_of(path))


@pytest.mark.parametrize("where", [("scenario_id",), ("people", 0, "id"), ("exits", 0, "id")], ids=place_of)
@pytest.mark.parametrize(
    "identity",
    [
        "",
        "A\n",
        "\nA",
        "A B",
        " A",
        "A ",
        "ä",
        "A.B",
        "A/B",
        "x" * 65,
        "A\x00",
        "٣",
        "A\r",
        "A\u2028",
        "${A}",
    ],
    ids=repr,
)
def test_an_id_matches_the_pattern_as_a_whole(where: tuple[str | int, ...], identity: str) -> None:
    assert refusal(edited(put(*where, value=identity))).place == place_of(where)


@pytest.mark.parametrize("identity", ["-", "_", "0", "a", "Z", "-_-", "x" * 64])
def test_odd_but_valid_ids_are_accepted(identity: str) -> None:
    for where in [("scenario_id",), ("people", 0, "id"), ("exits", 0, "id")]:
        document = edited(put(*where, value=identity))
        accepted = Scenario.from_json(json.dumps(document))

        assert accepted.scenario_id == document["scenario_id"]
        assert {person.id for person in accepted.people} == {person["id"] for person in document["people"]}
        assert {door.id for door in accepted.exits} == {door["id"] for door in document["exits"]}


def test_a_person_and_an_exit_may_share_an_id() -> None:
    scenario = Scenario.from_json(json.dumps(edited(put("exits", 0, "id", value="A"))))
    assert scenario.exits[0].id == scenario.people[0].id == "A"


@pytest.mark.parametrize(
    ("edit", "place"),
    [
        (put("obstacles", value=[[0, 0], [0, 1], [0, 0]]), "obstacles[2]"),
        (put("ignitions", value=[[2, 4], [2, 4]]), "ignitions[1]"),
        (put("ignitions", value=[[2, 4], [0, 0]]), "ignitions[1]"),
        (put("exits", value=[]), "exits"),
        (put("people", value=[]), "people"),
        (put("exits", 1, "id", value="X1"), "exits[1].id"),
        (put("people", 2, "id", value="A"), "people[2].id"),
        (put("exits", 1, "position", value=[1, 17]), "exits[1].position"),
        (put("people", 2, "position", value=[1, 2]), "people[2].position"),
        (put("exits", 1, "position", value=[0, 0]), "exits[1].position"),
        (put("people", 2, "position", value=[0, 0]), "people[2].position"),
        (put("people", 2, "position", value=[1, 17]), "people[2].position"),
        (put("people", 2, "position", value=[2, 4]), "people[2].position"),
        (put("schema_version", value="1.1"), "schema_version"),
        (put("schema_version", value="1.0 "), "schema_version"),
        (put("fire", "model", value="Deterministic"), "fire.model"),
        (put("fire", "model", value="deterministic"), "fire.spread_probability"),
        (put("fire", "spread_probability", value=-0.1), "fire.spread_probability"),
        (put("fire", "spread_probability", value=1.0000000001), "fire.spread_probability"),
        (put("fire", "spread_probability", value=2), "fire.spread_probability"),
        (put("movement", "conflict_resolution", value="random"), "movement.conflict_resolution"),
        (put("movement", "enter_fire", value="allowed"), "movement.enter_fire"),
    ],
    ids=lambda item: item if isinstance(item, str) else "",
)
def test_each_rule_of_the_schema_has_its_place(edit: Edit, place: str) -> None:
    assert refusal(edited(edit)).place == place


def test_an_ignition_on_an_exit_needs_flammable_exits() -> None:
    document = document_from_map("A.@", "..X")
    assert Scenario.from_json(json.dumps(document)).ignitions == ((0, 2),)
    document["fire"]["exits_flammable"] = False
    assert refusal(document).place == "ignitions[0]"


def test_there_may_be_no_ignition_and_no_obstacle() -> None:
    scenario = Scenario.from_json(json.dumps(document_from_map("AX")))
    assert scenario.ignitions == scenario.obstacles == ()


@pytest.mark.parametrize("side", [1, 1024])
def test_the_largest_and_smallest_grid_are_accepted(side: int) -> None:
    document = document_from_map("AX") if side == 1 else document_from_map("AX", "..")
    document["grid"] = {"width": max(side, 2), "height": side}
    scenario = Scenario.from_json(json.dumps(document))
    assert scenario.height == side


@pytest.mark.parametrize("seed", [0, 2**53 + 1, 2**64 - 1])
def test_every_64_bit_seed_is_kept_exactly(seed: int) -> None:
    scenario = Scenario.from_json(json.dumps(edited(put("seed", value=seed))))
    assert scenario.seed == seed
    assert json.loads(scenario.to_json())["seed"] == seed


RAW = {
    "repeated key": ('"seed": 0', '"seed": 0, "seed": 0', "seed"),
    "repeated key in a person": ('"id": "B"', '"id": "B", "id": "B"', "people[1].id"),
    "NaN": ('"spread_probability": 0.5', '"spread_probability": NaN', "fire.spread_probability"),
    "Infinity": ('"max_steps": 50', '"max_steps": Infinity', "termination.max_steps"),
    "1e999": ('"seed": 0', '"seed": 1e999', "seed"),
    "1.0 for 1": ('"spread_interval": 2', '"spread_interval": 2.0', "fire.spread_interval"),
    "1e0 for 1": ('"max_steps": 50', '"max_steps": 5e1', "termination.max_steps"),
    "true for 1": ('"height": 5', '"height": true', "grid.height"),
    "10,000 digits": ('"seed": 0', '"seed": ' + "1" * 10_000, "seed"),
    "2^64": ('"seed": 0', '"seed": 18446744073709551616', "seed"),
    "minus one": ('"seed": 0', '"seed": -1', "seed"),
    "lone surrogate": ('"a test"', '"\\ud800"', "description"),
    "surrogate ID": ('"id": "B"', '"id": "\\udc00"', "people[1].id"),
    "deep nesting": ('"a test"', "[" * 100_000, ""),
    "byte order mark": ('{"schema_version"', '\ufeff{"schema_version"', ""),
    "not JSON": ('"seed": 0', '"seed": ', ""),
}


@pytest.mark.parametrize("name", RAW)
@pytest.mark.parametrize("as_bytes", [True, False])
def test_a_hostile_scenario_text_is_refused_with_its_place(name: str, as_bytes: bool) -> None:
    old, new, place = RAW[name]
    text = json.dumps(base())
    assert text.count(old) == 1
    hostile = text.replace(old, new)
    with pytest.raises(ScenarioError) as caught:
        Scenario.from_json(hostile.encode() if as_bytes else hostile)
    assert caught.value.place == place


@settings(max_examples=150)
@given(st.data())
def test_a_damaged_scenario_only_ever_raises_the_scenario_error(data: st.DataObject) -> None:
    text = bytearray(json.dumps(base()).encode())
    for _ in range(data.draw(st.integers(1, 4))):
        at = data.draw(st.integers(0, len(text) - 1))
        text[at : at + data.draw(st.integers(0, 3))] = data.draw(st.binary(max_size=3))
    with contextlib.suppress(ScenarioError):
        scenario = Scenario.from_json(bytes(text))
        assert Scenario.from_json(scenario.to_json()) == scenario
