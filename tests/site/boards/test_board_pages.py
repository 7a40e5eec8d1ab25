"""Boards as visitors meet them: page, JSON, CSV and API say the same, whatever is asked for."""

from __future__ import annotations

import csv
import io
import random
import re
from html import unescape
from typing import Any

import pytest
from django.test import Client

from ember_site.accounts.models import User
from ember_site.boards import selectors
from ember_site.boards.exports import csv_text
from ember_site.boards.models import Evaluation, EvaluationKind, EvaluationState
from ember_site.boards.rows import scenario_words
from ember_site.runs.models import Run, RunState

ROW = re.compile(r'<tr(?: class="part")? id="(?P<slug>[^"]+)">(?P<body>.*?)</tr>', re.DOTALL)
RANK = re.compile(r'<td class="n rank">(?:(\d+)|<span)', re.DOTALL)
NAME = re.compile(r'<a class="agent"[^>]*>(.*?)</a>', re.DOTALL)
SCORE = re.compile(r'<span class="num">([\d.]+)</span>')
PROGRESS = re.compile(r"<b>(\d+ of \d+)</b>")


def html_rows(client: Client, url: str, **parameters: Any) -> list[tuple[int | None, str, str]]:
    """Rank, name and score (or progress) of each row on the page."""
    text = client.get(url, parameters).content.decode()
    rows = []
    for match in ROW.finditer(text):
        body = match["body"]
        rank = RANK.search(body)
        shown = SCORE.search(body) or PROGRESS.search(body)
        name = NAME.search(body)
        assert rank is not None
        assert shown is not None
        assert name is not None
        rows.append((int(rank[1]) if rank[1] else None, unescape(name[1]), shown[1]))
    return rows


def json_rows(document: dict[str, Any]) -> list[tuple[int | None, str, str]]:
    return [
        (
            row["rank"],
            row["agent"]["name"],
            f"{row['slots_done']} of {row['slot_count']}"
            if row["rank"] is None
            else f"{row['evacuation_rate'] * 100:.1f}",
        )
        for row in document["rows"]
    ]


def api_rows(client: Client, url: str | None, **parameters: Any) -> list[tuple[int | None, str, str]]:
    """The rows of all pages of the API, by its own links."""
    rows = []
    while url:
        document = client.get(url, parameters).json()
        rows += json_rows(document)
        url, parameters = document["next"], {}
    return rows


def csv_rows(client: Client, url: str, **parameters: Any) -> list[dict[str, str]]:
    text = client.get(f"{url}board.csv", parameters).content.decode()
    return list(csv.DictReader(io.StringIO(text, newline="")))


def csv_short(rows: list[dict[str, str]]) -> list[tuple[int | None, str, str]]:
    return [
        (
            int(row["rank"]) if row["rank"] else None,
            row["agent"].removeprefix("'"),
            f"{float(row['evacuation_rate']) * 100:.1f}"
            if row["rank"]
            else f"{row['slots_done']} of {row['slot_count']}",
        )
        for row in rows
    ]


def url_of(evaluation: Evaluation) -> str:
    return f"/boards/{evaluation.slug}/"


@pytest.fixture
def shuffled_ties(crowd: Evaluation, make_agent, make_run) -> Evaluation:
    """10, 9, 9, 7, in an order that says nothing."""
    slot = crowd.slots.get()
    values = [("ten", 10), ("nine-a", 9), ("nine-b", 9), ("seven", 7)]
    random.Random(3).shuffle(values)
    for name, value in values:
        make_run(make_agent(name), slot, value)
    return crowd


@pytest.mark.parametrize("sort", ["rank", "evacuated", "-evacuated", "name", "-finished", "casualties"])
def test_a_run_without_a_score_never_floats_up(sort, crowd, client, make_agent, make_run):  # T01
    slot = crowd.slots.get()
    make_run(make_agent("good"), slot, 80)
    make_run(make_agent("fair"), slot, 40)
    nothing = {
        "evacuated": None,
        "casualties": None,
        "exit_step_total": None,
        "ended": None,
        "population": None,
    }
    bad = make_run(make_agent("failed"), slot, 0, state=RunState.FAILED, code="internal")
    Run.objects.filter(pk=bad.pk).update(**nothing)
    rows = html_rows(client, url_of(crowd), sort=sort)
    assert {name: rank for rank, name, _ in rows} == {"good": 1, "fair": 2}
    if sort in {"rank", "-evacuated", "casualties"}:
        assert [name for _, name, _ in rows] == ["good", "fair"]


