"""The pages and files of suites and scenarios, as a visitor without an account sees them."""

from __future__ import annotations

import io
import json
import re
import zipfile
from pathlib import Path

import pytest
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from ember_site.catalog.models import Scenario, Suite
from ember_site.runs.models import Agent, AgentKind, Run, RunSource, RunState
from ember_site.runs.services import baseline_agent
from simulator import load_suite
from tests.site.catalog.conftest import FIRST, PUBLIC_SUITE

pytestmark = pytest.mark.django_db


def suite_url(suite: Suite, name: str = "suite_detail") -> str:
    return reverse(name, args=[suite.suite_id, suite.version])


def cards(body: str) -> list[str]:
    return re.findall(r'<span class="no">(\d\d)</span>', body)


@pytest.fixture
def body(client: Client, suite: Suite) -> str:
    """The suite page."""
    response = client.get(suite_url(suite))
    assert response.status_code == 200
    return response.content.decode()


def test_the_list_names_the_suite_and_says_that_it_is_a_rebuild(client: Client, suite: Suite) -> None:
    body = client.get(reverse("suite_list")).content.decode()
    assert suite_url(suite) in body
    assert suite.suite_hash in body
    assert "rebuild" in body
    assert body.count('<svg class="plan"') == 10


def test_without_a_suite_the_list_says_what_to_do(client: Client) -> None:
    assert "import_suite" in client.get(reverse("suite_list")).content.decode()


def test_the_suite_page_shows_every_scenario_with_plan_hash_and_pin(body: str, suite: Suite) -> None:
    assert cards(body) == [f"{number:02d}" for number in range(1, 11)]
    assert body.count('<svg class="plan"') == 10
    for scenario in Scenario.objects.all():
        assert f'data-copy="{scenario.content_hash}"' in body
        assert reverse("scenario_detail", args=[scenario.content_hash]) in body
        assert reverse("scenario_file", args=[scenario.content_hash]) in body
    assert f'data-copy="{suite.suite_hash}"' in body
    assert "5274d103928e6abbdf8bf761f4cc608eeefc55a802d876a21e878cce9838065b" in body
    assert f"ember suite check {suite.suite_id}-{suite.version}/" in body
    assert "ember hash " in body


def test_the_suite_page_tells_openly_that_it_is_a_rebuild_and_never_calls_it_official(body: str) -> None:
    assert "a rebuild" in body
    assert "Why is this a rebuild?" in body
    assert "told apart by the suite hash" in body
    assert "official" not in body.lower()


@pytest.mark.parametrize(
    ("query", "numbers"),
    [
        ("family=multiple_ignitions", ["07"]),
        ("family=maze_obstacle_routing", ["08"]),
        ("fire=stochastic", ["10"]),
        ("family=crowd_100&fire=deterministic", ["09"]),
        ("family=crowd_100&fire=stochastic", []),
        ("family=nonsense", []),
        ("family=%22%3E%3Cscript%3Ealert(1)%3C/script%3E", []),
    ],
)
def test_family_and_fire_filter_the_cards(
    client: Client, suite: Suite, query: str, numbers: list[str]
) -> None:
    body = client.get(f"{suite_url(suite)}?{query}").content.decode()
    assert cards(body) == numbers
    assert f"{len(numbers)} of 10" in body
    assert "<script>alert" not in body
    if not numbers:
        assert "No scenario fits" in body


def test_the_table_holds_the_same_scenarios(client: Client, suite: Suite) -> None:
    body = client.get(f"{suite_url(suite)}?view=table&fire=deterministic").content.decode()
    assert body.count('<th scope="row">') == 9
    assert '<svg class="plan"' not in body
    assert 'name="view" value="table"' in body


def test_the_page_takes_few_queries_and_as_many_with_runs(  # type: ignore[no-untyped-def]
    client: Client, suite: Suite, django_assert_max_num_queries
) -> None:
    client.get(suite_url(suite))  # fills the caches of parsed scenarios
    with django_assert_max_num_queries(4):
        client.get(suite_url(suite))
    for entry in suite.entries.select_related("scenario"):
        for name in ("greedy", "stay", "random"):
            run_make(baseline_agent(name), entry.scenario, evacuated=1)
    with django_assert_max_num_queries(4):
        client.get(suite_url(suite))


