"""Who may see what, how scenarios are named, and how many queries it takes."""

from __future__ import annotations

from pathlib import Path

import pytest
from django.contrib.auth.models import AnonymousUser

from ember_site.accounts.models import User
from ember_site.catalog import pins, selectors
from ember_site.catalog.models import Scenario, Suite
from ember_site.catalog.services import suite_import
from ember_site.core.errors import NotFound
from tests.site.catalog.conftest import FIRST, suite_write

pytestmark = pytest.mark.django_db

NOBODY = AnonymousUser()


def hide(document: dict[str, object]) -> None:
    document["visibility"] = "generated"
    document["suite_id"] = "unseen"


def describe(document: dict[str, object]) -> None:
    document["description"] = "Unseen."


@pytest.fixture
def unseen(tmp_path: Path) -> Suite:
    """A generated suite whose first scenario is in no public one."""
    return suite_import(directory=suite_write(tmp_path / "unseen", manifest=hide, first=describe))


def test_a_generated_suite_is_for_organisers_only(
    suite: Suite, unseen: Suite, user: User, organiser: User
) -> None:
    secret = unseen.entries.get(position=1).scenario
    shared = unseen.entries.get(position=2).scenario
    for viewer in (NOBODY, None, user):
        assert [s.suite_id for s in selectors.suite_list(viewer=viewer)] == [suite.suite_id]
        with pytest.raises(NotFound):
            selectors.suite_get(viewer=viewer, suite_id="unseen", version="1.0.2")
        with pytest.raises(NotFound):
            selectors.scenario_get(viewer=viewer, ref=secret.content_hash)
        with pytest.raises(NotFound):
            selectors.scenario_get(viewer=viewer, ref=f"unseen/{FIRST}")
        assert secret not in selectors.scenario_list(viewer=viewer)
        assert selectors.scenario_get(viewer=viewer, ref=shared.content_hash) == shared
        places = selectors.scenario_entries(viewer=viewer, scenario=shared)
        assert [entry.suite for entry in places] == [suite]
    assert {s.suite_id for s in selectors.suite_list(viewer=organiser)} == {suite.suite_id, "unseen"}
    assert selectors.scenario_get(viewer=organiser, ref=secret.content_hash) == secret
    assert len(selectors.scenario_entries(viewer=organiser, scenario=shared)) == 2


def test_a_scenario_is_found_by_hash_and_by_name(suite: Suite, first_hash: str) -> None:
    for ref in (first_hash, f"{suite.suite_id}/{FIRST}", f"{suite.suite_id}@1.0.1/{FIRST}"):
        assert selectors.scenario_get(ref=ref).content_hash == first_hash


@pytest.mark.parametrize(
    "ref",
    [
        "",
        "/",
        "0" * 64,
        FIRST,
        f"/{FIRST}",
        "emberbench-v1-public/",
        "emberbench-v1-public/nothing",
        "emberbench-v1-public@9.9.9/" + FIRST,
        "other/" + FIRST,
        "../etc/passwd",
        "A" * 64,
        "\x00",
        "emberbench-v1-public@1\x00/" + FIRST,
        "a\x00/b",
    ],
)
def test_anything_else_is_not_found(suite: Suite, ref: str) -> None:
    with pytest.raises(NotFound):
        selectors.scenario_get(ref=ref)


def test_without_a_version_the_newest_by_number_is_meant(suite: Suite, tmp_path: Path) -> None:
    for version in ("1.0.9", "1.0.10"):
        directory = suite_write(
            tmp_path / version, version=version, first=lambda d, v=version: d.update(description=v)
        )
        suite_import(directory=directory)
    newest = selectors.scenario_get(ref=f"{suite.suite_id}/{FIRST}")
    assert '"description":"1.0.10"' in newest.document
    assert [s.version for s in selectors.suite_list(viewer=NOBODY)] == ["1.0.10", "1.0.9", "1.0.1"]
    assert [s.scenario_count for s in selectors.suite_list(viewer=NOBODY)] == [10, 10, 10]
    shared = suite.entries.get(position=2).scenario
    places = selectors.scenario_entries(viewer=NOBODY, scenario=shared)
    assert [entry.suite.version for entry in places] == ["1.0.10", "1.0.9", "1.0.1"]


def test_entries_stand_in_the_order_of_the_manifest(suite: Suite) -> None:
    numbers = [entry.scenario.number for entry in selectors.suite_entries(suite=suite)]
    assert numbers == [f"{number:02d}" for number in range(1, 11)]


def test_lists_take_the_same_number_of_queries_however_long(  # type: ignore[no-untyped-def]
    suite: Suite, tmp_path: Path, django_assert_num_queries
) -> None:
    for version in ("1.0.2", "1.0.3"):
        suite_import(
            directory=suite_write(
                tmp_path / version, version=version, first=lambda d, v=version: d.update(description=v)
            )
        )
    with django_assert_num_queries(2):
        suites = selectors.suite_list(viewer=NOBODY)
        assert [len(s.entries.all()) for s in suites] == [10, 10, 10]
        assert suites[0].entries.all()[3].scenario.number == "04"
    with django_assert_num_queries(1):
        assert len([entry.scenario.title for entry in selectors.suite_entries(suite=suite)]) == 10
    with django_assert_num_queries(1):
        assert len(list(selectors.scenario_list(viewer=NOBODY))) == 12


def test_a_hash_equal_to_the_pin_is_the_published_one() -> None:
    published = pins.published_pins()
    name, pin = next(iter(published.scenarios.items()))
    assert pins.scenario_pin(scenario_id=name, content_hash=pin).kind is pins.PinKind.PUBLISHED
    assert pins.suite_pin(suite_id=published.suite_id, suite_hash=published.suite_hash).kind == "published"


def test_another_hash_under_a_pinned_name_is_a_rebuild_and_says_so(suite: Suite) -> None:
    status = pins.suite_pin(suite_id=suite.suite_id, suite_hash=suite.suite_hash)
    assert status.kind is pins.PinKind.REBUILD
    assert status.pin == pins.published_pins().suite_hash
    assert "1.0.0" in status.sentence
    for scenario in Scenario.objects.all():
        kind = pins.scenario_pin(scenario_id=scenario.scenario_id, content_hash=scenario.content_hash).kind
        assert kind is pins.PinKind.REBUILD


def test_a_name_without_a_pin_is_unpinned() -> None:
    status = pins.scenario_pin(scenario_id="own", content_hash="0" * 64)
    assert (status.kind, status.pin) == (pins.PinKind.UNPINNED, "")
    assert pins.suite_pin(suite_id="own", suite_hash=pins.published_pins().suite_hash).kind == "unpinned"


@pytest.mark.parametrize(
    ("scenario_id", "number", "title"),
    [
        ("v1-pub-07-multiple-ignitions", "07", "Multiple ignitions"),
        ("v1-pub-09-crowd-100-split-flow", "09", "Crowd 100 split flow"),
        ("one_person_one_exit", "", "One person one exit"),
        ("3-rooms", "3", "Rooms"),
        ("_", "", "_"),
        ("x-12-", "", "X 12"),
    ],
)
def test_heading_and_number_come_from_the_id(scenario_id: str, number: str, title: str) -> None:
    scenario = Scenario(scenario_id=scenario_id)
    assert (scenario.number, scenario.title) == (number, title)
