"""Suites and scenarios through the API: the same bytes as the files, seeds as strings."""

from __future__ import annotations

import hashlib
import json

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from ember_site.catalog.models import Scenario, Suite, SuiteEntry, SuiteVisibility
from ember_site.runs.models import Visibility
from ember_site.runs.services import run_set_visibility
from simulator import canonical_json
from tests.simulator.builders import PUBLIC_SUITE
from tests.site.api.world import world_make


def test_the_entrance_leads_to_everything(client, suite):
    document = client.get("/api/v1/").json()
    for name, link in document["links"].items():
        assert client.get(link).status_code == (401 if name == "submissions" else 200)


def test_a_suite_lists_its_scenarios_in_order_with_links_that_work(client, suite):
    [listed] = client.get("/api/v1/suites/").json()["results"]
    assert (listed["suite_hash"], listed["scenario_count"], listed["population"]) == (
        suite.suite_hash,
        10,
        187,
    )
    detail = client.get(listed["links"]["self"]).json()
    assert [entry["position"] for entry in detail["entries"]] == list(range(1, 11))
    assert detail["scenario_count"] == 10
    for link in (*listed["links"].values(), *detail["entries"][0]["scenario"]["links"].values()):
        assert client.get(link).status_code == 200


@pytest.mark.parametrize("number", range(10))
def test_a_scenario_file_is_the_published_file_byte_for_byte(number: int, client, suite):
    scenario = suite.entries.get(position=number + 1).scenario
    response = client.get(f"/api/v1/scenarios/{scenario.content_hash}/file/")
    assert response.content == (PUBLIC_SUITE / f"{scenario.scenario_id}.json").read_bytes()
    assert hashlib.sha256(canonical_json(json.loads(response.content)).encode()).hexdigest() == (
        response["ETag"].strip('"')
    )


def test_the_manifest_is_the_published_file_and_hashes_to_the_suite_hash(client, suite):
    response = client.get(f"/api/v1/suites/{suite.suite_id}/{suite.version}/manifest/")
    assert response.content == (PUBLIC_SUITE / "manifest.json").read_bytes()
    digest = hashlib.sha256(canonical_json(json.loads(response.content)).encode()).hexdigest()
    assert response["ETag"] == f'"{digest}"' == f'"{suite.suite_hash}"'


@pytest.mark.parametrize("header", ['"{}"', 'W/"{}"', '"other", "{}"', "*"])
def test_who_has_the_file_gets_304(header: str, client, suite):
    scenario = suite.entries.get(position=1).scenario
    url = f"/api/v1/scenarios/{scenario.content_hash}/file/"
    response = client.get(url, headers={"if-none-match": header.format(scenario.content_hash)})
    assert (response.status_code, response.content) == (304, b"")
    assert response["ETag"] == f'"{scenario.content_hash}"'
    assert client.get(url, headers={"if-none-match": '"other"'}).status_code == 200


@pytest.mark.parametrize("thing", ["suite", "manifest", "scenario", "file", "record"])
def test_what_never_changes_is_fetched_once(thing: str, client, user, evaluation):
    world = world_make(owner=user, evaluation=evaluation, visibility="public")
    suite = f"/api/v1/suites/{world.names['suite_id']}/{world.names['version']}/"
    scenario = f"/api/v1/scenarios/{world.names['content_hash']}/"
    url = {
        "suite": suite,
        "manifest": f"{suite}manifest/",
        "scenario": scenario,
        "file": f"{scenario}file/",
        "record": f"/api/v1/runs/{world.names['run_id']}/record/",
    }[thing]
    first = client.get(url)
    etag = first["ETag"]
    assert first.status_code == 200
    again = client.get(url, headers={"if-none-match": etag})
    assert (again.status_code, again.content, again["ETag"]) == (304, b"", etag)
    assert "Content-Type" not in again, "there is no content"
    assert client.get(url, headers={"if-none-match": f"W/{etag}"}).status_code == 304
    assert client.get(url, headers={"if-none-match": '"other"'}).content == first.content


