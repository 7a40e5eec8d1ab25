"""The tampering table: each way to forge or break a record has its own verdict and place."""

from __future__ import annotations

import copy
import json
import random
from collections.abc import Callable
from typing import Any

import pytest

from simulator import Scenario, Simulator, VerdictCode, policies, replay, run_episode
from tests.simulator.builders import document_from_map, scenario_of
from tests.simulator.forging import (
    DOCUMENT,
    honest,
    replaced,
    swap_first_two,
    verdict_of,
    without,
)
from tests.simulator.reference_engine import ReferenceEngine
from tests.simulator.tampering import CHANGES, NotCanonical, canonical

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


@pytest.fixture(scope="module")
def scenario() -> Scenario:
    return scenario_of(DOCUMENT)


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


# --- ten thousand random changes --------------------------------------------------------------------------

CHANGES_OF_EACH_KIND = 1_250
SMALL = document_from_map(
    "*.A.X",
    "..#B.",
    names={"B": "P-2"},
    fire={"model": "stochastic", "spread_interval": 2, "spread_probability": 0.5},
    max_steps=6,
    seed=3,
)
DOOMED = document_from_map("AB.*.X", fire={"exits_flammable": False}, enter_fire="blocked", max_steps=4)

Sample = tuple[Scenario, str, VerdictCode]


@pytest.fixture(scope="module")
def samples() -> list[Sample]:
    """Real records: short ones, one with every kind of event, one of a run that has not ended."""
    small, doomed, full = scenario_of(SMALL), scenario_of(DOOMED), scenario_of(DOCUMENT)
    unfinished = Simulator(small)
    unfinished.step(policies.greedy(unfinished.observe()))
    return [
        (small, run_episode(small, policies.greedy).to_json(), VerdictCode.VERIFIED),
        (small, run_episode(small, policies.make_random(1), seed=2**64 - 1).to_json(), VerdictCode.VERIFIED),
        (doomed, run_episode(doomed, policies.random).to_json(), VerdictCode.VERIFIED),
        (small, unfinished.record().to_json(), VerdictCode.RECORD_INCOMPLETE),
        (full, canonical(json.dumps(honest()).encode()).decode(), VerdictCode.VERIFIED),
    ]


def is_another_run(form: bytes, original: str, scenario: Scenario) -> bool:
    """
    Whether a change made the exact record of another run.

    It does where the fire has no draws and only the seed was changed, and where an unfinished run was cut.
    """
    record, before = json.loads(form), json.loads(original)
    another_seed = record["header"]["seed"] != before["header"]["seed"]
    cut = before["termination"] is None and len(record["steps"]) < len(before["steps"])
    engine = ReferenceEngine(json.loads(scenario.to_json()), record["header"]["seed"])
    for step in record["steps"]:
        engine.step(step["actions"])
    return (another_seed or cut) and engine.record_text() == form.decode()


@pytest.mark.parametrize("kind", CHANGES)
def test_no_random_change_passes_unless_the_canonical_bytes_are_the_same(
    kind: str, samples: list[Sample]
) -> None:
    rng = random.Random(f"tampering with one {kind}")
    unharmed = 0
    for number in range(CHANGES_OF_EACH_KIND):
        scenario, original, good = samples[min(number % 8, 4)]
        changed = CHANGES[kind](rng, original)
        try:
            form: bytes | None = canonical(changed)
        except NotCanonical:
            form = None
        verdict = replay(changed, scenario)
        story = f"{kind} {number}: {verdict.code} at {verdict.place!r}\n{original}\n{changed!r}"
        if form == original.encode("ascii"):
            unharmed += 1
            assert (verdict.code, verdict.place) == (good, None), story
        elif verdict.metrics is not None:
            assert form is not None, story
            assert is_another_run(form, original, scenario), story
        else:
            assert verdict.code in (VerdictCode.RECORD_FORMAT, VerdictCode.REPLAY_MISMATCH), story
            assert verdict.place is not None, story
            assert verdict.place or form is None or not form.startswith(b"{"), story
            assert verdict.message, story
    assert unharmed < CHANGES_OF_EACH_KIND
    assert unharmed or kind not in ("order", "white space", "letter"), "harmless changes must be tried, too"
