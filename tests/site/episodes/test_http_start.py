"""Starting episodes over HTTP: what a program may wish for, and what it is told."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from ember_site.accounts.models import User
from ember_site.boards.models import Evaluation, EvaluationKind, Slot
from ember_site.boards.services import evaluation_ensure_open
from ember_site.catalog.models import Scenario, Suite
from ember_site.episodes.models import Episode
from ember_site.runs.models import Agent, RunSource
from ember_site.runs.selectors import runs_for_slots
from ember_site.runs.services import human_agent_for, run_verify
from tests.site.episodes.conftest import WAY_OUT, Call, publish

pytestmark = pytest.mark.usefixtures("no_rates")


@pytest.fixture
def evaluation(corridor: Scenario) -> Evaluation:
    """Give an open evaluation of the corridor, seed 0."""
    publish(corridor)
    return evaluation_ensure_open(suite=Suite.objects.get())


def test_a_new_episode_tells_links_limits_and_the_first_observation(
    call: Call, corridor: Scenario, planner: Agent, settings: Any
) -> None:
    publish(corridor)
    status, body = call("post", "", {"agent": planner.slug, "scenario": corridor.content_hash})
    episode = Episode.objects.get()
    own = f"http://testserver/api/v1/episodes/{episode.pk}/"
    assert status == 201
    assert (body["id"], body["mode"], body["state"], body["step"], body["end"]) == (
        str(episode.pk),
        "practice",
        "running",
        0,
        None,
    )
    assert body["links"] == {
        "self": own,
        "steps": f"{own}steps/",
        "observation": f"{own}observation/",
        "heartbeat": f"{own}heartbeat/",
        "html": f"http://testserver/live/{episode.pk}/",
        "ws": f"ws://testserver/ws/episodes/{episode.pk}/",
        "run": None,
    }
    assert body["limits"] == {"message_bytes": 65536, "messages_per_s": 20, "idle_s": 900, "move_s": 600}
    assert body["observation"]["step"] == 0
    assert (episode.agent, episode.seed_public) == (planner, False)


def test_an_episode_is_played_to_a_verified_run_of_the_agent(
    call: Call, corridor: Scenario, planner: Agent
) -> None:
    publish(corridor)
    start = {
        "agent": planner.slug,
        "scenario": f"drawn/{corridor.scenario_id}",
        "seed": "18446744073709551615",
    }
    _, body = call("post", "", start)
    own = f"{body['id']}/"
    for step, actions in enumerate(WAY_OUT, start=1):
        status, body = call("post", f"{own}steps/", {"step": step, "actions": actions})
        assert (status, body["result"], body["step"]) == (200, "applied", step)
    run = Episode.objects.get().run
    assert run is not None
    assert body["end"] == {
        "reason": "all_resolved",
        "summary": {"population": 2, "evacuated": 2, "casualties": 0, "unresolved": 0, "steps": 4},
        "run": str(run.pk),
        "seed": "18446744073709551615",
    }
    assert (run.agent, run.source, run.ranked) == (planner, RunSource.REMOTE, False)
    status, detail = call("get", own)
    assert (status, detail["state"], detail["end"]) == (200, "ended", body["end"])
    assert detail["links"]["run"].endswith(f"/api/v1/runs/{run.pk}/")
    assert (detail["agent"], detail["scenario_hash"]) == (planner.slug, corridor.content_hash)


@pytest.mark.parametrize("mode", ["ranked", "public-dev/1"])
def test_ranked_play_counts_on_the_open_evaluation_like_an_upload(
    call: Call, evaluation: Evaluation, corridor: Scenario, planner: Agent, mode: str
) -> None:
    start = {"agent": planner.slug, "mode": mode}
    _, body = call("post", "", start | ({"scenario": corridor.content_hash} if mode == "ranked" else {}))
    assert body["mode"] == "ranked"
    for step, actions in enumerate(WAY_OUT, start=1):
        call("post", f"{body['id']}/steps/", {"step": step, "actions": actions})
    run = Episode.objects.get().run
    assert run is not None
    run_verify(run_id=run.pk)
    slot = Slot.objects.get()
    assert list(runs_for_slots(slots=[(slot.scenario_id, slot.seed)])) == [run]


@pytest.mark.parametrize(
    ("start", "status", "code", "place"),
    [
        ({}, 422, "bad_input", None),
        ([], 422, "bad_input", None),
        ({"agent": 3}, 422, "bad_input", "agent"),
        ({"colour": "red"}, 422, "bad_input", None),
        ({"mode": "dance"}, 422, "bad_input", "mode"),
        ({"mode": "baseline"}, 422, "bad_input", "mode"),
        ({"mode": "public-dev/9"}, 404, "not_found", "mode"),
        ({"mode": "nowhere/1"}, 404, "not_found", None),
        ({"mode": "sealed/1"}, 409, "wrong_state", "mode"),
        ({"mode": "ranked", "seed": "1"}, 422, "bad_input", "seed"),
        ({"seed": 1}, 422, "bad_input", "seed"),
        ({"seed": "-1"}, 422, "bad_input", "seed"),
        ({"seed": "007"}, 422, "bad_input", "seed"),
        ({"seed": ""}, 422, "bad_input", "seed"),
        ({"seed": "18446744073709551616"}, 422, "bad_input", "seed"),
        ({"scenario": "nothing"}, 404, "not_found", None),
        ({"scenario": ""}, 422, "bad_input", "scenario"),
        ({"agent": "nobody"}, 404, "not_found", "agent"),
        ({"agent": "ada"}, 422, "agent_kind", "agent"),
        ({"agent": "foreign"}, 403, "forbidden", "agent"),
    ],
)
def test_a_start_that_cannot_be_says_why(
    call: Call,
    evaluation: Evaluation,
    user: User,
    other_user: User,
    corridor: Scenario,
    planner: Agent,
    start: Any,
    status: int,
    code: str,
    place: str | None,
) -> None:
    human_agent_for(user)
    Agent.objects.create(slug="foreign", name="Foreign", owner=other_user)
    Evaluation.objects.create(
        slug="sealed", title="S", suite=evaluation.suite, kind=EvaluationKind.SEALED, state="open"
    )
    if start and isinstance(start, dict):
        start = {"agent": planner.slug, "scenario": corridor.content_hash, **start}
    answered, problem = call("post", "", start)
    assert (answered, problem["code"], problem.get("place")) == (status, code, place)
    assert not Episode.objects.exists()


def test_the_scenario_beside_a_slot_must_be_the_slots(
    call: Call, evaluation: Evaluation, make_scenario: Callable[..., Scenario], planner: Agent
) -> None:
    other = make_scenario("A.X")
    evaluation.suite.entries.create(
        scenario=other, position=2, primary_family="maze", families=[], purpose="x"
    )
    start = {"agent": planner.slug, "mode": "public-dev/1", "scenario": other.content_hash}
    status, problem = call("post", "", start)
    assert (status, problem["place"]) == (422, "scenario")


def test_an_account_can_have_so_many_agents_playing_at_once(
    call: Call, remote: Episode, corridor: Scenario, planner: Agent, settings: Any
) -> None:
    settings.EPISODE_LIMITS = {"open_episodes_per_viewer": 1}
    publish(corridor)
    status, problem = call("post", "", {"agent": planner.slug, "scenario": corridor.content_hash})
    assert (status, problem["code"], problem["limit"]) == (429, "too_many", 1)