@pytest.mark.parametrize("held", ["{}", "W/{}", "*"])
def test_who_may_not_see_a_thing_is_not_told_that_it_is_still_the_same(
    held: str, client, user, user_client, evaluation
):
    world = world_make(owner=user, evaluation=evaluation, visibility="public")
    record = f"/api/v1/runs/{world.names['run_id']}/record/"
    suite = f"/api/v1/suites/{world.names['suite_id']}/{world.names['version']}/"
    etags = {address: client.get(address)["ETag"] for address in (record, suite, f"{suite}manifest/")}
    run_set_visibility(viewer=user, run=world.run, visibility=Visibility.PRIVATE)
    Suite.objects.update(visibility=SuiteVisibility.GENERATED)
    for address, etag in etags.items():
        answer = client.get(address, headers={"if-none-match": held.format(etag)})
        assert (answer.status_code, answer.get("ETag")) == (404, None)
    assert user_client.get(record, headers={"if-none-match": etags[record]}).status_code == 304


@pytest.mark.parametrize("part", ["", "manifest/"])
def test_a_head_is_a_get_without_its_body(part: str, client, suite):
    address = f"/api/v1/suites/{suite.suite_id}/{suite.version}/{part}"
    got, head = client.get(address), client.head(address)
    assert head.content == b""
    assert {name: head[name] for name in ("ETag", "Cache-Control", "Vary", "Content-Type")} == {
        name: got[name] for name in ("ETag", "Cache-Control", "Vary", "Content-Type")
    }
    assert client.head(address, headers={"if-none-match": got["ETag"]}).status_code == 304


def test_a_scenario_that_another_suite_takes_in_is_told_anew(client, suite):
    entry = suite.entries.select_related("scenario").first()
    url = f"/api/v1/scenarios/{entry.scenario_id}/"
    etag = client.get(url)["ETag"]
    other = Suite.objects.create(
        suite_id="other", version="1.0.0", suite_hash="f" * 64, visibility="public", manifest="{}"
    )
    SuiteEntry.objects.create(suite=other, scenario_id=entry.scenario_id, position=1, families=["open"])
    assert client.get(url, headers={"if-none-match": etag}).status_code == 200


def test_seeds_are_decimal_strings_even_beyond_what_a_browser_can_count(client, suite):
    scenario = suite.entries.get(position=10).scenario
    seed = 2**64 - 1
    document = json.loads(scenario.document) | {"seed": seed}
    Scenario.objects.filter(pk=scenario.pk).update(document=canonical_json(document))
    answer = client.get(f"/api/v1/scenarios/{scenario.content_hash}/").json()
    assert answer["seed"] == answer["document"]["seed"] == str(seed)
    assert (
        f'"seed": {seed}' in client.get(f"/api/v1/scenarios/{scenario.content_hash}/file/").content.decode()
    )


def test_scenarios_page_by_cursor_without_repeats(client, suite):
    seen, url = [], "/api/v1/scenarios/?page_size=3"
    while url:
        page = client.get(url).json()
        seen += [scenario["scenario_id"] for scenario in page["results"]]
        url = page["next"]
    assert seen == sorted(seen)
    assert len(seen) == len(set(seen)) == 10


def test_scenarios_can_be_filtered(client, suite):
    [only] = client.get("/api/v1/scenarios/", {"fire_model": "stochastic"}).json()["results"]
    assert only["hazard"] == "sto/1 p=0.5"
    [named] = client.get("/api/v1/scenarios/", {"scenario_id": "v1-pub-03-corridor-bottleneck"}).json()[
        "results"
    ]
    assert named["population"] == 8


@pytest.mark.parametrize("address", ["/api/v1/suites/", "/api/v1/scenarios/"])
def test_lists_take_the_same_queries_whatever_their_length(address: str, client, suite):
    def count() -> int:
        with CaptureQueriesContext(connection) as captured:
            client.get(address)
        return len(captured)

    few = count()
    entries = list(suite.entries.all())
    for version in ("1.0.2", "1.0.3", "1.0.10"):
        other = Suite.objects.create(
            suite_id=suite.suite_id, version=version, suite_hash=version, visibility="public", manifest="{}"
        )
        SuiteEntry.objects.bulk_create(
            SuiteEntry(
                suite=other, scenario_id=entry.scenario_id, position=entry.position, families=entry.families
            )
            for entry in entries
        )
    assert count() == few
