"""Canonical form and content hash: what makes two scenario files one scenario."""

from __future__ import annotations

import hashlib
import json
import random
from typing import Any

import pytest

from simulator import SCHEMA_VERSION, Scenario
from tests.simulator.builders import Document, document_from_map, golden_cases, public_documents
from tests.simulator.reference_engine import canonical, canonical_scenario, sha256
from tests.simulator.scenario_edits import base, drop, edited, put


@pytest.mark.parametrize(
    "document", [*public_documents().values(), *[case["scenario"] for case in golden_cases()]]
)
def test_the_canonical_text_equals_the_plain_one(document: Document) -> None:
    scenario = Scenario.from_json(json.dumps(document))
    assert scenario.to_json() == canonical(canonical_scenario(document))
    assert scenario.content_hash == hashlib.sha256(scenario.to_json().encode()).hexdigest()
    assert Scenario.from_json(scenario.to_json()) == scenario
    assert Scenario.from_json(scenario.to_indented_json().encode()) == scenario


@pytest.mark.parametrize("case", golden_cases(), ids=lambda case: f"case-{case['case']}")
def test_the_golden_scenario_hashes_hold(case: dict[str, Any]) -> None:
    assert Scenario.from_json(json.dumps(case["scenario"])).content_hash == case["scenario_hash"]


def test_the_input_order_never_changes_the_hash() -> None:
    document = {**public_documents()["v1-pub-09-crowd-100-split-flow"]}
    expected = Scenario.from_json(json.dumps(document)).content_hash
    shuffler = random.Random(7)
    for _ in range(5):
        for key in ("obstacles", "people", "exits", "ignitions"):
            document[key] = shuffler.sample(document[key], len(document[key]))
        keys = shuffler.sample(list(document), len(document))
        shuffled = Scenario.from_json(json.dumps({key: document[key] for key in keys}))
        assert shuffled.content_hash == expected


def test_one_and_one_point_zero_are_one_scenario() -> None:
    texts = [
        json.dumps(base()).replace('_probability": 0.5', f'_probability": {form}')
        for form in ("1", "1.0", "1e0")
    ]
    assert len({Scenario.from_json(text).content_hash for text in texts}) == 1


def test_minus_zero_and_zero_are_one_scenario() -> None:
    texts = [
        json.dumps(base()).replace('_probability": 0.5', f'_probability": {form}')
        for form in ("0", "0.0", "-0.0")
    ]
    assert len({Scenario.from_json(text).content_hash for text in texts}) == 1


def test_an_absent_and_an_empty_description_are_different_scenarios() -> None:
    absent = edited(drop("description"))
    empty = edited(put("description", value=""))
    hashes = {Scenario.from_json(json.dumps(document)).content_hash for document in (absent, empty, base())}
    assert len(hashes) == 3
    assert Scenario.from_json(json.dumps(absent)).description is None


@pytest.mark.parametrize(
    ("path", "value"),
    [
        (("seed",), 1),
        (("termination", "max_steps"), 51),
        (("fire", "spread_probability"), 0.25),
        (("fire", "spread_interval"), 3),
        (("fire", "exits_flammable"), False),
        (("movement", "enter_fire"), "blocked"),
        (("people", 0, "id"), "E"),
        (("scenario_id",), "other"),
        (("description",), "another test"),
    ],
    ids=str,
)
def test_every_field_is_part_of_the_hash(path: tuple[str | int, ...], value: Any) -> None:
    original = Scenario.from_json(json.dumps(base())).content_hash
    assert Scenario.from_json(json.dumps(edited(put(*path, value=value)))).content_hash != original


def test_non_ascii_descriptions_are_escaped_in_the_hashed_form() -> None:
    document = edited(put("description", value="Flur 🔥 südlich"))
    scenario = Scenario.from_json(json.dumps(document, ensure_ascii=False))
    assert scenario.to_json().isascii()
    assert scenario.content_hash == sha256(canonical(canonical_scenario(document)))


def test_the_drawn_map_shows_what_stands_where() -> None:
    scenario = Scenario.from_json(json.dumps(document_from_map("#A.X", "..*@", "B...")))
    assert scenario.ascii_layout() == ["#P.E", "..FF", "P..."]


def test_the_hazard_is_named_shortly() -> None:
    assert (
        Scenario.from_json(json.dumps(document_from_map("AX", fire={"spread_interval": 3}))).hazard == "det/3"
    )
    assert Scenario.from_json(json.dumps({**base()})).hazard == "sto/2 p=0.5"


def test_a_scenario_cannot_be_changed() -> None:
    scenario = Scenario.from_json(json.dumps(base()))
    parts: list[tuple[Any, str]] = [
        (scenario, "seed"),
        (scenario.people[0], "position"),
        (scenario.exits[0], "position"),
        (scenario.fire, "spread_interval"),
        (scenario.movement, "enter_fire"),
    ]
    for part, name in parts:
        with pytest.raises(AttributeError):
            setattr(part, name, 1)
    assert SCHEMA_VERSION == "1.0"