@pytest.mark.parametrize(
    "sort", ["evacuated", "-evacuated", "casualties", "-casualties", "exit_step", "-exit_step"]
)
def test_incomplete_entries_stay_below_whichever_way_the_column_is_sorted(
    sort, evaluation, client, make_agent, make_run, complete
):
    complete(make_agent("whole"), evaluation, lost=3)
    slots = list(evaluation.slots.select_related("scenario", "evaluation"))
    part = make_agent("part")
    for slot in slots[:7]:
        make_run(part, slot, slot.scenario.population)
    assert html_rows(client, url_of(evaluation), sort=sort)[-1] == (None, "part", "7 of 10")


def test_ties_share_ranks_and_pages_repeat_nothing(shuffled_ties, client):  # T02
    expected = [(1, "ten", "10.0"), (2, "nine-a", "9.0"), (2, "nine-b", "9.0"), (4, "seven", "7.0")]
    url = url_of(shuffled_ties)
    whole = html_rows(client, url)
    assert sorted(whole, key=lambda row: (row[0], row[1])) == expected
    for _ in range(20):
        paged = [row for page in (1, 2) for row in html_rows(client, url, page_size=2, page=page)]
        api = api_rows(client, f"/api/v1{url}", page_size=2)
        assert paged == api == whole
        assert json_rows(client.get(f"{url}board.json").json()) == whole
        assert csv_short(csv_rows(client, url)) == whole


@pytest.mark.parametrize(
    ("better", "worse"),
    [
        ({"evacuated": 51, "casualties": 49, "exit_step_total": 900}, {"evacuated": 50, "casualties": 0}),
        ({"evacuated": 50, "casualties": 10, "exit_step_total": 900}, {"evacuated": 50, "casualties": 11}),
        ({"evacuated": 50, "exit_step_total": 900}, {"evacuated": 50, "exit_step_total": 901}),
    ],
    ids=["more evacuated first", "fewer casualties first", "earlier exit first"],
)
def test_each_criterion_has_its_direction(better, worse, crowd, client, make_agent, make_run):  # T03
    slot = crowd.slots.get()
    make_run(make_agent("worse"), slot, **worse)
    make_run(make_agent("better"), slot, **better)
    assert [name for _, name, _ in html_rows(client, url_of(crowd))] == ["better", "worse"]


def test_withdrawing_a_failed_attempt_keeps_the_good_score(crowd, client, make_agent, make_run):  # T05
    slot, agent = crowd.slots.get(), make_agent("ada")
    make_run(agent, slot, 80)
    failed = make_run(agent, slot, 0, state=RunState.REJECTED, code="replay_mismatch")
    failed.delete()
    assert html_rows(client, url_of(crowd)) == [(1, "ada", "80.0")]


def test_withdrawing_the_best_run_lets_the_next_best_count(crowd, client, make_agent, make_run):  # T05
    slot, agent = crowd.slots.get(), make_agent("ada")
    make_run(agent, slot, 60)
    best = make_run(agent, slot, 80)
    assert html_rows(client, url_of(crowd)) == [(1, "ada", "80.0")]
    Run.objects.filter(pk=best.pk).update(withdrawn_at=best.created_at)
    assert html_rows(client, url_of(crowd)) == [(1, "ada", "60.0")]


@pytest.mark.parametrize(
    "fields",
    [
        {"ranked": False},
        {"ended": False},
        {"state": RunState.REJECTED},
        {"state": RunState.QUEUED},
        {"seed": "1"},
        {"visibility": "private"},
        {"visibility": "unlisted"},
        {"simulator_version": "0.1.0"},
        {"observation_version": "0.9"},
    ],
    ids=lambda fields: next(f"{name} {value}" for name, value in fields.items()),
)
def test_only_public_verified_ended_ranked_runs_on_the_slots_count(
    fields, crowd, client, make_agent, make_run
):
    run = make_run(make_agent("ada"), crowd.slots.get(), 100)
    assert len(html_rows(client, url_of(crowd))) == 1
    Run.objects.filter(pk=run.pk).update(**fields)
    assert html_rows(client, url_of(crowd)) == []


