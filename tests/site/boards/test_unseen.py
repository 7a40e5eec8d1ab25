"""What a viewer may not find is in no list, export, search, feed or count, wherever one looks. Trial S09."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse

from ember_site.boards.models import Evaluation, Slot
from ember_site.core import clock
from ember_site.runs.models import Agent, Run

RUN_LINK = re.compile(r'href="/runs/([0-9a-f-]{36})/"')
RUNS_COUNTED = re.compile(r"<dt>Runs</dt><dd>(\d+)</dd>")

HIDING: dict[str, dict[str, dict[str, str]]] = {
    "a private agent": {"agent": {"visibility": "private"}},
    "an unlisted agent": {"agent": {"visibility": "unlisted"}},
    "a private run": {"run": {"visibility": "private"}},
    "an unlisted run": {"run": {"visibility": "unlisted"}},
    "a hidden run": {"run": {"hidden_ref": "evaluation:sealed"}},
    "a withdrawn run": {"run": {}},
}


def addresses(slot: Slot, agent: Agent) -> list[str]:
    """Every place that lists agents, runs or entries, with searches and filters that would find them."""
    board = f"/boards/{slot.evaluation.slug}/"
    runs = reverse("api_run_list")
    return [
        "/",
        "/boards/",
        *(f"{board}{end}" for end in ("", "board.json", "board.csv", "board.atom")),
        f"{board}?search=zebra",
        f"{board}board.csv?search=zebra",
        f"/api/v1{board}",
        f"/api/v1{board}?search=zebra",
        reverse("api_agent_list"),
        f"{reverse('api_agent_list')}?search=zebra",
        runs,
        f"{runs}?agent={agent.slug}",
        f"{runs}?scenario_hash={slot.scenario_id}&state=verified",
        reverse("agent_list"),
        reverse("scenario_detail", args=[slot.scenario_id]),
        reverse("suite_list"),
        "/live/",
        "/play/",
    ]


@pytest.fixture
def hide(crowd: Evaluation, make_agent, make_run) -> Callable[[str], tuple[Slot, Agent, Run]]:
    """Give a function that makes an agent with one run, of which one is hidden, beside one that is not."""

    def make(name: str) -> tuple[Slot, Agent, Run]:
        slot = crowd.slots.select_related("scenario", "evaluation").get()
        make_run(make_agent("ordinary"), slot, 50)
        agent = make_agent("zebra finch")
        run = make_run(agent, slot, 100)
        changes: dict[str, Any] = HIDING[name]
        Agent.objects.filter(pk=agent.pk).update(**changes.get("agent", {"note": ""}))
        withdrawn = clock.now() if name == "a withdrawn run" else None
        Run.objects.filter(pk=run.pk).update(withdrawn_at=withdrawn, **changes.get("run", {}))
        return slot, Agent.objects.get(pk=agent.pk), run

    return make


@pytest.mark.parametrize("name", HIDING)
def test_what_is_hidden_is_nowhere(name: str, hide, client: Client, user_client: Client):
    slot, agent, run = hide(name)
    for visitor in (client, user_client):
        for address in addresses(slot, agent):
            answer = visitor.get(address)
            assert answer.status_code == 200, address
            text = answer.content.decode()
            assert str(run.pk) not in text, address
            if "agent" in HIDING[name] or "/boards/" in address:
                # Pages repeat what was searched for and API links what was filtered by; the name is longer.
                assert "zebra finch" not in text, address
        board = visitor.get(f"/boards/{slot.evaluation.slug}/board.json").json()
        assert (len(board["rows"]), board["counts"]["all"], board["counts"]["model"]) == (1, 1, 1)
        assert [row["rank"] for row in board["rows"]] == [1], "the hidden one takes no rank"
        assert visitor.get(f"/api/v1/boards/{slot.evaluation.slug}/").json()["count"] == 1


@pytest.mark.parametrize("name", [name for name in HIDING if "agent" not in HIDING[name]])
def test_an_agents_page_counts_the_runs_that_it_shows(name: str, hide, client: Client):
    _, agent, run = hide(name)
    owner = Client()
    owner.force_login(agent.owner)
    page = reverse("agent_detail", args=[agent.slug])
    seen_by_owner = name in ("a private run", "an unlisted run")
    for visitor, expected in ((client, 0), (owner, int(seen_by_owner))):
        text = visitor.get(page).content.decode()
        assert len(set(RUN_LINK.findall(text))) == expected
        assert int(RUNS_COUNTED.search(text)[1]) == expected
        listed = visitor.get(reverse("api_run_list"), {"agent": agent.slug}).json()["results"]
        assert len(listed) == expected
    assert (str(run.pk) in owner.get(page).content.decode()) == seen_by_owner
