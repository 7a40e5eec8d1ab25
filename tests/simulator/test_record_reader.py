"""Large records: read piece by piece, judged as small ones are, and never more than a piece at a time."""

from __future__ import annotations

import json
import pickle
import random
from pathlib import Path
from typing import Any

import pytest

from simulator import RecordFormatError, RecordLimitError, RunRecord, Scenario, is_canonical_replay, replay
from simulator import record_reader as reader
from tests.simulator.builders import scenario_of
from tests.simulator.forging import DOCUMENT, honest
from tests.simulator.tampering import CHANGES, NotCanonical, canonical
from tests.simulator.test_tampering import TAMPERING

TEXT = canonical(json.dumps(honest()).encode()).decode()
CASES = json.loads((Path(__file__).parents[1] / "data" / "mismatch_cases.json").read_text())


@pytest.fixture
def scenario() -> Scenario:
    return scenario_of(DOCUMENT)


@pytest.fixture
def everything_is_large(monkeypatch: pytest.MonkeyPatch) -> None:
    """As if every text were too large to be made one tree."""
    monkeypatch.setattr(reader, "_SMALL_VALUES", 0)


def fresh_step(**changes: Any) -> str:
    """The honest record with its first step changed."""
    record = honest()
    record["steps"][0] |= changes
    return json.dumps(record)


@pytest.mark.usefixtures("everything_is_large")
@pytest.mark.parametrize("name", TAMPERING)
def test_each_forgery_has_the_same_verdict_in_a_large_record(name: str, scenario: Scenario) -> None:
    forge, code, place = TAMPERING[name]
    verdict = replay(json.dumps(forge(honest())), scenario)
    assert (verdict.code, verdict.place) == (code, place)


@pytest.mark.usefixtures("everything_is_large")
@pytest.mark.parametrize("case", CASES["cases"], ids=lambda case: str(case["name"]))
def test_the_mismatch_cases_hold_in_a_large_record(case: dict[str, Any]) -> None:
    verdict = replay(case["record"], Scenario.from_dict(CASES["scenario"]))
    assert (verdict.code, verdict.place or None) == (case["code"], case["place"] or None)


@pytest.mark.parametrize("kind", CHANGES)
def test_random_changes_have_the_same_code_in_a_large_record(
    kind: str, scenario: Scenario, monkeypatch: pytest.MonkeyPatch
) -> None:
    rng = random.Random(f"large {kind}")
    for _ in range(100):
        text = CHANGES[kind](rng, TEXT)
        monkeypatch.setattr(reader, "_SMALL_VALUES", reader.MAX_PIECE_VALUES)
        small = replay(text, scenario)
        monkeypatch.setattr(reader, "_SMALL_VALUES", 0)
        large = replay(text, scenario)
        assert (large.code, large.digest, large.expected) == (small.code, small.digest, small.expected), text
        if small.place and kind != "two":  # of several faults another one may come first
            assert large.place == small.place, text


@pytest.mark.usefixtures("everything_is_large")
@pytest.mark.parametrize("indent", [None, 0, 3, "\t"])
def test_the_canonical_form_of_a_large_record_is_that_of_a_small_one(indent: int | str | None) -> None:
    shuffled = dict(sorted(honest().items(), reverse=True))
    assert RunRecord.from_json(json.dumps(shuffled, indent=indent)).to_json() == TEXT
    assert RunRecord.from_json(json.dumps({**honest(), "steps": []}, indent=indent)).to_dict()["steps"] == []