@pytest.mark.parametrize("visibility", ["private", "unlisted"])
def test_counts_are_of_what_everybody_sees(
    visibility, crowd, client, user_client, user, make_agent, make_run
):  # S09
    slot = crowd.slots.get()
    public, hidden = make_agent("public"), make_agent("hidden", owner=user, visibility=visibility)
    for evacuated in (10, 20):
        make_run(public, slot, evacuated)
        make_run(hidden, slot, 90)
    make_run(public, slot, 30, visibility="private")
    for visitor in (client, user_client):
        document = visitor.get("/boards/crowd/board.json").json()
        assert document["counts"] == {"all": 1, "model": 1, "human": 0, "baseline": 0}
        [row] = document["rows"]
        assert (row["rank"], row["agent"]["name"], row["attempts"]) == (1, "public", 2)
        assert row["slots"][0]["attempts"] == 2


def test_numbers_and_instants_sort_by_value_not_by_text(crowd, client, make_agent, make_run):  # S10
    slot = crowd.slots.get()
    for name, evacuated, attempts in (("two", 2, 10), ("ten", 10, 9), ("hundred", 100, 2)):
        agent = make_agent(name)
        for _ in range(attempts):
            make_run(agent, slot, evacuated)

    def names(sort: str) -> list[str]:
        return [name for _, name, _ in html_rows(client, url_of(crowd), sort=sort)]

    assert names("evacuated") == ["two", "ten", "hundred"]
    assert names("attempts") == ["hundred", "ten", "two"]
    assert names("-attempts") == ["two", "ten", "hundred"]
    assert names("finished") == ["two", "ten", "hundred"]
    assert names("-finished") == ["hundred", "ten", "two"]
    assert names("name") == ["hundred", "ten", "two"]


NASTY = [
    '=HYPERLINK("http://evil.example","x"),1',
    "+1+1",
    "-2+3",
    "@SUM(A1)",
    "  =1+1",
    "'quoted",
    'comma, "quote"',
    "new\nline",
    "\ttab",
    "semi;=1+1",
    "＝１＋１",
    "emoji 🔥",
    "<script>alert(1)</script>",
]


def test_names_survive_the_csv_and_no_spreadsheet_runs_them(crowd, client, make_agent, make_run):  # T25
    for name in NASTY:
        agent = make_agent(name)
        User.objects.filter(pk=agent.owner_id).update(display_name=name)
        make_run(agent, crowd.slots.get(), 50)
    rows = csv_rows(client, url_of(crowd))
    for column in ("agent", "owner"):
        assert {row[column].removeprefix("'") for row in rows} == set(NASTY)
        for row in rows:
            assert row[column].lstrip()[:1] not in {"=", "+", "-", "@", "＝"}
            assert not row[column].startswith(("\t", "\n", "\r"))
    document = client.get("/boards/crowd/board.json").json()
    assert [row["agent"]["name"] for row in document["rows"]] == [
        row["agent"].removeprefix("'") for row in rows
    ]
    assert [name for _, name, _ in html_rows(client, url_of(crowd))] == [
        row["agent"]["name"] for row in document["rows"]
    ]
    assert b"<script>alert" not in client.get(url_of(crowd)).content


@pytest.mark.parametrize("name", NASTY)
def test_removing_one_apostrophe_gives_the_text_back(name: str):
    written = csv_text(name)
    assert (written.removeprefix("'")) == name


def test_filters_hide_rows_and_change_no_rank(crowd, client, make_agent, make_run):
    slot = crowd.slots.get()
    for name, kind, evacuated in (
        ("Alpha", "model", 90),
        ("Beta", "human", 80),
        ("Gamma", "baseline", 70),
        ("alphabet", "model", 60),
    ):
        make_run(make_agent(name, kind), slot, evacuated)
    url = url_of(crowd)
    assert html_rows(client, url, kind="human") == [(2, "Beta", "80.0")]
    assert html_rows(client, url, search="ALPHA") == [(1, "Alpha", "90.0"), (4, "alphabet", "60.0")]
    assert html_rows(client, url, search="alpha", kind="baseline") == []
    for parameters in ({"kind": "human"}, {"search": "ALPHA"}, {"sort": "-rank"}, {"complete": "no"}):
        page = html_rows(client, url, **parameters)
        assert json_rows(client.get(f"{url}board.json", parameters).json()) == page
        assert json_rows(client.get(f"/api/v1{url}", parameters).json()) == page
        assert csv_short(csv_rows(client, url, **parameters)) == page
    counts = client.get(f"{url}board.json", {"search": "alpha", "kind": "human"}).json()["counts"]
    assert counts == {"all": 2, "model": 2, "human": 0, "baseline": 0}


