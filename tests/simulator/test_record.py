"""Record files: canonical form, digest, and hostile texts that only ever raise the format error."""

from __future__ import annotations

import contextlib
import hashlib
import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from simulator import RecordFormatError, RunRecord, policies, record_header, replay, run_episode
from tests.simulator.builders import document_from_map, golden_cases, scenario_of, simulate
from tests.simulator.reference_engine import canonical

DOCUMENT = document_from_map("A..#X", "*.B..", fire={"spread_interval": 2}, max_steps=6, seed=2**64 - 1)
TEXT = run_episode(scenario_of(DOCUMENT), policies.greedy).to_json()

HOSTILE: dict[str, tuple[str | bytes, str]] = {
    "empty": ("", ""),
    "blank": (" \n", ""),
    "a number": ("7", ""),
    "a list": ("[]", ""),
    "a string": ('"record"', ""),
    "null": ("null", ""),
    "an empty object": ("{}", "header"),
    "cut in the middle": (TEXT[: len(TEXT) // 2], ""),
    "two records": (TEXT + TEXT, ""),
    "trailing text": (TEXT + " x", ""),
    "byte order mark": (b"\xef\xbb\xbf" + TEXT.encode(), ""),
    "UTF-16": (TEXT.encode("utf-16"), ""),
    "UTF-16 without a mark": (TEXT.encode("utf-16-le"), ""),
    "gzip magic": (b"\x1f\x8b" + TEXT.encode(), ""),
    "repeated top key": (TEXT[:-1] + ',"termination":null}', "termination"),
    "repeated key in the header": (TEXT.replace('"seed":', '"seed":1,"seed":', 1), "header.seed"),
    "repeated person": (TEXT.replace('"A":"', '"A":"stay","A":"', 1), "steps[0].actions.A"),
    "NaN": (TEXT.replace('"burning":1', '"burning":NaN', 1), "initial.burning"),
    "Infinity": (TEXT.replace('"burning":1', '"burning":Infinity', 1), "initial.burning"),
    "1e999": (TEXT.replace('"burning":1', '"burning":1e999', 1), "initial.burning"),
    "1.0": (TEXT.replace('"burning":1', '"burning":1.0', 1), "initial.burning"),
    "1e0": (TEXT.replace('"burning":1', '"burning":1e0', 1), "initial.burning"),
    "true": (TEXT.replace('"burning":1', '"burning":true', 1), "initial.burning"),
    "-0.0": (TEXT.replace('"fire_draws":0', '"fire_draws":-0.0', 1), "initial.fire_draws"),
    "10,000 digits": (TEXT.replace('"burning":1', '"burning":' + "1" * 10_000, 1), "initial.burning"),
    "negative count": (TEXT.replace('"burning":1', '"burning":-1', 1), "initial.burning"),
    "lone surrogate": (TEXT.replace('"A":"', '"\\ud800":"', 1), ""),
    "lone surrogate value": (TEXT.replace('"A":"east"', '"A":"\\udfff"', 1), "steps[0].actions.A"),
    "deep list": ("[" * 100_000, ""),
    "deep list inside": (TEXT.replace('"trapped":[]', '"trapped":' + "[" * 100_000, 1), ""),
    "deep closed list inside": (
        TEXT.replace('"trapped":[]', '"trapped":' + "[" * 100_000 + "]" * 100_000, 1),
        "",
    ),
    "ID with a newline": (TEXT.replace('"A":"', '"A\\n":"', 1), "steps[0].actions"),
    "person ID of 65 characters": (TEXT.replace('"A":"', '"' + "A" * 65 + '":"', 1), "steps[0].actions"),
    "evacuation of no ID": (
        TEXT.replace('"evacuations":[]', '"evacuations":["A B"]', 1),
        "steps[0].evacuations[0]",
    ),
}


@pytest.mark.parametrize("name", HOSTILE)
def test_a_hostile_record_is_refused_with_its_place(name: str) -> None:
    text, place = HOSTILE[name]
    assert text not in (TEXT, TEXT.encode())
    with pytest.raises(RecordFormatError) as caught:
        RunRecord.from_json(text)
    assert caught.value.place.startswith(place)
    assert place or caught.value.place == "" or "surrogate" in caught.value.message
    assert len(str(caught.value)) < 400
    verdict = replay(text, scenario_of(DOCUMENT))
    assert (verdict.code, verdict.place) == ("record_format", caught.value.place)


def test_minus_zero_as_an_integer_is_zero() -> None:
    text = TEXT.replace('"fire_draws":0', '"fire_draws":-0')
    assert RunRecord.from_json(text).to_json() == TEXT
    assert replay(text, scenario_of(DOCUMENT)).verified


@settings(max_examples=150)
@given(st.data())
def test_a_damaged_record_only_ever_raises_the_format_error(data: st.DataObject) -> None:
    text = bytearray(TEXT.encode())
    for _ in range(data.draw(st.integers(1, 4))):
        at = data.draw(st.integers(0, len(text) - 1))
        text[at : at + data.draw(st.integers(0, 3))] = data.draw(st.binary(max_size=3))
    verdict = replay(bytes(text), scenario_of(DOCUMENT))
    assert verdict.code in ("record_format", "replay_mismatch", "verified")
    if verdict.code == "record_format":
        with pytest.raises(RecordFormatError) as caught:
            RunRecord.from_json(bytes(text))
        assert caught.value.place == verdict.place
    else:
        record = RunRecord.from_json(bytes(text))
        # Fire is deterministic here: a record with another seed is another honest record.
        honest = json.loads(TEXT)
        honest["header"]["seed"] = record.header.seed
        assert verdict.verified is (record.to_json() == canonical(honest))


@settings(max_examples=100)
@given(st.binary(max_size=80) | st.text(max_size=80))
def test_arbitrary_bytes_are_a_format_error(data: bytes | str) -> None:
    with pytest.raises(RecordFormatError):
        RunRecord.from_json(data)
    assert replay(data, scenario_of(DOCUMENT)).code == "record_format"


def test_the_canonical_text_is_dense_sorted_ascii() -> None:
    assert canonical(json.loads(TEXT)) == TEXT
    assert TEXT.isascii()
    assert " " not in TEXT


def test_the_digest_is_the_hash_of_the_canonical_text() -> None:
    record = RunRecord.from_json(json.dumps(json.loads(TEXT), indent=3))
    assert record.to_json() == TEXT
    assert record.digest == hashlib.sha256(TEXT.encode()).hexdigest()


def test_the_header_and_the_end_can_be_read() -> None:
    record = RunRecord.from_json(TEXT)
    scenario = scenario_of(DOCUMENT)
    assert record.header.scenario_hash == scenario.content_hash
    assert record.header.scenario_id == "built"
    assert record.header.seed == 2**64 - 1
    assert (record.header.simulator_version, record.header.observation_version) == ("0.2.0", "1.0")
    assert record.header.schema_version == "1.0"
    assert record.termination is not None
    assert record.to_dict() == json.loads(TEXT)
    record.to_dict().clear()
    assert record.to_dict() == json.loads(TEXT)


def test_the_quick_look_at_the_header_agrees_with_the_loader() -> None:
    assert record_header(TEXT) == record_header(TEXT.encode()) == RunRecord.from_json(TEXT).header


@pytest.mark.parametrize("name", HOSTILE)
def test_the_quick_look_at_the_header_never_crashes(name: str) -> None:
    text, _ = HOSTILE[name]
    with contextlib.suppress(RecordFormatError):
        assert record_header(text).scenario_id == "built"


def test_a_record_of_a_run_in_progress_loads() -> None:
    case = golden_cases()[3]
    record = simulate(case["scenario"], case["actions"][:2], case["seed"]).record()
    loaded = RunRecord.from_json(record.to_json())
    assert loaded.termination is None
    assert loaded == record


def test_a_record_taken_early_is_not_changed_by_later_steps() -> None:
    case = golden_cases()[3]
    simulator = simulate(case["scenario"], case["actions"][:2], case["seed"])
    early = simulator.record()
    text, digest = early.to_json(), early.digest
    simulator.step(case["actions"][2])
    assert (early.to_json(), early.digest) == (text, digest)
    assert simulator.record().to_json() != text
