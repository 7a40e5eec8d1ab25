"""A board costs the same number of queries whatever its size."""

from __future__ import annotations

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from ember_site.boards.selectors import board_rows


def queries(client, url: str) -> int:
    with CaptureQueriesContext(
        connection,
    ) as captured:
        assert client.get(url).status_code == 200
    return len(captured)


def test_the_rows_take_two_queries(crowd, make_agent, make_run, django_assert_num_queries):
    for number in range(12):
        make_run(make_agent(f"agent {number}"), crowd.slots.get(), number)
    with django_assert_num_queries(2):
        board = board_rows(evaluation=crowd)
        assert [row.agent.owner_name for row in board.rows]
        assert [cell for row in board.rows for cell in row.cells]


@pytest.mark.parametrize(
    "url",
    [
        "/boards/crowd/",
        "/boards/crowd/board.json",
        "/boards/crowd/board.csv",
        "/api/v1/boards/crowd/",
        "/boards/",
    ],
)
def test_more_entries_take_no_more_queries(url, crowd, client, make_agent, make_run):
    make_run(make_agent("first"), crowd.slots.get(), 1)
    few = queries(client, url)
    for number in range(15):
        agent = make_agent(f"agent {number}")
        for evacuated in range(3):
            make_run(agent, crowd.slots.get(), evacuated)
    assert queries(client, url) == few