@pytest.mark.parametrize(
    ("parameter", "value"), [("sort", "evil"), ("kind", "robot"), ("complete", "perhaps"), ("page_size", "0")]
)
def test_a_wrong_filter_is_refused_with_its_place(parameter, value, crowd, client):
    for url in ("/boards/crowd/", "/api/v1/boards/crowd/"):
        response = client.get(url, {parameter: value}, headers={"accept": "application/json"})
        assert response.status_code == 422
        assert (response.json()["code"], response.json()["place"]) == ("bad_input", parameter)


@pytest.mark.parametrize("page", ["0", "-5", "abc", "999999", "1.5"])
def test_a_page_that_does_not_exist_shows_one_that_does(page, shuffled_ties, client):
    assert len(html_rows(client, url_of(shuffled_ties), page=page)) == 4


def test_the_development_board_says_that_it_replaces_no_sealed_evaluation(evaluation, client):
    text = client.get("/boards/public-dev/").content.decode()
    assert "Development board" in text
    assert "Scenarios and seeds are public here, so results may be tuned to them." in text
    assert "never replaces a sealed evaluation" in text
    assert "Nobody is here yet" in text


def test_a_cell_carries_its_count_and_leads_to_the_run(crowd, client, make_agent, make_run):
    run = make_run(make_agent("ada"), crowd.slots.get(), 73, casualties=20)
    text = client.get("/boards/crowd/").content.decode()
    assert f'<a href="/runs/{run.pk}/"' in text
    assert "73 of 100 evacuated, 20 casualties, 7 unresolved" in text


def test_boards_without_scripts_need_only_links_and_a_form(shuffled_ties, client):
    text = client.get(url_of(shuffled_ties), {"page_size": 2}).content.decode()
    assert re.search(r"<form[^>]* method=\"get\"", text)
    assert "page_size=2&amp;page=2" in text
    assert "onclick" not in text
    assert not re.search(r"<script(?![^>]* src=)", text)


def test_a_sealed_board_shows_neither_seeds_nor_single_runs_until_it_closes(
    crowd, client, make_agent, make_run
):
    seed = str(2**63 + 11)
    crowd.slots.update(seed=seed)
    run = make_run(make_agent("ada"), crowd.slots.select_related("scenario", "evaluation").get(), 80)
    Evaluation.objects.filter(pk=crowd.pk).update(kind=EvaluationKind.SEALED)
    addresses = ("", "board.json", "board.csv")
    texts = [client.get(f"/boards/crowd/{address}").content.decode() for address in addresses]
    texts += [client.get("/api/v1/boards/crowd/").content.decode(), client.get("/boards/").content.decode()]
    for text in texts:
        assert seed not in text
        assert str(run.pk) not in text
        assert run.scenario_hash not in text
    Evaluation.objects.filter(pk=crowd.pk).update(state=EvaluationState.CLOSED)
    assert seed in client.get("/boards/crowd/board.json").content.decode()


def test_drafts_are_for_organisers(crowd, client, organiser):
    Evaluation.objects.filter(pk=crowd.pk).update(state=EvaluationState.DRAFT)
    assert client.get("/boards/crowd/").status_code == 404
    client.force_login(organiser)
    assert client.get("/boards/crowd/").status_code == 200


def test_an_agents_entries_are_its_rows_on_the_boards(
    evaluation, crowd, make_agent, make_run, complete, user
):
    agent = make_agent("ada")
    complete(agent, evaluation)
    complete(make_agent("bea"), evaluation, lost=1)
    found = selectors.entries_of_agent(agent=agent, viewer=user)
    assert {board.slug: (row.entry.rank, row.progress_text) for board, row in found} == {
        "public-dev": (1, "10 of 10"),
        "crowd": (1, "1 of 1"),
    }


@pytest.mark.parametrize(
    ("scenario_id", "words"),
    [("v1-pub-04-unequal-exits", "unequal exits"), ("room", "room"), ("hall-2", "hall 2")],
)
def test_scenario_ids_read_as_words(scenario_id: str, words: str):
    assert scenario_words(scenario_id) == words