def run_make(agent: Agent, scenario: Scenario, *, evacuated: int, seed: str = "0") -> Run:
    """A verified run with these results."""
    return Run.objects.create(
        agent=agent,
        scenario=scenario,
        scenario_hash=scenario.content_hash,
        digest=f"{Run.objects.count():064x}",
        seed=seed,
        simulator_version="0.2.0",
        observation_version="1.0",
        source=RunSource.BASELINE if agent.kind == AgentKind.BASELINE else RunSource.UPLOAD,
        ranked=True,
        state=RunState.VERIFIED,
        population=scenario.population,
        evacuated=evacuated,
        casualties=scenario.population - evacuated,
        entered_fire=0,
        fire_spread=scenario.population - evacuated,
        unresolved=0,
        trapped_at_start=0,
        steps=20,
        last_evacuation_step=12 if evacuated else None,
        evacuation_step_total=12 * evacuated,
        exit_step_total=12 * evacuated + scenario.max_steps * (scenario.population - evacuated),
        blocked={},
        ended=True,
        record_size_bytes=100,
        verified_at=timezone.now(),
    )


def test_cards_compare_greedy_with_the_best(client: Client, suite: Suite, user) -> None:  # type: ignore[no-untyped-def]
    crowd = suite.entries.get(position=9).scenario
    model = Agent.objects.create(slug="m", name="M", owner=user, kind=AgentKind.MODEL)
    run_make(baseline_agent("greedy"), crowd, evacuated=73)
    run_make(model, crowd, evacuated=98)
    run_make(model, crowd, evacuated=100, seed="7")  # not the public seed: does not count here
    body = client.get(suite_url(suite)).content.decode()
    assert "greedy <b>73</b>, best <b>98</b> of 100" in body


def test_best_runs_share_ranks_and_show_one_run_for_each_agent(client: Client, suite: Suite, user) -> None:  # type: ignore[no-untyped-def]
    scenario = suite.entries.get(position=1).scenario
    agents = [
        Agent.objects.create(slug=name, name=name, owner=user, kind=AgentKind.MODEL)
        for name in ("a", "b", "c")
    ]
    for agent, results in zip(agents, ((4, 2), (4,), (1,)), strict=True):
        for evacuated in results:
            run_make(agent, scenario, evacuated=evacuated)
    body = client.get(reverse("scenario_detail", args=[scenario.content_hash])).content.decode()
    rows = re.findall(r'<td class="rank">(\d+)</td>', body)
    assert rows == ["1", "1", "3"]


def test_a_private_agents_run_is_not_among_the_best(client: Client, suite: Suite, user) -> None:  # type: ignore[no-untyped-def]
    scenario = suite.entries.get(position=1).scenario
    hidden = Agent.objects.create(
        slug="hidden", name="Hidden", owner=user, kind=AgentKind.MODEL, visibility="private"
    )
    run_make(hidden, scenario, evacuated=4)
    url = reverse("scenario_detail", args=[scenario.content_hash])
    assert "Hidden" not in client.get(url).content.decode()
    client.force_login(user)
    assert "Hidden" in client.get(url).content.decode()


def test_the_scenario_page_shows_rules_fire_hash_and_ways_on(client: Client, suite: Suite) -> None:
    scenario = suite.entries.get(position=7).scenario
    body = client.get(reverse("scenario_detail", args=[scenario.content_hash])).content.decode()
    for number in range(1, 11):
        assert f">R{number}<" in body
    assert "E1 burns after step 18. E2 burns after step 18." in body
    assert f'data-copy="{scenario.content_hash}"' in body
    assert "A rebuild with a description of its own" in body
    assert reverse("scenario_play", args=[scenario.content_hash]) in body
    for policy in ("stay", "random", "greedy"):
        assert reverse("watch_start", args=[scenario.content_hash, policy]) in body
    assert 'rel="prev"' in body
    assert 'rel="next"' in body
    found = re.search(r'<script id="scenario-board" type="application/json">(.*?)</script>', body, re.DOTALL)
    assert found is not None
    data = json.loads(found[1])
    assert sorted(data) == ["arrivals", "exits", "fire", "grid", "ignitions", "obstacles", "people"]
    assert len(data["arrivals"]) == 19 * 11 - len(data["obstacles"])


def test_of_a_stochastic_fire_nothing_is_told_ahead(client: Client, suite: Suite) -> None:
    scenario = suite.entries.get(position=10).scenario
    body = client.get(reverse("scenario_detail", args=[scenario.content_hash])).content.decode()
    assert "How the fire grows" not in body
    assert '"arrivals": null' in body
    assert 'id="step"' not in body


def test_rules_lead_to_their_place_in_the_documents(client: Client, suite: Suite) -> None:
    scenario = suite.entries.get(position=1).scenario
    body = client.get(reverse("scenario_detail", args=[scenario.content_hash])).content.decode()
    rules = client.get(reverse("docs_page", args=["rules"])).content.decode()
    links = re.findall(rf'href="{reverse("docs_page", args=["rules"])}#([^"]+)">R\d+<', body)
    assert len(links) == 10
    for fragment in links:
        assert f'id="{fragment}"' in rules


