"""The drawings below a board: matched differences and where people are lost, served as HTML."""

from __future__ import annotations

import re

import pytest

from ember_site.boards.selectors import board_rows
from ember_site.web.boards_charts import loss_chart, pairing


@pytest.fixture
def field(evaluation, make_agent, make_run, complete):
    """Three complete agents and one that is not; two and three lose one person more in each slot."""
    agents = [
        make_agent(name, kind) for name, kind in (("one", "model"), ("two", "human"), ("three", "baseline"))
    ]
    for lost, agent in enumerate(agents):
        complete(agent, evaluation, lost=lost)
    part = make_agent("part")
    make_run(part, evaluation.slots.select_related("scenario", "evaluation").first(), 4)
    return evaluation


def test_the_first_is_compared_with_another_unless_the_address_says_whom(field):
    board = board_rows(evaluation=field)
    first, second, third = board.ranked
    pair = pairing(board, {})
    assert pair is not None
    assert (pair.first, pair.second) == (first, second)
    turned = pairing(board, {"a": third.agent.slug, "b": first.agent.slug})
    assert turned is not None
    assert (turned.first, turned.second) == (third, first)
    assert (turned.difference.better, turned.difference.equal, turned.difference.worse) == (0, 0, 10)
    assert turned.points == pytest.approx(
        float(third.entry.scores.evacuation_rate - first.entry.scores.evacuation_rate) * 100
    )
    assert turned.zero == "100.00%"


@pytest.mark.parametrize("slug", ["nobody", "agent-4", "<script>"])
def test_only_ranked_agents_are_compared(slug, field, client):
    response = client.get("/boards/public-dev/", {"a": slug}, headers={"accept": "application/json"})
    assert response.status_code == 422
    assert response.json()["place"] == "a"


def test_every_agent_shown_has_a_mark_in_every_scenario(field):
    board = board_rows(evaluation=field)
    chart = loss_chart(board, pairing(board, {}))
    assert chart is not None
    assert len(chart.lines) == 10
    assert all(sorted(mark.name for mark in line.marks) == ["one", "three", "two"] for line in chart.lines)
    roles = {mark.name: mark.role for mark in chart.lines[0].marks}
    assert roles == {"one": "a", "two": "b", "three": ""}


def test_the_page_says_in_words_what_the_drawings_show(field, client):
    text = client.get("/boards/public-dev/").content.decode()
    assert re.search(r'aria-label="[^"]*one 100.0 %', text)
    assert "better in <b>10</b> slots, equal in <b>0</b>, worse in <b>0</b>" in text
    assert not re.search(r"<[^>]+\sstyle=", text)


def test_one_agent_alone_is_compared_with_nobody(evaluation, client, make_agent, complete):
    complete(make_agent("alone"), evaluation)
    text = client.get("/boards/public-dev/").content.decode()
    assert "Where people are lost" in text
    assert "Paired difference" not in text
