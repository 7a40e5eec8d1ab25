"""Importing a suite: idempotent, immutable, all or nothing."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from django.db import IntegrityError

from ember_site.catalog import archive
from ember_site.catalog.models import Scenario, Suite, SuiteEntry
from ember_site.catalog.scenario_cache import scenario_load
from ember_site.catalog.services import SuiteConflict, suite_import
from ember_site.core.errors import NotFound
from simulator import SuiteError, load_suite
from tests.site.catalog.conftest import FIRST, PUBLIC_SUITE, suite_write

pytestmark = pytest.mark.django_db


def test_the_import_mirrors_the_directory(suite: Suite) -> None:
    loaded = load_suite(PUBLIC_SUITE)
    assert (suite.suite_id, suite.version, suite.suite_hash) == (
        loaded.suite_id,
        loaded.version,
        loaded.suite_hash,
    )
    entries = list(suite.entries.select_related("scenario"))
    assert [entry.scenario.document for entry in entries] == [s.to_json() for s in loaded.scenarios]
    assert [entry.purpose for entry in entries] == [entry.purpose for entry in loaded.entries]
    assert [tuple(entry.families) for entry in entries] == [entry.families for entry in loaded.entries]
    crowd = entries[8].scenario
    assert (crowd.population, crowd.exit_count, crowd.width, crowd.height) == (100, 3, 26, 16)
    assert (crowd.hazard, crowd.max_steps, crowd.number, crowd.title) == (
        "det/4",
        200,
        "09",
        "Crowd 100 split flow",
    )


def test_the_same_suite_again_changes_nothing(suite: Suite) -> None:
    again = suite_import(directory=PUBLIC_SUITE)
    assert again.pk == suite.pk
    assert again.imported_at == suite.imported_at
    assert (Suite.objects.count(), SuiteEntry.objects.count(), Scenario.objects.count()) == (1, 10, 10)


def test_a_changed_suite_under_the_same_version_is_refused_with_both_hashes(
    suite: Suite, tmp_path: Path
) -> None:
    def longer(document: dict[str, dict[str, int]]) -> None:
        document["termination"]["max_steps"] = 61

    directory = suite_write(tmp_path / "changed", version=suite.version, first=longer)
    with pytest.raises(SuiteConflict) as caught:
        suite_import(directory=directory)
    other = load_suite(directory).suite_hash
    assert suite.suite_hash in caught.value.message
    assert other in caught.value.message
    assert caught.value.data == {"imported_hash": suite.suite_hash, "directory_hash": other}
    assert caught.value.error_code == "suite_conflict"
    assert Suite.objects.get().manifest == suite.manifest


def test_a_changed_word_of_the_manifest_alone_is_refused_too(suite: Suite, tmp_path: Path) -> None:
    def reword(manifest: dict[str, list[dict[str, str]]]) -> None:
        manifest["scenarios"][0]["purpose"] = "Another purpose."

    with pytest.raises(SuiteConflict):
        suite_import(directory=suite_write(tmp_path / "reworded", version=suite.version, manifest=reword))


def test_a_new_version_keeps_the_old_bytes_and_shares_what_did_not_change(
    suite: Suite, tmp_path: Path
) -> None:
    old = {entry.scenario.scenario_id: entry.scenario for entry in suite.entries.select_related("scenario")}

    def longer(document: dict[str, dict[str, int]]) -> None:
        document["termination"]["max_steps"] = 61

    newer = suite_import(directory=suite_write(tmp_path / "newer", first=longer))
    new = {entry.scenario.scenario_id: entry.scenario for entry in newer.entries.select_related("scenario")}
    assert newer.suite_hash != suite.suite_hash
    assert [name for name in old if old[name] != new[name]] == [FIRST]
    assert (old[FIRST].max_steps, new[FIRST].max_steps) == (60, 61)
    assert Scenario.objects.count() == 11
    suite.refresh_from_db()
    assert archive.manifest_file_text(suite) == (PUBLIC_SUITE / "manifest.json").read_text(encoding="ascii")
    assert archive.scenario_file_text(old[FIRST]) == (PUBLIC_SUITE / f"{FIRST}.json").read_text(
        encoding="ascii"
    )


def test_a_directory_that_is_no_suite_leaves_nothing_behind(tmp_path: Path) -> None:
    directory = suite_write(tmp_path / "broken")
    path = directory / f"{FIRST}.json"
    path.write_text(path.read_text(encoding="ascii").replace('"seed": 0', '"seed": 1'), encoding="ascii")
    with pytest.raises(SuiteError) as caught:
        suite_import(directory=directory)
    assert caught.value.place == "scenarios[0].scenario_hash"
    assert not Suite.objects.exists()
    assert not Scenario.objects.exists()


def test_a_loser_of_a_race_gets_the_suite_of_the_winner(
    suite: Suite, monkeypatch: pytest.MonkeyPatch
) -> None:
    from ember_site.catalog import services

    answers = iter([None, suite])
    monkeypatch.setattr(services, "_suite_existing", lambda loaded: next(answers))
    assert suite_import(directory=PUBLIC_SUITE) == suite
    assert Suite.objects.count() == 1


def test_two_entries_cannot_take_one_place(suite: Suite) -> None:
    entry = suite.entries.get(position=1)
    with pytest.raises(IntegrityError):
        SuiteEntry.objects.create(
            suite=suite,
            scenario=suite.entries.get(position=2).scenario,
            position=entry.position,
            primary_family="x",
            families=["x"],
            purpose="x",
        )


def test_a_scenario_is_parsed_once_and_equals_its_file(first_hash: str, django_assert_num_queries) -> None:  # type: ignore[no-untyped-def]
    with django_assert_num_queries(1):
        scenario = scenario_load(first_hash)
        assert scenario_load(first_hash) is scenario
    assert scenario.to_dict() == json.loads((PUBLIC_SUITE / f"{FIRST}.json").read_text(encoding="ascii"))


def test_an_unknown_hash_is_not_found_and_not_remembered(db: None) -> None:
    unknown = load_suite(PUBLIC_SUITE).scenarios[0].content_hash
    with pytest.raises(NotFound):
        scenario_load(unknown)
    suite_import(directory=PUBLIC_SUITE)
    assert scenario_load(unknown).scenario_id == FIRST
