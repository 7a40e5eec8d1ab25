"""Every single value of a record, forged, dropped or mistyped alone, is named by its exact place."""

from __future__ import annotations

from typing import Any

import pytest

from simulator import Scenario
from tests.simulator.builders import scenario_of
from tests.simulator.forging import (
    DOCUMENT,
    Path,
    honest,
    is_cell,
    keyed_by_id,
    place_of,
    replaced,
    verdict_of,
    walk,
    without,
)
from tests.simulator.reference_engine import sha256


@pytest.fixture(scope="module")
def scenario() -> Scenario:
    return scenario_of(DOCUMENT)


def test_the_honest_record_has_every_kind_of_event(scenario: Scenario) -> None:
    record = honest()
    assert verdict_of(record, scenario) == ("verified", None)
    assert any(step["evacuations"] for step in record["steps"])
    causes = {casualty["cause"] for step in record["steps"] for casualty in step["casualties"]}
    assert causes == {"entered_fire", "fire_spread"}
    outcomes = {outcome for step in record["steps"] for outcome in step["movements"].values()}
    assert {"moved", "stayed", "blocked_conflict"} <= outcomes
    assert any(step["state"]["trapped"] for step in record["steps"])
    assert record["steps"][-1]["state"]["fire_draws"] > 0


def forged_value(path: Path, value: Any) -> Any:
    """Another value of the same form, so that only the replay can tell."""
    if is_cell(value):
        return [value[0], value[1] + 1]
    if isinstance(value, int):
        return value - 1 if value else value + 1
    if path[-1] == "scenario_hash":
        return sha256("another")
    return "Forged"


def test_every_single_value_forged_alone_is_named(scenario: Scenario) -> None:
    record = honest()
    checked = 0
    for path, value in walk(record):
        if (
            isinstance(value, dict)
            or (isinstance(value, list) and not is_cell(value))
            or path == ("header", "seed")
        ):
            continue
        forged = replaced(record, path, forged_value(path, value))
        assert verdict_of(forged, scenario) == ("replay_mismatch", place_of(path))
        checked += 1
    assert checked > 200


@pytest.mark.parametrize("wrong", [None, True, 1.0, "1", 7, [], {}, [1], [1.0, 2], [[0, 0]]], ids=repr)
def test_every_value_of_a_wrong_type_is_a_format_error_at_its_place(wrong: Any, scenario: Scenario) -> None:
    record = honest()
    for path, value in walk(record):
        same_type = type(wrong) is type(value) and not isinstance(value, list)
        if not path or same_type or (path == ("termination",) and wrong is None):
            continue
        if isinstance(value, list) and not is_cell(value) and isinstance(wrong, list):
            continue
        if isinstance(value, dict) and isinstance(wrong, dict):
            continue
        code, place = verdict_of(replaced(record, path, wrong), scenario)
        assert code == "record_format", place_of(path)
        assert place is not None
        assert place == place_of(path) or (is_cell(value) and place.startswith(place_of(path)))


def test_every_missing_key_is_named(scenario: Scenario) -> None:
    record = honest()
    for path, _ in walk(record):
        if not path or isinstance(path[-1], int):
            continue
        code = "replay_mismatch" if keyed_by_id(path[:-1]) else "record_format"
        assert verdict_of(without(record, path), scenario) == (code, place_of(path))


def test_every_surplus_key_is_named(scenario: Scenario) -> None:
    record = honest()
    for path, value in walk(record):
        if not isinstance(value, dict):
            continue
        if not keyed_by_id(path):
            forged = replaced(record, (*path, "extra"), 1)
            assert verdict_of(forged, scenario) == ("record_format", place_of((*path, "extra")))
        else:
            entry = next(iter(value.values()))
            forged = replaced(record, (*path, "ZZZ"), entry)
            assert verdict_of(forged, scenario) == ("replay_mismatch", place_of((*path, "ZZZ")))


def test_the_first_surplus_or_missing_element_of_a_list_is_named(scenario: Scenario) -> None:
    record = honest()
    for path, value in walk(record):
        if not isinstance(value, list) or is_cell(value) or path == ("steps",):
            continue
        samples: dict[Any, Any] = {"ignitions": [0, 0], "casualties": {"id": "A", "cause": "fire_spread"}}
        forged = replaced(record, path, [*value, samples.get(path[-1], "A")])
        assert verdict_of(forged, scenario) == ("replay_mismatch", place_of((*path, len(value))))
        if value:
            forged = replaced(record, path, value[:-1])
            assert verdict_of(forged, scenario) == ("replay_mismatch", place_of((*path, len(value) - 1)))


def test_a_forged_seed_burns_differently(scenario: Scenario) -> None:
    record = honest()
    code, place = verdict_of(replaced(record, ("header", "seed"), 0), scenario)
    assert code == "replay_mismatch"
    assert place is not None
    assert place.startswith("steps[")


def test_another_action_is_found_out_by_what_it_does(scenario: Scenario) -> None:
    record = honest()
    forged = replaced(record, ("steps", 0, "actions", "A"), "east")
    code, place = verdict_of(forged, scenario)
    assert (code, place) == ("replay_mismatch", "steps[0].state.people.A.position")
