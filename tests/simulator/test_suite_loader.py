"""The suite loader refuses what is not exactly a suite, and says where and what to do."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from simulator import Scenario, Suite, SuiteError, load_suite
from tests.simulator.builders import PUBLIC_SUITE

FIRST = "v1-pub-01-single-exit-sparse"
SECOND = "v1-pub-02-single-exit-dense"
Manifest = dict[str, Any]


@pytest.fixture
def directory(tmp_path: Path) -> Path:
    """A copy of the public suite to spoil."""
    return Path(shutil.copytree(PUBLIC_SUITE, tmp_path / "suite"))


def edit_manifest(directory: Path, edit: Callable[[Manifest], object]) -> None:
    path = directory / "manifest.json"
    manifest = json.loads(path.read_text(encoding="ascii"))
    edit(manifest)
    path.write_text(json.dumps(manifest, indent=2, sort_keys=True) + "\n", encoding="ascii")


def refusal(directory: Path) -> SuiteError:
    with pytest.raises(SuiteError) as caught:
        load_suite(directory)
    return caught.value


@pytest.mark.parametrize(
    "name",
    [
        "README.md",
        "v1-pub-11-extra.json",
        ".hidden",
        "manifest.json.bak",
        "V1-PUB-01-SINGLE-EXIT-SPARSE.json",
    ],
)
def test_a_stray_file_is_refused_by_name(directory: Path, name: str) -> None:
    (directory / name).write_text("{}", encoding="ascii")
    assert name in refusal(directory).message


def test_a_stray_directory_is_refused_by_name(directory: Path) -> None:
    (directory / "old").mkdir()
    assert "old" in refusal(directory).message


def test_a_link_to_nothing_is_refused_by_name(directory: Path) -> None:
    (directory / "old").symlink_to("nowhere")
    assert refusal(directory).message == "old: cannot be read (No such file or directory)"


@pytest.mark.parametrize("method", ["is_dir", "iterdir", "read_bytes"])
def test_what_cannot_be_read_is_a_refusal_with_its_cause(
    directory: Path, monkeypatch: pytest.MonkeyPatch, method: str
) -> None:
    def refuse(path: Path) -> None:
        raise PermissionError(13, "Permission denied", str(path))

    monkeypatch.setattr(Path, method, refuse)
    error = refusal(directory)
    assert "cannot be read (Permission denied)" in error.message
    assert isinstance(error.__cause__, PermissionError)


def test_a_missing_file_is_named_with_its_entry(directory: Path) -> None:
    (directory / f"{SECOND}.json").unlink()
    error = refusal(directory)
    assert error.place == "scenarios[1]"
    assert f"{SECOND}.json" in error.message


def test_a_missing_manifest_and_a_missing_directory_are_refused(directory: Path) -> None:
    (directory / "manifest.json").unlink()
    assert "manifest.json" in refusal(directory).message
    assert "nowhere" in refusal(directory / "nowhere").message


@pytest.mark.parametrize(
    "key", ["suite_id", "suite_version", "visibility", "seed_role", "schema_version", "scenarios"]
)
def test_a_missing_key_of_the_manifest_is_named(directory: Path, key: str) -> None:
    edit_manifest(directory, lambda manifest: manifest.pop(key))
    assert refusal(directory).place == key


ENTRY_KEYS = [
    "scenario_id",
    "path",
    "schema_version",
    "scenario_hash",
    "primary_family",
    "families",
    "population",
    "exit_count",
    "ignition_count",
    "fire_model",
    "purpose",
]


@pytest.mark.parametrize("key", ENTRY_KEYS)
def test_a_missing_key_of_an_entry_is_named(directory: Path, key: str) -> None:
    edit_manifest(directory, lambda manifest: manifest["scenarios"][3].pop(key))
    assert refusal(directory).place == f"scenarios[3].{key}"


def test_unknown_keys_are_named_on_both_levels(directory: Path) -> None:
    edit_manifest(directory, lambda manifest: manifest["scenarios"][2].update(difficulty=3))
    assert refusal(directory).place == "scenarios[2].difficulty"
    edit_manifest(directory, lambda manifest: manifest.update(title="x"))
    assert refusal(directory).place == "title"


def test_a_repeated_key_is_refused(directory: Path) -> None:
    path = directory / "manifest.json"
    text = path.read_text(encoding="ascii")
    path.write_text(text.replace('"suite_id"', '"suite_id": "other",\n  "suite_id"', 1), encoding="ascii")
    assert refusal(directory).place == "suite_id"


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("suite_id", "two words"),
        ("suite_version", "1.0"),
        ("suite_version", "1.0.01"),
        ("suite_version", "1.0.1-rc1"),
        ("visibility", "secret"),
        ("seed_role", "scored"),
        ("schema_version", "1.1"),
        ("scenarios", []),
        ("scenarios", {}),
    ],
)
def test_a_wrong_value_of_the_manifest_is_refused(directory: Path, key: str, value: object) -> None:
    edit_manifest(directory, lambda manifest: manifest.update({key: value}))
    assert refusal(directory).place == key


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("population", 5),
        ("population", 4.0),
        ("population", True),
        ("exit_count", 2),
        ("ignition_count", 0),
        ("fire_model", "stochastic"),
        ("fire_model", "slow"),
        ("schema_version", "2.0"),
        ("path", "scenario.json"),
        ("path", "../v1/v1-pub-01-single-exit-sparse.json"),
        ("scenario_hash", "0" * 64),
        ("scenario_hash", "D70B"),
        ("families", []),
        ("families", ["single_exit_low_density", "single_exit_low_density"]),
        ("families", ["z", "single_exit_low_density"]),
        ("primary_family", "crowd_100"),
        ("purpose", ""),
        ("purpose", "two\nlines"),
    ],
)
def test_a_pinned_field_that_does_not_fit_is_refused(directory: Path, key: str, value: object) -> None:
    edit_manifest(directory, lambda manifest: manifest["scenarios"][0].update({key: value}))
    assert refusal(directory).place.startswith(f"scenarios[0].{key}")


def test_entries_stand_in_id_order_and_none_comes_twice(directory: Path) -> None:
    edit_manifest(directory, lambda manifest: manifest["scenarios"].reverse())
    assert refusal(directory).place == "scenarios[1].scenario_id"
    edit_manifest(directory, lambda manifest: manifest["scenarios"].reverse())
    edit_manifest(directory, lambda manifest: manifest["scenarios"].insert(1, manifest["scenarios"][0]))
    assert refusal(directory).place == "scenarios[1].scenario_id"


def test_one_changed_byte_is_refused_with_file_both_hashes_and_the_remedy(directory: Path) -> None:
    path = directory / f"{FIRST}.json"
    expected = Scenario.from_json(path.read_bytes()).content_hash
    path.write_bytes(path.read_bytes().replace(b'"max_steps": 60', b'"max_steps": 61'))
    actual = Scenario.from_json(path.read_bytes()).content_hash
    error = refusal(directory)
    assert error.place == "scenarios[0].scenario_hash"
    assert expected != actual
    for told in (f"{FIRST}.json", expected, actual, "fetch the file again", "suite_version"):
        assert told in error.message


def test_every_flipped_byte_of_a_file_is_refused_unless_it_is_white_space(directory: Path) -> None:
    path = directory / f"{FIRST}.json"
    data = path.read_bytes()
    files = {other.name: other.read_bytes() for other in directory.iterdir() if other.name != "manifest.json"}
    manifest = (directory / "manifest.json").read_bytes()
    known = load_suite(directory).suite_hash

    def place_of_refusal(spoiled: bytes) -> str:
        try:
            suite = Suite.parse(manifest, files | {path.name: spoiled})
        except SuiteError as error:
            return error.place
        assert suite.suite_hash == known
        return ""

    for index in range(0, len(data), 7):
        flipped = data[:index] + bytes([data[index] ^ 1]) + data[index + 1 :]
        place = place_of_refusal(flipped)
        assert place.startswith("scenarios[0]") or data[index : index + 1].isspace()


def test_a_file_that_is_no_scenario_is_refused_with_file_and_place(directory: Path) -> None:
    path = directory / f"{SECOND}.json"
    path.write_bytes(path.read_bytes().replace(b'"width": 12', b'"width": 1200'))
    error = refusal(directory)
    assert error.place == "scenarios[1]"
    pinned = load_suite(PUBLIC_SUITE).entries[1].scenario_hash
    for told in (f"{SECOND}.json: grid.width", pinned, "fetch the file again", "suite_version"):
        assert told in error.message


def test_a_changed_suite_under_a_new_version_has_a_new_suite_hash(directory: Path) -> None:
    before = load_suite(directory)
    path = directory / f"{FIRST}.json"
    path.write_bytes(path.read_bytes().replace(b'"max_steps": 60', b'"max_steps": 61'))
    changed = Scenario.from_json(path.read_bytes())

    def pin(manifest: Manifest) -> None:
        manifest["suite_version"] = "1.0.2"
        manifest["scenarios"][0]["scenario_hash"] = changed.content_hash

    edit_manifest(directory, pin)
    after = load_suite(directory)
    assert after.suite_hash != before.suite_hash
    assert [s.content_hash for s in after.scenarios[1:]] == [s.content_hash for s in before.scenarios[1:]]


def test_the_suite_hash_covers_the_metadata_too(directory: Path) -> None:
    before = load_suite(directory).suite_hash
    edit_manifest(directory, lambda manifest: manifest["scenarios"][0].update(purpose="Another purpose."))
    assert load_suite(directory).suite_hash != before
