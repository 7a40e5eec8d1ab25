"""Agents: names, slugs, kinds and owners."""

from __future__ import annotations

import pytest
from django.test import Client
from django.urls import reverse

from ember_site.core.errors import BadInput, Forbidden
from ember_site.runs import services
from ember_site.runs.models import Agent, AgentKind


def test_slugs_come_from_names_and_are_never_taken_twice(ann, bob):
    first = services.agent_create(owner=ann, fields={"name": "Fire Planner"})
    second = services.agent_create(owner=bob, fields={"name": "Fire Planner"})
    assert first.slug == "fire-planner"
    assert second.slug.startswith("fire-planner-")


@pytest.mark.parametrize("name", ["new", "greedy", "Stay", "random", "🔥", '=HYPERLINK("x"), "y"\n'])
def test_awkward_names_get_an_address_of_their_own(ann, name):
    agent = services.agent_create(owner=ann, fields={"name": name})
    assert agent.slug not in ("", "new", "greedy", "stay", "random")
    client = Client()
    assert client.get(reverse("agent_detail", args=[agent.slug])).status_code == 200
    assert client.get(reverse("agent_list")).status_code == 200


def test_a_baselines_slug_is_its_policys_name():
    assert services.baseline_agent("greedy").slug == "greedy"
    assert services.baseline_agent("greedy") == services.baseline_agent("greedy")


def test_an_account_has_one_human_agent(ann):
    agent = services.human_agent_for(ann)
    assert services.human_agent_for(ann) == agent
    assert agent.kind == AgentKind.HUMAN
    assert Agent.objects.count() == 1


def test_renaming_keeps_the_address(agent, ann):
    renamed = services.agent_update(viewer=ann, agent=agent, fields={"name": "Another"})
    assert (renamed.name, renamed.slug) == ("Another", agent.slug)


def test_only_the_owner_changes_an_agent(agent, bob):
    with pytest.raises(Forbidden):
        services.agent_update(viewer=bob, agent=agent, fields={"name": "Mine"})


@pytest.mark.parametrize(
    ("fields", "place"),
    [
        ({"name": ""}, "name"),
        ({"name": "a\0b"}, "name"),
        ({"name": "\u202eydeerg"}, "name"),
        ({"name": "gr\u200beedy"}, "name"),
        ({"name": "a", "note": "a\0b"}, "note"),
        ({"name": "a", "provider": "\0"}, "provider"),
        ({"name": "a", "provider": "\u202eIAnepO"}, "provider"),
        ({"name": "a" * 81}, "name"),
        ({"name": "a", "provider": "p" * 81}, "provider"),
        ({"name": "a", "url": "javascript:alert(1)"}, "url"),
        ({"name": "a", "visibility": "secret"}, "visibility"),
        ({"name": "a", "tokens": -1}, "tokens"),
    ],
)
def test_a_wrong_field_is_named(ann, fields, place):
    with pytest.raises(BadInput) as caught:
        services.agent_create(owner=ann, fields=fields)
    assert caught.value.place == place
