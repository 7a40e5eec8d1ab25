"""Every list: cursor pages without repeats, strict filters, named orders, the same queries at any length."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import timedelta
from typing import Any

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from ember_site.accounts.models import User
from ember_site.api.lists import ApiList
from ember_site.boards.models import Evaluation
from ember_site.catalog.models import Scenario, Suite, SuiteEntry
from ember_site.core import clock
from ember_site.episodes.models import Episode
from ember_site.runs.models import Agent, Run, RunSource, RunState, Submission, SubmissionSource
from tests.site.api.test_api_roles import endpoints

LISTS = (
    "suites", "scenarios", "agents", "submissions", "runs", "episodes", "episodes/?mine=true",
    "evaluations", "boards", "boards/public-dev",
)  # fmt: skip


def address(name: str) -> str:
    return f"/api/v1/{name}" if "?" in name else f"/api/v1/{name}/"


def fill(owner: User, evaluation: Evaluation, first: int, count: int) -> None:
    """Add `count` of everything that is listed."""
    slot = evaluation.slots.select_related("scenario").first()
    assert slot is not None
    for number in range(first, first + count):
        agent = Agent.objects.create(name=f"Agent {number}", slug=f"agent-{number}", owner=owner)
        run = Run(
            agent=agent, scenario=slot.scenario, scenario_hash=slot.scenario_id, digest=f"{number:064x}",
            seed=slot.seed, simulator_version=evaluation.simulator_version,
            observation_version=evaluation.observation_version, source=RunSource.UPLOAD, ranked=True,
            state=RunState.VERIFIED, population=slot.scenario.population, evacuated=0, casualties=0,
            unresolved=slot.scenario.population, exit_step_total=5, ended=True, record_size_bytes=1,
        )  # fmt: skip
        run.save()
        Submission.objects.create(owner=owner, agent=agent, source=SubmissionSource.API, size_bytes=1)
        Episode.objects.create(
            scenario=slot.scenario, agent=agent, owner=owner, seed="1", last_active_at=clock.now()
        )
        scenario = Scenario.objects.get(pk=slot.scenario_id)
        scenario.pk, scenario.scenario_id = f"{number + 16:064x}", f"copy-{number:03d}"
        scenario.save(force_insert=True)
        suite = Suite.objects.create(
            suite_id=f"suite-{number:03d}",
            version="1.0.0",
            suite_hash=f"{number:064x}",
            visibility="public",
            manifest="{}",
        )
        SuiteEntry.objects.create(suite=suite, scenario=scenario, position=1, families=["open"])
        Evaluation.objects.create(
            slug=f"evaluation-{number:03d}", title="Another", suite=suite, kind="open", state="open",
            simulator_version=evaluation.simulator_version,
            observation_version=evaluation.observation_version,
        )  # fmt: skip


@pytest.fixture
def full(user: User, evaluation: Evaluation) -> Callable[[int, int], None]:
    """Give a function that adds some of everything."""
    return lambda first, count: fill(user, evaluation, first, count)


def pages(client: Client, url: str | None, **parameters: Any) -> Iterator[list[dict[str, Any]]]:
    while url:
        document = client.get(url, parameters).json()
        yield document["results"] if "results" in document else document["rows"]
        url, parameters = document["next"], {}


def names(rows: list[dict[str, Any]]) -> list[str]:
    keys = ("id", "slug", "suite_hash", "content_hash")
    return [next((row[key] for key in keys if key in row), None) or row["agent"]["slug"] for row in rows]


def test_the_lists_here_are_all_that_there_are(user_client, full):
    listed = {pattern.callback.cls for _, pattern in endpoints() if hasattr(pattern.callback, "cls")}
    assert {view.__name__ for view in listed if issubclass(view, ApiList)} == {
        "SuiteList", "ScenarioList", "AgentList", "SubmissionList", "RunList", "EpisodeList",
        "EvaluationList", "BoardList",
    }  # fmt: skip


@pytest.mark.parametrize("name", LISTS)
def test_a_list_takes_the_same_queries_whatever_its_length(name: str, user_client, full):
    def count() -> int:
        with CaptureQueriesContext(connection) as captured:
            assert user_client.get(address(name)).status_code == 200
        return len(captured)

    full(0, 2)
    few = count()
    full(2, 12)
    assert count() == few


@pytest.mark.parametrize("name", LISTS)
def test_pages_repeat_and_hide_nothing_though_rows_arrive_meanwhile(name: str, user_client, full):
    full(0, 7)
    whole = names(next(pages(user_client, address(name), page_size=200)))
    assert len(whole) >= 7
    seen: list[str] = []
    for number, page in enumerate(pages(user_client, address(name), page_size=2)):
        seen += names(page)
        if number == 0:
            full(7, 1)
    assert len(seen) == len(set(seen))
    assert [entry for entry in seen if entry in whole] == whole


@pytest.mark.parametrize("name", LISTS)
def test_the_way_back_is_the_way_there(name: str, user_client, full):
    full(0, 5)
    first = user_client.get(address(name), {"page_size": 2}).json()
    second = user_client.get(first["next"]).json()
    again = user_client.get(second["previous"]).json()
    key = "rows" if "rows" in first else "results"
    assert names(again[key]) == names(first[key])
    assert again["previous"] is None


def test_many_rows_of_the_same_instant_are_all_listed(user_client, full, user):
    full(0, 1)
    run = Run.objects.get()
    now = clock.now()
    values = {field.attname: getattr(run, field.attname) for field in Run._meta.concrete_fields}
    values = {name: value for name, value in values.items() if name not in {"id", "digest"}}
    Run.objects.bulk_create(Run(**values, digest=f"{number + 99:064x}") for number in range(1_210))
    Run.objects.update(created_at=now)
    seen = [name for page in pages(user_client, "/api/v1/runs/", page_size=200) for name in names(page)]
    assert len(seen) == len(set(seen)) == 1_211


@pytest.mark.parametrize(
    ("name", "parameters", "place"),
    [
        ("runs", {"state": "perhaps"}, "state"),
        ("runs", {"ranked": "perhaps"}, "ranked"),
        ("runs", {"mine": "1"}, "mine"),
        ("runs", {"created_after": "yesterday"}, "created_after"),
        ("runs", {"agent": "a\x00b"}, "agent"),
        ("runs", {"agnet": "greedy"}, "agnet"),
        ("runs", {"ordering": "seed"}, "ordering"),
        ("runs", {"ordering": "-"}, "ordering"),
        ("runs", {"cursor": "%%%"}, "cursor"),
        ("agents", {"kind": "robot"}, "kind"),
        ("agents", {"search": "x" * 81}, "search"),
        ("suites", {"page": "2"}, "page"),
        ("episodes", {"mode": "sealed"}, "mode"),
        ("evaluations", {"state": "shut"}, "state"),
        ("boards/public-dev", {"cursor": "x"}, "cursor"),
        ("boards/public-dev", {"cursor": "é"}, "cursor"),
        ("boards/public-dev", {"sort": "luck"}, "sort"),
        ("boards/public-dev", {"knid": "model"}, "knid"),
        ("boards/public-dev", {"ordering": "rank"}, "ordering"),
    ],
)
def test_what_a_list_does_not_know_is_refused_with_its_place(name, parameters, place, client, evaluation):
    response = client.get(address(name), parameters)
    assert response.status_code == 422
    assert (response.json()["code"], response.json()["place"]) == ("bad_input", place)


@pytest.mark.parametrize("name", LISTS)
def test_every_list_refuses_parameters_that_it_does_not_know(name, user_client, evaluation):
    response = user_client.get(address(name), {"x": "1"})
    assert response.status_code == 422
    assert response.json()["place"] == "x"
    assert "Known here are" in response.json()["detail"]


def test_runs_are_filtered(client, user_client, full, user):
    full(0, 4)
    Run.objects.filter(agent__slug="agent-1").update(state=RunState.REJECTED, ranked=False)
    Run.objects.filter(agent__slug="agent-2").update(visibility="private")
    Run.objects.filter(agent__slug="agent-3").update(created_at=clock.now() - timedelta(days=2))

    def slugs(who: Client, **parameters: Any) -> set[str]:
        results = who.get("/api/v1/runs/", parameters).json()["results"]
        return {row["agent"]["slug"].removeprefix("agent-") for row in results}

    yesterday = (clock.now() - timedelta(days=1)).isoformat()
    assert slugs(client) == {"0", "1", "3"}
    assert slugs(user_client) == {"0", "1", "2", "3"}
    assert slugs(client, mine="true") == set()
    assert slugs(user_client, mine="true") == {"0", "1", "2", "3"}
    assert slugs(client, state="rejected") == {"1"}
    assert slugs(client, ranked="false") == {"1"}
    assert slugs(client, created_after=yesterday) == {"0", "1"}
    assert slugs(client, created_before=yesterday) == {"3"}
    assert slugs(client, agent="agent-2") == set()
    assert slugs(user_client, agent="agent-2") == {"2"}
    assert slugs(client, scenario_id=Run.objects.first().scenario.scenario_id) == {"0", "1", "3"}
    assert slugs(client, seed="7") == set()


def test_other_lists_are_filtered_and_ordered(client, user_client, full, user):
    full(0, 3)
    Agent.objects.filter(slug="agent-1").update(kind="baseline", owner=None)
    Submission.objects.filter(agent__slug="agent-2").update(finished_at=clock.now())

    def found(who: Client, name: str, **parameters: Any) -> list[str]:
        return names(who.get(address(name), parameters).json()["results"])

    assert found(client, "agents", kind="baseline") == ["agent-1"]
    assert found(client, "agents", search="AGENT 2") == ["agent-2"]
    assert found(user_client, "agents", mine="true", ordering="-created_at") == ["agent-2", "agent-0"]
    assert len(found(user_client, "submissions", finished="true")) == 1
    assert len(found(user_client, "submissions", finished="false")) == 2
    assert len(found(user_client, "submissions", agent="agent-0")) == 1
    assert len(found(client, "scenarios", suite_id="suite-001")) == 1
    assert found(client, "evaluations", suite_id="suite-002") == ["evaluation-002"]
    assert found(client, "evaluations", ordering="-slug", kind="open")[0] == "public-dev"
    assert found(client, "boards", kind="sealed") == []
    populations = [
        row["population"]
        for row in client.get(address("scenarios"), {"ordering": "-population"}).json()["results"]
    ]
    assert populations == sorted(populations, reverse=True)
    assert len(found(client, "suites", suite_id="suite-000")) == 1
    assert found(client, "episodes", mine="true") == []
    assert len(found(user_client, "episodes", mine="true", mode="practice")) == 3


def test_pages_of_a_board_start_with_the_row_that_the_cursor_names(user_client, full):
    full(0, 4)
    first = user_client.get("/api/v1/boards/public-dev/", {"page_size": 2}).json()
    third = user_client.get("/api/v1/boards/public-dev/").json()["rows"][2]["agent"]["slug"]
    gone = Agent.objects.get(slug=first["rows"][0]["agent"]["slug"])
    gone.runs.all().update(ranked=False)
    second = user_client.get(first["next"]).json()
    assert second["rows"][0]["agent"]["slug"] == third
    Agent.objects.get(slug=third).runs.all().update(ranked=False)
    assert user_client.get(first["next"]).status_code == 200


@pytest.mark.parametrize("name", ["agents", "submissions", "episodes"])
def test_options_tell_methods_and_no_fields_that_cannot_be_sent(name: str, user_client, evaluation):
    answer = user_client.options(address(name))
    assert answer["Allow"] == "GET, POST, HEAD, OPTIONS"
    assert answer.json().keys() == {"name", "description", "renders", "parses"}
