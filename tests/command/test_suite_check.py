"""`ember suite check`: what is wrong, where, and what to do; how the suite stands to the published hashes."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from typer.testing import Result

from simulator import Scenario, Suite, load_suite
from simulator.command.sources import PublishedPins
from simulator.command.suite import PinStatus, pin_status
from tests.command.conftest import PUBLIC, ROOT

Invoke = Callable[..., Result]
PINS = json.loads((ROOT / "scenarios" / "published_pins.json").read_text())
FIRST = "v1-pub-01-single-exit-sparse.json"


def test_the_shipped_suite_is_whole_and_calls_itself_a_rebuild(invoke: Invoke) -> None:
    suite = load_suite(PUBLIC)
    done = invoke("suite", "check", str(PUBLIC))
    assert done.exit_code == 0
    assert f"emberbench-v1-public 1.0.1  {suite.suite_hash}" in done.stdout
    assert len(suite.entries) == 10
    assert all(entry.scenario_hash in done.stdout for entry in suite.entries)
    assert "A rebuild of emberbench-v1-public 1.0.0, not the published files" in done.stdout
    assert "descriptions" in done.stdout
    assert "official" not in done.output
    assert done.stderr == ""


def test_json_of_a_suite(invoke: Invoke) -> None:
    answer = json.loads(invoke("suite", "check", str(PUBLIC), "--json").stdout)
    assert set(answer) == {
        "ok", "suite_id", "suite_version", "suite_hash", "published", "not_canonical", "scenarios",
    }  # fmt: skip
    assert set(answer["published"]) == {"status", "suite_hash", "sentence"}
    assert (answer["published"]["status"], answer["published"]["suite_hash"]) == (
        "rebuild",
        PINS["suite_hash"],
    )
    assert len(answer["scenarios"]) == 10
    for row in answer["scenarios"]:
        assert set(row) == {"scenario_id", "path", "scenario_hash", "published_hash"}
        assert row["published_hash"] == PINS["scenarios"][row["scenario_id"]]


def test_one_changed_byte_names_file_both_hashes_and_the_remedy(invoke: Invoke, suite_copy: Path) -> None:
    path = suite_copy / FIRST
    expected = Scenario.from_json(path.read_bytes()).content_hash
    path.write_text(path.read_text().replace('"max_steps": 60', '"max_steps": 61'))
    actual = Scenario.from_json(path.read_bytes()).content_hash
    done = invoke("suite", "check", "suite")
    assert done.exit_code == 1
    [line] = done.stderr.splitlines()
    assert line.startswith(f"ember: suite/{FIRST}: expected hash {expected}, the file has {actual}; ")
    assert "fetch the file again" in line
    assert "suite_version" in line
    answer = json.loads(invoke("suite", "check", "suite", "--json").stdout)
    assert answer["ok"] is False
    assert answer["error"]["code"] == "hash_mismatch"
    [mismatch] = answer["error"]["mismatches"]
    assert (mismatch["expected"], mismatch["actual"]) == (expected, actual)
    assert set(mismatch) == {"file", "expected", "actual", "remedy"}


def test_every_changed_file_is_named(invoke: Invoke, suite_copy: Path) -> None:
    for path in suite_copy.glob("v1-*.json"):
        path.write_text(path.read_text().replace('"seed": 0', '"seed": 1'))
    done = invoke("suite", "check", "suite")
    assert done.exit_code == 1
    assert len(done.stderr.splitlines()) == 10


def test_a_description_changed_alone_is_a_change(invoke: Invoke, suite_copy: Path) -> None:
    path = suite_copy / FIRST
    path.write_text(path.read_text().replace("CANONICAL V1", "CANONICAL  V1"))
    assert invoke("suite", "check", "suite").exit_code == 1


def damage_manifest(directory: Path, change: Callable[[dict[str, Any]], None]) -> None:
    path = directory / "manifest.json"
    document = json.loads(path.read_text())
    change(document)
    path.write_text(json.dumps(document))


@pytest.mark.parametrize(
    ("damage", "said"),
    [
        (lambda d: (d / "notes.txt").write_text("stray"), "notes.txt: expected only manifest.json"),
        (lambda d: (d / "more").mkdir(), "more: expected only files"),
        (lambda d: (d / FIRST).unlink(), f"expected the file {FIRST} beside the manifest"),
        (lambda d: (d / FIRST).write_text("{oops"), "expected JSON"),
        (lambda d: (d / FIRST).write_bytes(b"\xff"), "UTF-8"),
        (lambda d: (d / "manifest.json").write_text("[]"), "expected an object"),
        (lambda d: damage_manifest(d, lambda m: m.update(note=1)), "note"),
        (lambda d: damage_manifest(d, lambda m: m.update(suite_version="1.0")), "suite_version"),
        (
            lambda d: damage_manifest(d, lambda m: m["scenarios"][0].update(population=5)),
            "scenarios[0].population",
        ),
        (
            lambda d: damage_manifest(d, lambda m: m["scenarios"][0].update(path="../x.json")),
            "scenarios[0].path",
        ),
    ],
)
def test_every_other_fault_is_refused_with_its_place(
    invoke: Invoke, suite_copy: Path, damage: Callable[[Path], object], said: str
) -> None:
    damage(suite_copy)
    done = invoke("suite", "check", "suite")
    assert done.exit_code == 1, done.output
    assert said in done.stderr
    assert len(done.stderr.splitlines()) == 1


def test_another_form_of_a_file_is_a_note_since_no_hash_depends_on_it(
    invoke: Invoke, suite_copy: Path
) -> None:
    path = suite_copy / FIRST
    path.write_text(json.dumps(json.loads(path.read_text())))
    done = invoke("suite", "check", "suite")
    assert done.exit_code == 0
    assert f"{FIRST}: not in canonical file form" in done.stderr
    assert json.loads(invoke("suite", "check", "suite", "--json").stdout)["not_canonical"] == [FIRST]


def pins_of(suite: Suite, **changes: str) -> PublishedPins:
    fields = {
        "suite_id": suite.suite_id,
        "suite_version": suite.version,
        "suite_hash": suite.suite_hash,
        **changes,
    }
    return PublishedPins(**fields, scenarios={})


def test_a_suite_is_compared_by_hash_and_not_by_name() -> None:
    suite = load_suite(PUBLIC)
    other = "0" * 64
    assert pin_status(suite, pins_of(suite)) is PinStatus.MATCHES
    assert pin_status(suite, pins_of(suite, suite_version="9.9.9")) is PinStatus.MATCHES
    assert pin_status(suite, pins_of(suite, suite_version="1.0.0", suite_hash=other)) is PinStatus.REBUILD
    assert pin_status(suite, pins_of(suite, suite_hash=other)) is PinStatus.CHANGED
    assert pin_status(suite, pins_of(suite, suite_id="another")) is PinStatus.NO_PINS
    assert pin_status(suite, None) is PinStatus.NO_PINS


def test_files_that_hash_to_the_pins_are_recognised(invoke: Invoke, monkeypatch: pytest.MonkeyPatch) -> None:
    suite = load_suite(PUBLIC)
    monkeypatch.setattr("simulator.command.suite.published_pins", lambda: pins_of(suite))
    done = invoke("suite", "check", str(PUBLIC))
    assert done.exit_code == 0
    assert "Matches the published hashes of emberbench-v1-public 1.0.1" in done.stdout


def test_the_published_version_with_other_hashes_is_refused(invoke: Invoke, suite_copy: Path) -> None:
    damage_manifest(suite_copy, lambda manifest: manifest.update(suite_version="1.0.0"))
    done = invoke("suite", "check", "suite")
    assert done.exit_code == 1
    assert PINS["suite_hash"] in done.stdout
    assert "needs a suite_version of its own" in done.stdout
    answer = json.loads(invoke("suite", "check", "suite", "--json").stdout)
    assert (answer["ok"], answer["published"]["status"]) == (False, "changed")


def test_a_suite_of_ones_own_has_no_published_hashes(invoke: Invoke, suite_copy: Path) -> None:
    damage_manifest(suite_copy, lambda manifest: manifest.update(suite_id="mine"))
    done = invoke("suite", "check", "suite")
    assert done.exit_code == 0
    assert "No hashes are published for a suite mine." in done.stdout
