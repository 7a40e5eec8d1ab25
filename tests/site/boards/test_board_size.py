"""Ten thousand entries, a hundred thousand runs: as many queries as for a hundred, and little work."""

from __future__ import annotations

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from ember_site.boards import standings
from ember_site.boards.models import Evaluation
from ember_site.boards.standings import standings_forget
from ember_site.runs.models import Run
from tests.site.boards.crowded import board_fill, board_multiply

ADDRESSES = (
    "/boards/public-dev/",
    "/boards/public-dev/?page=2&sort=-name&search=crowd&kind=model",
    "/boards/public-dev/board.json",
    "/boards/public-dev/board.csv",
    "/boards/public-dev/board.atom",
    "/api/v1/boards/public-dev/?page_size=200",
    "/boards/",
    "/",
    "/agents/crowd-7/",
)


def query_counts(client: Client) -> dict[str, int]:
    """Queries of each address, after a first round in which the process learns the board."""
    counts = {}
    for address in ADDRESSES:
        with CaptureQueriesContext(connection) as captured:
            response = client.get(address)
            assert response.status_code == 200, address
        counts[address] = len(captured)
    return counts


@pytest.mark.django_db(transaction=True)
def test_ten_thousand_entries_take_the_queries_of_a_hundred(evaluation: Evaluation, client, monkeypatch):
    standings_forget()
    board_fill(evaluation, entries=100)
    query_counts(client)
    few = query_counts(client)
    board_multiply(copies=99)

    read = []
    real = standings.entry_row
    monkeypatch.setattr(
        standings, "entry_row", lambda course, entry: read.append(entry.key) or real(course, entry)
    )
    cold = query_counts(client)
    assert len(read) == 10_000
    assert query_counts(client) == few
    assert {address: cold[address] for address in ADDRESSES[1:]} == {
        address: few[address] for address in ADDRESSES[1:]
    }
    assert cold[ADDRESSES[0]] == few[ADDRESSES[0]] + 3

    read.clear()
    run = Run.objects.order_by("pk").first()
    Run.objects.filter(pk=run.pk).update(ranked=False)
    document = client.get("/api/v1/boards/public-dev/", {"page_size": 1}).json()
    assert read == [run.agent_id]
    assert document["count"] == 10_000