@pytest.mark.usefixtures("everything_is_large")
@pytest.mark.parametrize(
    ("text", "place"),
    [
        (TEXT[:-1], ""),
        (TEXT + "}", ""),
        (TEXT + "x", ""),
        ("[" + TEXT + "]", ""),
        ('"' + "x" * 50 + '"', ""),
        ("17", ""),
        ("", ""),
        ("[" * 100_000, ""),
        (TEXT.replace('"steps":[', '"steps":' + "[" * 100_000, 1), ""),
        (TEXT.replace('"ignitions":[', '"ignitions":' + "[" * 20 + "]" * 20 + ',"x":[', 1), "steps[0]"),
        (TEXT.replace('"termination":', '"termination":null,"termination":'), "termination"),
        (TEXT.replace('"termination":', '"end":'), "end"),
        (TEXT.replace('"steps":[', '"steps":[,'), ""),
        (TEXT.replace('"steps":[', '"steps":7,"x":['), "steps"),
        (TEXT.replace('"fire_draws":0', '"fire_draws":NaN', 1), "initial.fire_draws"),
        (TEXT.replace('"stay"', '"st\\ud800y"', 1), "steps[2].actions.E"),
        (TEXT.replace('"max_steps"', '"max_steps'), ""),
        (TEXT.replace('"initial"', '"init\\xial"'), ""),
    ],
)
def test_what_is_no_record_is_refused_with_its_place(text: str, place: str, scenario: Scenario) -> None:
    assert text != TEXT
    with pytest.raises(RecordFormatError) as caught:
        RunRecord.from_json(text)
    assert caught.value.place == place
    assert len(str(caught.value)) < 300
    assert replay(text, scenario).code == "record_format"


@pytest.mark.usefixtures("everything_is_large")
def test_brackets_quotes_and_commas_in_strings_are_no_structure(scenario: Scenario) -> None:
    odd = 'a"]}[{,:\\ \u00e9\U0001f525'
    record = honest()
    record["steps"][-1]["movements"]["E"] = odd
    verdict = replay(json.dumps(record), scenario)
    assert verdict.place == f"steps[{len(record['steps']) - 1}].movements.E"
    assert RunRecord.from_json(json.dumps(record, ensure_ascii=False)).to_dict() == record


@pytest.mark.usefixtures("everything_is_large")
def test_a_piece_beyond_every_record_is_refused_by_a_limit(
    monkeypatch: pytest.MonkeyPatch, scenario: Scenario
) -> None:
    monkeypatch.setattr(reader, "MAX_PIECE_VALUES", 500)
    text = fresh_step(ignitions=[[0, 0]] * 300)
    with pytest.raises(RecordLimitError) as caught:
        RunRecord.from_json(text)
    assert (caught.value.place, caught.value.limit) == ("steps[0]", 500)
    assert pickle.loads(pickle.dumps(caught.value)).limit == 500
    verdict = replay(text, scenario)
    assert (verdict.code, verdict.place) == ("limit_exceeded", "steps[0]")
    assert "500 values" in verdict.message


@pytest.mark.usefixtures("everything_is_large")
def test_a_piece_of_white_space_is_refused_by_a_limit(
    monkeypatch: pytest.MonkeyPatch, scenario: Scenario
) -> None:
    monkeypatch.setattr(reader, "MAX_PIECE_BYTES", 5000)
    text = TEXT.replace('"burning":', '"burning":' + " " * 5000, 2)
    verdict = replay(text, scenario)
    assert (verdict.code, verdict.place) == ("limit_exceeded", "initial")
    between = TEXT.replace('"steps":[', '"steps":[' + " " * 5000)
    assert replay(between, scenario).verified


def test_only_canonical_bytes_are_a_canonical_replay(scenario: Scenario) -> None:
    assert is_canonical_replay(TEXT, scenario)
    assert is_canonical_replay(f" {TEXT}\n".encode(), scenario)
    assert not is_canonical_replay(TEXT.replace(",", ", ", 1), scenario)
    rng = random.Random("canonical replay")
    for kind in CHANGES:
        for _ in range(50):
            changed = CHANGES[kind](rng, TEXT)
            if changed.strip() != TEXT.encode():
                try:
                    other_run = canonical(changed) == changed.strip() and replay(changed, scenario).verified
                except NotCanonical:
                    other_run = False
                assert is_canonical_replay(changed, scenario) is other_run
