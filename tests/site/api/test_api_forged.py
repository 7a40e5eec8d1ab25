"""Bodies that claim what is not theirs to say change nothing of it."""

from __future__ import annotations

from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.db.models import Model
from django.test import Client

from ember_site.runs.models import Agent, Run, Submission
from tests.site.api.world import World, world_make

KEPT = {
    Agent: ("slug", "kind", "owner_id", "created_at"),
    Run: (
        "agent_id", "scenario_hash", "seed", "digest", "state", "code", "ranked", "source", "hidden_until",
        "evacuated", "casualties", "exit_step_total", "created_at", "withdrawn_at", "guest_key",
    ),
}  # fmt: skip


@pytest.fixture
def world(user: Any, evaluation: Any) -> World:
    return world_make(owner=user, evaluation=evaluation)


def forged(thing: Model, other: Any) -> dict[str, Any]:
    """Another value for every field that is not the sender's, under its name and that of its column."""
    values: dict[str, Any] = {"id": 1, "pk": 1, "owner": other.username, "agent": "greedy", "links": {}}
    for name in KEPT[type(thing)]:
        now = getattr(thing, name)
        other_one: Any = "forged"
        if isinstance(now, bool):
            other_one = not now
        elif isinstance(now, int):
            other_one = now + 1
        elif name == "kind":
            other_one = "baseline"
        elif name.endswith("_at") or name == "hidden_until":
            other_one = "2030-01-01T00:00:00Z"
        values[name] = other_one
    return values


@pytest.mark.parametrize(
    ("name", "said"), [("agent", {"note": "Mine."}), ("run", {"visibility": "unlisted"})]
)
def test_a_change_reaches_only_what_may_be_said(
    name: str, said: dict[str, str], world: World, other_user: Any, token_header: Any
) -> None:
    thing: Model = getattr(world, name)
    thing.refresh_from_db()
    before = {field: getattr(thing, field) for field in KEPT[type(thing)]}
    address = {"agent": f"agents/{world.agent.slug}/", "run": f"runs/{world.run.pk}/"}[name]
    client = Client(headers=token_header(world.owner, "play"))
    answer = client.patch(
        f"/api/v1/{address}", forged(thing, other_user) | said, content_type="application/json"
    )
    assert answer.status_code in {200, 422}
    thing.refresh_from_db()
    assert {field: getattr(thing, field) for field in before} == before


def test_a_new_agent_is_a_model_of_its_maker_whatever_it_claims(
    world: World, other_user: Any, token_header: Any
) -> None:
    client = Client(headers=token_header(world.owner, "submit"))
    body = forged(world.agent, other_user) | {"name": "Another"}
    answer = client.post("/api/v1/agents/", body, content_type="application/json")
    assert answer.status_code in {201, 422}
    for agent in Agent.objects.filter(name="Another"):
        assert (agent.kind, agent.owner_id, agent.slug) == ("model", world.owner.pk, "another")
    assert not Agent.objects.filter(owner=other_user).exists()


def test_an_upload_is_its_senders_whatever_the_form_claims(
    world: World, other_user: Any, token_header: Any
) -> None:
    client = Client(headers=token_header(world.owner, "submit"))
    claims = {"owner": other_user.pk, "owner_id": other_user.pk, "source": "play", "ranked": "1"}
    file = SimpleUploadedFile("runs.json", world.record)
    form = {"agent": world.agent.slug, "file": file, **claims}
    answer = client.post(f"/api/v1/submissions/?owner={other_user.pk}&source=play", form)
    assert answer.status_code in {201, 422}
    assert set(Submission.objects.values_list("owner", "source")) == {(world.owner.pk, "api")}
    assert set(Run.objects.values_list("agent", "source")) == {(world.agent.pk, "upload")}
