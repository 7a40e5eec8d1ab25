"""Metrics of a run: exact numbers, the last step included."""

from __future__ import annotations

import json
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given, settings

from simulator import Metrics, Outcome, Simulator, policies, replay, run_episode
from tests.simulator.builders import Document, document_from_map, public_documents, scenario_of, simulate
from tests.simulator.strategies import ActionChooser, action_choosers, scenario_documents


def metrics_of(document: Document, *actions: dict[str, str]) -> Metrics:
    """Metrics of a finished run, by way of the replay check."""
    verdict = replay(simulate(document, list(actions)).record().to_json(), scenario_of(document))
    assert verdict.verified, verdict.message
    assert verdict.metrics is not None
    return verdict.metrics


def plain_metrics(document: Document, record: dict[str, Any]) -> dict[str, Any]:
    """The same numbers, counted from the record."""
    steps, population = record["steps"], len(document["people"])
    evacuation_steps = [step["step"] for step in steps for _ in step["evacuations"]]
    causes = [casualty["cause"] for step in steps for casualty in step["casualties"]]
    outcomes = [outcome for step in steps for outcome in step["movements"].values()]
    missing = population - len(evacuation_steps)
    return {
        "population": population,
        "evacuated": len(evacuation_steps),
        "casualties": len(causes),
        "entered_fire": causes.count("entered_fire"),
        "fire_spread": causes.count("fire_spread"),
        "unresolved": missing - len(causes),
        "trapped_at_start": len(record["initial"]["trapped"]),
        "steps": len(steps),
        "last_evacuation_step": max(evacuation_steps, default=None),
        "evacuation_step_total": sum(evacuation_steps),
        "exit_step_total": sum(evacuation_steps) + missing * document["termination"]["max_steps"],
        "blocked": {
            str(outcome): outcomes.count(str(outcome))
            for outcome in Outcome
            if str(outcome).startswith("blocked")
        },
    }


def assert_plain(document: Document, record_text: str, metrics: Metrics) -> None:
    expected = plain_metrics(document, json.loads(record_text))
    assert {key: getattr(metrics, key) for key in expected} == expected
    assert metrics.evacuation_rate == Fraction(expected["evacuated"], expected["population"])
    assert metrics.casualty_rate == Fraction(expected["casualties"], expected["population"])
    assert metrics.exit_step == Fraction(expected["exit_step_total"], expected["population"])
    if expected["evacuated"]:
        assert metrics.mean_evacuation_step == Fraction(
            expected["evacuation_step_total"], expected["evacuated"]
        )
    else:
        assert metrics.mean_evacuation_step is None
    assert metrics.evacuated + metrics.casualties + metrics.unresolved == metrics.population


@settings(max_examples=80)
@given(scenario_documents(), action_choosers())
def test_metrics_equal_a_plain_count_of_the_record(document: Document, chooser: ActionChooser) -> None:
    simulator = Simulator(scenario_of(document))
    while not simulator.done:
        simulator.step(
            chooser([person.id for person in simulator.observe().people if person.status.value == "active"])
        )
    text = simulator.record().to_json()
    verdict = replay(text, scenario_of(document))
    assert verdict.metrics is not None
    assert_plain(document, text, verdict.metrics)


@pytest.mark.parametrize("name", public_documents())
@pytest.mark.parametrize("policy", policies.BASELINES)
def test_metrics_of_the_baselines_equal_a_plain_count(name: str, policy: str) -> None:
    document = public_documents()[name]
    record = run_episode(scenario_of(document), policies.BASELINES[policy]())
    verdict = replay(record.to_json(), scenario_of(document))
    assert verdict.metrics is not None
    assert_plain(document, record.to_json(), verdict.metrics)


def test_a_death_on_the_final_step_counts() -> None:
    # S02: the fire reaches A in the very step in which the run ends.
    document = document_from_map("*A.X", max_steps=1)
    metrics = metrics_of(document, {"A": "stay"})
    assert (metrics.casualties, metrics.fire_spread, metrics.unresolved, metrics.steps) == (1, 1, 0, 1)
    metrics = metrics_of(document_from_map("A*.X", "B..X", max_steps=1), {"A": "east", "B": "east"})
    assert (metrics.casualties, metrics.entered_fire, metrics.fire_spread) == (2, 1, 1)


def test_an_evacuation_on_the_final_step_counts() -> None:
    metrics = metrics_of(document_from_map("AX", "B.", max_steps=1), {"A": "east", "B": "stay"})
    assert (metrics.evacuated, metrics.unresolved, metrics.last_evacuation_step) == (1, 1, 1)


def test_whoever_is_not_evacuated_counts_max_steps_in_the_exit_step() -> None:
    document = document_from_map("AX..", "..B*", max_steps=20)
    metrics = metrics_of(document, {"A": "stay", "B": "stay"}, {"A": "east"})
    assert metrics.evacuation_step_total == 2
    assert metrics.exit_step_total == 2 + 20
    assert metrics.exit_step == Fraction(11)
    assert metrics.mean_evacuation_step == Fraction(2)


def test_blocked_moves_are_counted_by_kind() -> None:
    document = document_from_map("A#.", "B.X", max_steps=2)
    metrics = metrics_of(document, {"A": "east", "B": "north"}, {"A": "north", "B": "west"})
    assert metrics.blocked == {
        "blocked_bounds": 2,
        "blocked_wall": 1,
        "blocked_fire": 0,
        "blocked_conflict": 0,
        "blocked_cycle": 0,
        "blocked_occupied": 1,
    }


def test_nobody_evacuated_has_no_mean_and_no_last_step() -> None:
    metrics = metrics_of(document_from_map("A#X", max_steps=3), *[{"A": "stay"}] * 3)
    assert metrics.last_evacuation_step is None
    assert metrics.mean_evacuation_step is None
    assert metrics.trapped_at_start == 1
    assert metrics.exit_step == 3


def test_metrics_are_json_ready() -> None:
    document = document_from_map("AX.C", "B.*.", max_steps=9, fire={"spread_interval": 9})
    steps = (
        {"A": "stay", "B": "north", "C": "south"},
        {"A": "east", "B": "stay", "C": "west"},
        {"B": "east"},
        {"B": "north"},
    )
    value = metrics_of(document, *steps).to_dict()
    assert json.loads(json.dumps(value)) == value
    assert value == {
        "population": 3,
        "evacuated": 2,
        "casualties": 1,
        "casualties_by_cause": {"entered_fire": 1, "fire_spread": 0},
        "unresolved": 0,
        "trapped_at_start": 0,
        "steps": 4,
        "last_evacuation_step": 4,
        "evacuation_step_total": 6,
        "exit_step_total": 15,
        "blocked": {
            "blocked_bounds": 0,
            "blocked_wall": 0,
            "blocked_fire": 0,
            "blocked_conflict": 0,
            "blocked_cycle": 0,
            "blocked_occupied": 1,
        },
        "evacuation_rate": 2 / 3,
        "casualty_rate": 1 / 3,
        "exit_step": 5.0,
        "mean_evacuation_step": 3.0,
    }


def test_without_an_evacuation_the_mean_is_null_in_json() -> None:
    value = metrics_of(document_from_map("A#X", max_steps=1), {"A": "stay"}).to_dict()
    assert (value["mean_evacuation_step"], value["last_evacuation_step"]) == (None, None)
