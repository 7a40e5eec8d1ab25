"""Golden digests: the runs of the independent implementation, and our own on the public suite.

A digest may change only with a new simulator version and a changelog line under *Rules*.
"""

from __future__ import annotations

import json
from typing import Any

import pytest

from simulator import SIMULATOR_VERSION, Scenario, Simulator, policies, replay, run_episode
from tests.simulator.boards import assert_same_record
from tests.simulator.builders import (
    DATA,
    PUBLIC_SUITE,
    golden_cases,
    public_documents,
    reference_engine,
    rule_cases,
    scenario_of,
    simulate,
)
from tests.simulator.reference_engine import ReferenceEngine, sha256
from tests.simulator.suite_digests import LETTERS, PINNED_POLICIES, actions_of, entry_of, unpack

SUITE_DIGESTS: dict[str, Any] = json.loads((DATA / "suite_digests.json").read_text())


@pytest.mark.parametrize("case", golden_cases(), ids=lambda case: f"case-{case['case']}-{case['policy']}")
def test_the_golden_digests_hold(case: dict[str, Any]) -> None:
    simulator = simulate(case["scenario"], case["actions"], case["seed"])
    expected = reference_engine(case["scenario"], case["actions"], case["seed"]).record_text()
    assert sha256(expected) == case["record_digest"], "the naive engine departs from the golden data"
    assert_same_record(case["scenario"], expected, simulator.record().to_json())
    assert simulator.record().digest == case["record_digest"]


@pytest.mark.parametrize("case", golden_cases(), ids=lambda case: f"case-{case['case']}")
def test_the_golden_runs_replay(case: dict[str, Any]) -> None:
    record = simulate(case["scenario"], case["actions"], case["seed"]).record()
    verdict = replay(record.to_json(), scenario_of(case["scenario"]))
    assert verdict.code == ("record_incomplete" if record.termination is None else "verified")
    assert verdict.digest == case["record_digest"]


@pytest.mark.parametrize("case", rule_cases(), ids=lambda case: str(case["name"]))
def test_the_naive_engine_agrees_with_the_rule_cases(case: dict[str, Any]) -> None:
    engine = reference_engine(case["scenario"], case["actions"], case["seed"])
    assert sha256(engine.record_text()) == case["record_digest"]


def test_the_suite_digests_are_of_this_simulator_version() -> None:
    assert SUITE_DIGESTS["simulator_version"] == SIMULATOR_VERSION


def test_every_public_scenario_is_pinned_under_every_baseline() -> None:
    pinned = {(entry["scenario_id"], entry["policy"]) for entry in SUITE_DIGESTS["runs"]}
    assert set(PINNED_POLICIES) == set(policies.BASELINES)
    assert pinned == {(name, policy) for name in public_documents() for policy in PINNED_POLICIES}
    assert len(SUITE_DIGESTS["runs"]) == 40


@pytest.mark.parametrize(
    "entry", SUITE_DIGESTS["runs"], ids=lambda entry: f"{entry['scenario_id']}-{entry['policy']}"
)
def test_the_digests_of_the_public_suite_hold(entry: dict[str, Any]) -> None:
    document = public_documents()[entry["scenario_id"]]
    record = run_episode(scenario_of(document), policies.BASELINES[entry["policy"]]())
    if record.digest != entry["digest"]:
        expected = ReferenceEngine(document)
        for row in entry["actions"]:
            expected.step(unpack(expected.active(), row))
        assert_same_record(document, expected.record_text(), record.to_json())
    assert record.digest == entry["digest"]
    assert record.to_dict()["termination"] == {"reason": entry["reason"], "step": len(entry["actions"])}


@pytest.mark.parametrize(
    "entry",
    [entry for entry in SUITE_DIGESTS["runs"] if "09" not in entry["scenario_id"]],
    ids=lambda entry: f"{entry['scenario_id']}-{entry['policy']}",
)
def test_the_naive_engine_reaches_the_pinned_digests_from_the_pinned_actions(entry: dict[str, Any]) -> None:
    engine = ReferenceEngine(public_documents()[entry["scenario_id"]])
    for row in entry["actions"]:
        engine.step(unpack(engine.active(), row))
    assert sha256(engine.record_text()) == entry["digest"]


def test_packed_actions_unpack_to_the_same_record() -> None:
    path = PUBLIC_SUITE / "v1-pub-07-multiple-ignitions.json"
    record = run_episode(Scenario.from_json(path.read_bytes()), policies.make_random(3))
    entry = entry_of("v1-pub-07-multiple-ignitions", "random", record)
    assert set("".join(entry["actions"])) <= set(LETTERS)
    simulator = Simulator(Scenario.from_json(path.read_bytes()))
    for row, actions in zip(entry["actions"], actions_of(record), strict=True):
        active = [person.id for person in simulator.observe().people if person.status.value == "active"]
        assert unpack(active, row) == actions
        simulator.step(unpack(active, row))
    assert simulator.record().digest == entry["digest"]


def test_a_failing_digest_shows_the_step_and_both_boards() -> None:
    document = public_documents()["v1-pub-01-single-exit-sparse"]
    stay = run_episode(scenario_of(document), policies.stay).to_json()
    greedy = run_episode(scenario_of(document), policies.greedy).to_json()
    with pytest.raises(AssertionError) as caught:
        assert_same_record(document, stay, greedy)
    text = str(caught.value)
    assert "step 1 is the first that differs" in text
    assert text.index("expected board:") < text.index("actual board:")
    assert text.count("##############") == 4
