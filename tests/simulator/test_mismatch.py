"""The replay check: every way to forge or break a record has its own verdict, with the exact place."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from simulator import Scenario, policies, replay, run_episode
from tests.simulator.builders import DATA, document_from_map, golden_cases, scenario_of, simulate
from tests.simulator.reference_engine import canonical, sha256

Path = tuple[str | int, ...]
MISMATCH: dict[str, Any] = json.loads((DATA / "mismatch_cases.json").read_text())


@pytest.mark.parametrize("case", MISMATCH["cases"], ids=lambda case: str(case["name"]))
@pytest.mark.parametrize("as_bytes", [False, True], ids=["text", "bytes"])
def test_the_mismatch_cases_hold(case: dict[str, Any], as_bytes: bool) -> None:
    text = case["record"].encode() if as_bytes else case["record"]
    verdict = replay(text, scenario_of(MISMATCH["scenario"]))
    assert (verdict.code, verdict.place) == (case["code"], case["place"]), verdict.message
    assert verdict.verified is (case["code"] == "verified")
    assert verdict.message
    assert (verdict.metrics is not None) is (case["code"] in ("verified", "record_incomplete"))


def test_there_are_thirty_four_mismatch_cases() -> None:
    assert len(MISMATCH["cases"]) == 34


# A run with every kind of event: evacuations, both causes, blocked moves, trapped people, draws.
DOCUMENT = document_from_map(
    "*..C...X",
    "..#D#...",
    "A.#.....",
    ".B...G..",
    "#####.*.",
    "..E.#...",
    names={"C": "P10", "D": "P2"},
    fire={"model": "stochastic", "spread_interval": 1, "spread_probability": 0.55},
    max_steps=9,
    seed=2**63 + 5,
)
ACTIONS = [
    {"A": "south", "B": "east", "E": "west", "G": "south", "P10": "east", "P2": "south"},
    {"A": "north", "B": "east", "E": "west", "G": "east", "P10": "east", "P2": "south"},
]


@pytest.fixture(scope="module")
def scenario() -> Scenario:
    return scenario_of(DOCUMENT)


def honest() -> dict[str, Any]:
    """The record of a run to the end: the actions above, then greedy, but E always west."""
    simulator = simulate(DOCUMENT, [])
    for scripted in [*ACTIONS, *[{}] * 20]:
        if simulator.done:
            break
        actions = {person: action.value for person, action in policies.greedy(simulator.observe()).items()}
        simulator.step({person: scripted.get(person, action) for person, action in actions.items()})
    result: dict[str, Any] = json.loads(simulator.record().to_json())
    return result


def verdict_of(record: Any, scenario: Scenario) -> tuple[str, str | None]:
    verdict = replay(json.dumps(record), scenario)
    assert verdict.message
    return str(verdict.code), verdict.place


def place_of(path: Path) -> str:
    text = ""
    for key in path:
        text += f"[{key}]" if isinstance(key, int) else f".{key}" if text else key
    return text


def walk(value: Any, path: Path = ()) -> Iterator[tuple[Path, Any]]:
    """Every node of a record; a position is one value and is not walked into."""
    yield path, value
    if isinstance(value, dict):
        for key, inner in value.items():
            yield from walk(inner, (*path, key))
    elif isinstance(value, list) and not is_cell(value):
        for index, inner in enumerate(value):
            yield from walk(inner, (*path, index))


def is_cell(value: Any) -> bool:
    return isinstance(value, list) and len(value) == 2 and all(type(number) is int for number in value)


def replaced(record: dict[str, Any], path: Path, value: Any) -> dict[str, Any]:
    forged = copy.deepcopy(record)
    node: Any = forged
    for key in path[:-1]:
        node = node[key]
    node[path[-1]] = value
    return forged


def without(record: dict[str, Any], path: Path) -> dict[str, Any]:
    forged = copy.deepcopy(record)
    node: Any = forged
    for key in path[:-1]:
        node = node[key]
    del node[path[-1]]
    return forged


def keyed_by_id(path: Path) -> bool:
    """Whether the node is an object keyed by person IDs."""
    return bool(path) and path[-1] in ("people", "actions", "movements")


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


def test_the_sentence_names_place_step_and_both_values(scenario: Scenario) -> None:
    record = honest()
    forged = replaced(record, ("steps", 1, "movements", "P10"), "blocked_conflict")
    verdict = replay(json.dumps(forged), scenario)
    assert verdict.message == (
        "steps[1].movements.P10 (step 2): record says blocked_conflict, replay says moved"
    )
    assert (verdict.expected, verdict.actual) == ("moved", "blocked_conflict")


def swap_first_two(values: list[Any]) -> list[Any]:
    return [values[1], values[0], *values[2:]]


Forge = Callable[[dict[str, Any]], Any]


def set_at(*path: str | int, value: Any) -> Forge:
    return lambda record: replaced(record, path, value)


TAMPERING: dict[str, tuple[Forge, str, str | None]] = {
    "an old simulator": (
        set_at("header", "simulator_version", value="0.1.0"),
        "replay_mismatch",
        "header.simulator_version",
    ),
    "a newer observation": (
        set_at("header", "observation_version", value="2.0"),
        "replay_mismatch",
        "header.observation_version",
    ),
    "another schema": (
        set_at("header", "schema_version", value="1.1"),
        "replay_mismatch",
        "header.schema_version",
    ),
    "another scenario": (
        set_at("header", "scenario_hash", value="0" * 64),
        "replay_mismatch",
        "header.scenario_hash",
    ),
    "another scenario ID": (
        set_at("header", "scenario_id", value="x"),
        "replay_mismatch",
        "header.scenario_id",
    ),
    "hash in capitals": (
        lambda record: replaced(
            record, ("header", "scenario_hash"), record["header"]["scenario_hash"].upper()
        ),
        "record_format",
        "header.scenario_hash",
    ),
    "hash too short": (
        set_at("header", "scenario_hash", value="0" * 63),
        "record_format",
        "header.scenario_hash",
    ),
    "hash with a newline": (
        set_at("header", "scenario_hash", value="0" * 64 + "\n"),
        "record_format",
        "header.scenario_hash",
    ),
    "scenario ID with a newline": (
        set_at("header", "scenario_id", value="x\n"),
        "record_format",
        "header.scenario_id",
    ),
    "negative seed": (set_at("header", "seed", value=-1), "record_format", "header.seed"),
    "seed of 2^64": (set_at("header", "seed", value=2**64), "record_format", "header.seed"),
    "seed as float": (set_at("header", "seed", value=1.0), "record_format", "header.seed"),
    "seed as bool": (set_at("header", "seed", value=True), "record_format", "header.seed"),
    "seed missing": (lambda record: without(record, ("header", "seed")), "record_format", "header.seed"),
    "no step at all": (set_at("steps", value=[]), "replay_mismatch", "termination"),
    "steps as an object": (set_at("steps", value={}), "record_format", "steps"),
    "first step cut": (
        lambda record: {**record, "steps": record["steps"][1:]},
        "replay_mismatch",
        "steps[0].step",
    ),
    "last step cut": (
        lambda record: {**record, "steps": record["steps"][:-1]},
        "replay_mismatch",
        "termination",
    ),
    "step doubled": (
        lambda record: {**record, "steps": [record["steps"][0], *record["steps"]]},
        "replay_mismatch",
        "steps[1].step",
    ),
    "steps exchanged": (
        lambda record: {**record, "steps": swap_first_two(record["steps"])},
        "replay_mismatch",
        "steps[0].step",
    ),
    "step number as float": (set_at("steps", 0, "step", value=1.0), "record_format", "steps[0].step"),
    "step number zero": (set_at("steps", 0, "step", value=0), "replay_mismatch", "steps[0].step"),
    "action missing": (
        lambda record: without(record, ("steps", 0, "actions", "B")),
        "replay_mismatch",
        "steps[0].actions.B",
    ),
    "actions empty": (set_at("steps", 0, "actions", value={}), "replay_mismatch", "steps[0].actions.A"),
    "unknown action": (
        set_at("steps", 0, "actions", "B", value="fly"),
        "replay_mismatch",
        "steps[0].actions.B",
    ),
    "action in capitals": (
        set_at("steps", 0, "actions", "B", value="East"),
        "replay_mismatch",
        "steps[0].actions.B",
    ),
    "empty action": (set_at("steps", 0, "actions", "B", value=""), "replay_mismatch", "steps[0].actions.B"),
    "action as a number": (
        set_at("steps", 0, "actions", "B", value=1),
        "record_format",
        "steps[0].actions.B",
    ),
    "action for a stranger": (
        set_at("steps", 0, "actions", "Q", value="stay"),
        "replay_mismatch",
        "steps[0].actions.Q",
    ),
    "action for an invalid ID": (
        set_at("steps", 0, "actions", "Q.", value="stay"),
        "record_format",
        'steps[0].actions."Q."',
    ),
    "unknown outcome": (
        set_at("steps", 0, "movements", "A", value="flew"),
        "replay_mismatch",
        "steps[0].movements.A",
    ),
    "outcome missing": (
        lambda record: without(record, ("steps", 0, "movements", "A")),
        "replay_mismatch",
        "steps[0].movements.A",
    ),
    "unknown status": (
        set_at("initial", "people", "A", "status", value="flying"),
        "replay_mismatch",
        "initial.people.A.status",
    ),
    "person removed": (
        lambda record: without(record, ("initial", "people", "B")),
        "replay_mismatch",
        "initial.people.B",
    ),
    "person added": (
        set_at("initial", "people", "Q", value={"position": [0, 0], "status": "active"}),
        "replay_mismatch",
        "initial.people.Q",
    ),
    "position outside the grid": (
        set_at("initial", "people", "A", "position", value=[1000, 1000]),
        "replay_mismatch",
        "initial.people.A.position",
    ),
    "position of three": (
        set_at("initial", "people", "A", "position", value=[1, 2, 3]),
        "record_format",
        "initial.people.A.position",
    ),
    "position of floats": (
        set_at("initial", "people", "A", "position", value=[1.0, 2]),
        "record_format",
        "initial.people.A.position[0]",
    ),
    "trapped as numbers": (set_at("initial", "trapped", value=[1]), "record_format", "initial.trapped[0]"),
    "trapped twice": (
        lambda record: replaced(record, ("initial", "trapped"), [*record["initial"]["trapped"], "A", "A"]),
        "replay_mismatch",
        "initial.trapped[1]",
    ),
    "burning as float": (set_at("initial", "burning", value=2.0), "record_format", "initial.burning"),
    "draws before the fire": (
        set_at("initial", "fire_draws", value=1),
        "replay_mismatch",
        "initial.fire_draws",
    ),
    "score added": (set_at("score", value=1), "record_format", "score"),
    "score in a step": (set_at("steps", 0, "score", value=1), "record_format", "steps[0].score"),
    "no end": (set_at("termination", value=None), "replay_mismatch", "termination"),
    "end missing": (lambda record: without(record, ("termination",)), "record_format", "termination"),
    "end as text": (set_at("termination", value="all_resolved"), "record_format", "termination"),
    "unknown reason": (
        set_at("termination", "reason", value="gave_up"),
        "replay_mismatch",
        "termination.reason",
    ),
    "end in another step": (set_at("termination", "step", value=1), "replay_mismatch", "termination.step"),
    "a list": (lambda record: [record], "record_format", ""),
    "a string": (lambda record: "record", "record_format", ""),
    "null": (lambda record: None, "record_format", ""),
}


@pytest.mark.parametrize("name", TAMPERING)
def test_each_way_to_forge_has_its_verdict(name: str, scenario: Scenario) -> None:
    forge, code, place = TAMPERING[name]
    assert verdict_of(forge(honest()), scenario) == (code, place)


def test_exchanged_list_elements_are_found(scenario: Scenario) -> None:
    record = honest()
    index = next(index for index, step in enumerate(record["steps"]) if len(step["ignitions"]) > 1)
    forged = replaced(
        record, ("steps", index, "ignitions"), swap_first_two(record["steps"][index]["ignitions"])
    )
    assert verdict_of(forged, scenario) == ("replay_mismatch", f"steps[{index}].ignitions[0]")


def test_a_step_after_the_end_is_found(scenario: Scenario) -> None:
    record = honest()
    surplus = {**copy.deepcopy(record["steps"][-1]), "step": len(record["steps"]) + 1}
    forged = {**record, "steps": [*record["steps"], surplus]}
    assert verdict_of(forged, scenario) == ("replay_mismatch", f"steps[{len(record['steps'])}]")


def test_the_first_of_several_forgeries_is_named_in_document_order(scenario: Scenario) -> None:
    record = honest()
    late = replaced(record, ("steps", 1, "state", "burning"), 1)
    early = replaced(late, ("initial", "trapped"), ["A"])
    earliest = replaced(early, ("header", "simulator_version"), "9")
    assert verdict_of(late, scenario)[1] == "steps[1].state.burning"
    assert verdict_of(early, scenario)[1] == "initial.trapped[0]"
    assert verdict_of(earliest, scenario)[1] == "header.simulator_version"


def test_inside_a_step_actions_speak_before_movements_and_state(scenario: Scenario) -> None:
    forged = replaced(honest(), ("steps", 0, "state", "burning"), 1)
    forged = replaced(forged, ("steps", 0, "movements", "A"), "stayed")
    assert verdict_of(forged, scenario)[1] == "steps[0].movements.A"
    forged = replaced(forged, ("steps", 0, "actions", "P2"), "jump")
    assert verdict_of(forged, scenario)[1] == "steps[0].actions.P2"


def test_a_format_error_anywhere_speaks_before_any_mismatch(scenario: Scenario) -> None:
    forged = replaced(honest(), ("header", "simulator_version"), "9")
    forged = replaced(forged, ("termination", "step"), "x")
    assert verdict_of(forged, scenario) == ("record_format", "termination.step")


@pytest.mark.parametrize("indent", [None, 1, 4])
@pytest.mark.parametrize("turned", [False, True])
def test_white_space_and_key_order_do_not_matter(
    indent: int | None, turned: bool, scenario: Scenario
) -> None:
    def turn(value: Any) -> Any:
        if isinstance(value, dict):
            return {key: turn(value[key]) for key in reversed(value)}
        return [turn(inner) for inner in value] if isinstance(value, list) else value

    record = honest()
    text = json.dumps(turn(record) if turned else record, indent=indent)
    verdict = replay(f"\n {text} \r\n\t", scenario)
    assert verdict.verified
    assert verdict.digest == sha256(canonical(record))


def test_an_unfinished_record_is_replayed_but_never_verified() -> None:
    case = next(case for case in golden_cases() if len(case["actions"]) > 4)
    record = simulate(case["scenario"], case["actions"][:3], case["seed"]).record()
    assert record.termination is None
    verdict = replay(record.to_json(), scenario_of(case["scenario"]))
    assert verdict.code == "record_incomplete"
    assert not verdict.verified
    forged = record.to_json().replace('"burning":', '"burning":1', 1)
    assert replay(forged, scenario_of(case["scenario"])).code == "replay_mismatch"


def test_the_record_of_a_run_without_a_step_is_incomplete(scenario: Scenario) -> None:
    assert replay(simulate(DOCUMENT, []).record().to_json(), scenario).code == "record_incomplete"


def test_a_record_against_another_scenario_is_refused_with_both_hashes(scenario: Scenario) -> None:
    other = scenario_of({**DOCUMENT, "seed": 1})
    verdict = replay(json.dumps(honest()), other)
    assert (verdict.code, verdict.place) == ("replay_mismatch", "header.scenario_hash")
    assert (verdict.expected, verdict.actual) == (other.content_hash, scenario.content_hash)


def test_a_claim_never_reaches_the_metrics(scenario: Scenario) -> None:
    # T13: whatever the record says, the metrics are those of the replay or there are none.
    record = honest()
    for path, value in list(walk(record)):
        if value == "casualty":
            verdict = replay(json.dumps(replaced(record, path, "evacuated")), scenario)
            assert verdict.metrics is None
            assert not verdict.verified


def test_metrics_of_a_verified_record_are_those_of_the_run() -> None:
    scenario = scenario_of(DOCUMENT)
    record = run_episode(scenario, policies.greedy)
    verdict = replay(record.to_json(), scenario)
    assert verdict.verified
    assert verdict.digest == record.digest
    assert verdict.metrics is not None
    evacuated = sum(len(step["evacuations"]) for step in record.to_dict()["steps"])
    assert verdict.metrics.evacuated == evacuated
