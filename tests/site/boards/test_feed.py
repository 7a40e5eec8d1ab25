"""The Atom feed of a board: valid, in pages, and row by row what JSON and CSV say."""

from __future__ import annotations

import csv
import io
import re
from datetime import datetime
from xml.etree import ElementTree

import pytest
from django.test import Client

from ember_site.boards import feed
from ember_site.boards.models import Evaluation, EvaluationKind
from ember_site.runs.models import Agent

ATOM = {"a": "http://www.w3.org/2005/Atom"}
TITLE = re.compile(r"#(\d+) (.*): (\d+\.\d) % evacuated", re.DOTALL)
URL = "/boards/public-dev/board.atom"


def pages(client: Client, url: str = URL) -> list[ElementTree.Element]:
    """Every page of the feed, by its own links."""
    found = []
    link: str | None = url
    while link:
        response = client.get(link)
        assert response.status_code == 200
        assert response["Content-Type"] == "application/atom+xml; charset=utf-8"
        found.append(ElementTree.fromstring(response.content))
        following = found[-1].find("a:link[@rel='next']", ATOM)
        link = None if following is None else following.get("href")
    return found


def text(element: ElementTree.Element, name: str) -> str:
    found = element.find(f"a:{name}", ATOM)
    assert found is not None
    assert found.text
    return found.text


@pytest.fixture
def board(evaluation: Evaluation, make_agent, make_run, complete) -> Evaluation:
    """Seven complete entries, two of them equal, and one that is not complete."""
    for number, lost in enumerate((3, 0, 1, 1, 5, 2, 4)):
        complete(make_agent(f"agent {number}"), evaluation, lost=lost)
    part = evaluation.slots.select_related("scenario", "evaluation").first()
    make_run(make_agent("part"), part, 1)
    return evaluation


def test_json_csv_and_atom_agree_row_by_row(board, client, monkeypatch):
    monkeypatch.setattr("ember_site.web.boards_views.FEED_ROWS", 3)
    documents = client.get("/boards/public-dev/board.json", {"complete": "yes"}).json()["rows"]
    lines = list(
        csv.DictReader(io.StringIO(client.get("/boards/public-dev/board.csv?complete=yes").content.decode()))
    )
    entries = [entry for page in pages(client) for entry in page.findall("a:entry", ATOM)]
    assert len(documents) == len(lines) == len(entries) == 7
    from_atom = {}
    for entry in entries:
        rank, name, score = TITLE.fullmatch(text(entry, "title")).groups()
        from_atom[name] = (int(rank), score, datetime.fromisoformat(text(entry, "updated")))
    for document, line in zip(documents, lines, strict=True):
        name = document["agent"]["name"]
        assert line["agent"] == name
        assert int(line["rank"]) == document["rank"]
        assert float(line["evacuation_rate"]) == document["evacuation_rate"]
        assert line["finished_at"] == document["finished_at"]
        rank, score, updated = from_atom[name]
        assert (rank, score) == (document["rank"], f"{document['evacuation_rate'] * 100:.1f}")
        assert updated == datetime.fromisoformat(document["finished_at"]).replace(microsecond=0)
    instants = [datetime.fromisoformat(text(entry, "updated")) for entry in entries]
    assert instants == sorted(instants, reverse=True)


def test_the_feed_holds_what_atom_demands(board, client):
    [page] = pages(client)
    assert page.tag == "{http://www.w3.org/2005/Atom}feed"
    for element in (page, *page.findall("a:entry", ATOM)):
        assert text(element, "title")
        assert text(element, "id").startswith("urn:uuid:")
        datetime.fromisoformat(text(element, "updated"))
        assert element.find("a:author/a:name", ATOM) is not None
    ids = [text(entry, "id") for entry in page.findall("a:entry", ATOM)]
    assert len(ids) == len(set(ids)) == 7
    own = page.find("a:link[@rel='self']", ATOM)
    assert own.get("href") == f"http://testserver{URL}?page=1"
    for entry in page.findall("a:entry", ATOM):
        assert client.get(entry.find("a:link", ATOM).get("href")).status_code == 200


def test_ids_stay_when_a_better_run_counts(board, client, make_run):
    def ids() -> dict[str, str]:
        [page] = pages(client)
        return {
            TITLE.fullmatch(text(entry, "title"))[2]: text(entry, "id")
            for entry in page.findall("a:entry", ATOM)
        }

    before = ids()
    slot = board.slots.select_related("scenario", "evaluation").first()
    make_run(Agent.objects.get(name="agent 4"), slot, slot.scenario.population)
    assert ids() == before


def test_the_page_of_the_board_names_its_feed(board, client):
    page = client.get("/boards/public-dev/").content.decode()
    assert re.search(rf'<link rel="alternate" type="application/atom\+xml"[^>]* href="{URL}">', page)


def test_filters_hold_and_order_is_the_feeds_own(board, client):
    agent = Agent.objects.get(name="agent 4")
    Agent.objects.filter(pk=agent.pk).update(kind="baseline")
    [page] = pages(client, f"{URL}?kind=baseline&sort=name&complete=no")
    assert [TITLE.fullmatch(text(entry, "title"))[2] for entry in page.findall("a:entry", ATOM)] == [
        "agent 4"
    ]


def test_names_of_any_kind_leave_the_feed_well_formed(crowd, client, make_agent, make_run):
    names = ["<b>&amp;", "a\x00b\x1b", "line\nbreak", "fire 🔥", "\ufffe", "q\"'"]
    for name in names[:1] + names[2:]:
        make_run(make_agent(name), crowd.slots.get(), 50)
    [page] = pages(client, "/boards/crowd/board.atom")
    found = {TITLE.fullmatch(text(entry, "title"))[2] for entry in page.findall("a:entry", ATOM)}
    assert found == {"<b>&amp;", "line\nbreak", "fire 🔥", "\ufffd", "q\"'"}
    assert feed._xml(names[1]) == "a\ufffdb\ufffd"


def test_an_empty_board_and_a_sealed_one_have_valid_feeds(crowd, client, make_agent, make_run):
    [page] = pages(client, "/boards/crowd/board.atom")
    assert page.findall("a:entry", ATOM) == []
    run = make_run(make_agent("ada"), crowd.slots.get(), 50)
    Evaluation.objects.filter(pk=crowd.pk).update(kind=EvaluationKind.SEALED)
    content = client.get("/boards/crowd/board.atom").content.decode()
    assert str(run.pk) not in content
    assert run.scenario_hash not in content
