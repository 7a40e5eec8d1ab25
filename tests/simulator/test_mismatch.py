"""The replay check: verdicts of good, unfinished and foreign records, and the sentence of a mismatch."""

from __future__ import annotations

import json
from typing import Any

import pytest

from simulator import Scenario, policies, replay, run_episode
from tests.simulator.builders import DATA, golden_cases, scenario_of, simulate
from tests.simulator.forging import (
    DOCUMENT,
    honest,
    replaced,
    walk,
)
from tests.simulator.reference_engine import canonical, sha256

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


@pytest.fixture(scope="module")
def scenario() -> Scenario:
    return scenario_of(DOCUMENT)


def test_the_sentence_names_place_step_and_both_values(scenario: Scenario) -> None:
    record = honest()
    forged = replaced(record, ("steps", 1, "movements", "P10"), "blocked_conflict")
    verdict = replay(json.dumps(forged), scenario)
    assert verdict.message == (
        "steps[1].movements.P10 (step 2): record says blocked_conflict, replay says moved"
    )
    assert (verdict.expected, verdict.actual) == ("moved", "blocked_conflict")


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