@pytest.mark.parametrize(
    "name", ["scenario_detail", "scenario_file", "scenario_layout", "scenario_observation"]
)
@pytest.mark.parametrize("content_hash", ["0" * 64, "7", "..", "f" * 63, "F" * 64, "\N{SNOWMAN}", "a\x00"])
def test_an_unknown_hash_is_404_everywhere(
    client: Client, suite: Suite, name: str, content_hash: str
) -> None:
    assert client.get(reverse(name, args=[content_hash])).status_code == 404


@pytest.mark.parametrize("version", ["9.9.9", "1.0", "1.0.1.", "x", "1.0.1\x00"])
def test_an_unknown_suite_is_404_everywhere(client: Client, suite: Suite, version: str) -> None:
    for name in ("suite_detail", "suite_manifest", "suite_archive"):
        assert client.get(reverse(name, args=[suite.suite_id, version])).status_code == 404
        assert client.get(reverse(name, args=["nothing", "1.0.1"])).status_code == 404


def test_pages_carry_no_inline_style_or_script(client: Client, suite: Suite) -> None:
    scenario = suite.entries.get(position=7).scenario
    for url in (
        reverse("suite_list"),
        suite_url(suite),
        f"{suite_url(suite)}?view=table",
        reverse("scenario_detail", args=[scenario.content_hash]),
    ):
        body = client.get(url).content.decode()
        assert " style=" not in body
        assert not re.search(r"\son[a-z]+=", body)
        for script in re.findall(r"<script[^>]*>", body):
            assert "src=" in script or 'type="application/json"' in script
        ids = re.findall(r'\sid="([^"]+)"', body)
        assert len(set(ids)) == len(ids)


def test_pages_only_read(client: Client, suite: Suite) -> None:
    assert client.post(suite_url(suite)).status_code == 405
    assert client.head(suite_url(suite)).status_code == 200


# --- Files ------------------------------------------------------------------------------------


def test_the_scenario_file_is_byte_for_byte_that_of_the_directory(client: Client, first_hash: str) -> None:
    url = reverse("scenario_file", args=[first_hash])
    response = client.get(url)
    assert response.content == (PUBLIC_SUITE / f"{FIRST}.json").read_bytes()
    assert response["Content-Type"] == "application/json"
    assert response["ETag"] == f'"{first_hash}"'
    assert "Content-Disposition" not in response
    assert client.get(f"{url}?download")["Content-Disposition"] == f'attachment; filename="{FIRST}.json"'


@pytest.mark.parametrize(
    ("header", "status"),
    [('"{}"', 304), ('W/"{}"', 304), ('"x", "{}"', 304), ("*", 304), ('"x"', 200), ("", 200)],
)
def test_who_has_the_file_gets_no_second_copy(
    client: Client, first_hash: str, header: str, status: int
) -> None:
    url = reverse("scenario_file", args=[first_hash])
    response = client.get(url, headers={"If-None-Match": header.format(first_hash)})
    assert response.status_code == status
    assert bool(response.content) == (status == 200)


def test_the_manifest_is_byte_for_byte_that_of_the_directory(client: Client, suite: Suite) -> None:
    response = client.get(suite_url(suite, "suite_manifest"))
    assert response.content == (PUBLIC_SUITE / "manifest.json").read_bytes()
    assert response["ETag"] == f'"{suite.suite_hash}"'


def test_the_archive_is_the_directory_and_checks_at_home(
    client: Client, suite: Suite, tmp_path: Path
) -> None:
    response = client.get(suite_url(suite, "suite_archive"))
    assert response["Content-Type"] == "application/zip"
    assert response["Content-Disposition"] == 'attachment; filename="emberbench-v1-public-1.0.1.zip"'
    with zipfile.ZipFile(io.BytesIO(response.content)) as archive:
        assert archive.testzip() is None
        archive.extractall(tmp_path)
    (folder,) = tmp_path.iterdir()
    assert folder.name == "emberbench-v1-public-1.0.1"
    assert load_suite(folder).suite_hash == suite.suite_hash
    assert {path.name: path.read_bytes() for path in folder.iterdir()} == {
        path.name: path.read_bytes() for path in PUBLIC_SUITE.iterdir()
    }


def test_layout_and_observation_are_those_of_step_0(client: Client, first_hash: str) -> None:
    scenario = load_suite(PUBLIC_SUITE).scenarios[0]
    layout = client.get(reverse("scenario_layout", args=[first_hash]))
    assert layout.content.decode().splitlines() == scenario.ascii_layout()
    observation = json.loads(client.get(reverse("scenario_observation", args=[first_hash])).content)
    assert observation["step"] == 0
    assert sorted(observation) == [
        "allowed_actions",
        "burning",
        "map",
        "observation_version",
        "people",
        "rules",
        "step",
    ]
