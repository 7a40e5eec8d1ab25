"""Episodes over HTTP: the same answers as on the socket, for those who may have them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from django.core.cache import cache
from django.db import OperationalError
from django.test import Client

from ember_site.accounts.models import ApiToken, User
from ember_site.boards.models import Evaluation, EvaluationKind, Slot
from ember_site.boards.services import evaluation_ensure_open
from ember_site.catalog.models import Scenario, Suite
from ember_site.episodes.models import Episode, EpisodeStep
from ember_site.episodes.services import episode_create, episode_step
from ember_site.runs.models import Agent, RunSource
from ember_site.runs.selectors import runs_for_slots
from ember_site.runs.services import human_agent_for, run_verify
from tests.site.episodes.conftest import HandClock, publish

EAST = {"A": "east", "B": "east"}
STAY = {"A": "stay", "B": "stay"}
WAY_OUT = [EAST, EAST, {"A": "east"}, {"A": "east"}]

Call = Callable[..., tuple[int, dict[str, Any]]]


@pytest.fixture(autouse=True)
def _no_rates() -> None:
    cache.clear()


@pytest.fixture
def call(client: Client, user: User, token_of: Callable[..., str]) -> Call:
    """Give a function that calls the API with the play token of `user`: method, path, body."""
    key = token_of(user)

    def send(method: str, path: str, body: Any = None, key: str | None = key) -> tuple[int, dict[str, Any]]:
        headers = {"authorization": f"Token {key}"} if key else {}
        sent = {} if body is None else {"data": body, "content_type": "application/json"}
        answer = getattr(client, method)(f"/api/v1/episodes/{path}", headers=headers, **sent)
        assert answer["Cache-Control"] == "no-store"
        return answer.status_code, answer.json()

    return send


@pytest.fixture
def evaluation(corridor: Scenario) -> Evaluation:
    """Give an open evaluation of the corridor, seed 0."""
    publish(corridor)
    return evaluation_ensure_open(suite=Suite.objects.get())


# --- Starting -----------------------------------------------------------------------------------


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


@pytest.mark.parametrize(
    ("scope", "status", "code"),
    [(None, 401, "sign_in_required"), ("read", 403, "token_scope"), ("submit", 403, "token_scope")],
)
def test_acting_needs_a_token_of_scope_play(
    call: Call,
    remote: Episode,
    user: User,
    token_of: Callable[..., str],
    scope: str | None,
    status: int,
    code: str,
) -> None:
    key = token_of(user, scope) if scope else None
    for path in ("", f"{remote.pk}/steps/", f"{remote.pk}/heartbeat/"):
        answered, problem = call("post", path, {"step": 1, "actions": EAST}, key=key)
        assert (answered, problem["code"]) == (status, code)
    assert not EpisodeStep.objects.exists()


def test_an_account_can_have_so_many_agents_playing_at_once(
    call: Call, remote: Episode, corridor: Scenario, planner: Agent, settings: Any
) -> None:
    settings.EPISODE_LIMITS = {"open_episodes_per_viewer": 1}
    publish(corridor)
    status, problem = call("post", "", {"agent": planner.slug, "scenario": corridor.content_hash})
    assert (status, problem["code"], problem["limit"]) == (429, "too_many", 1)


# --- Steps --------------------------------------------------------------------------------------


def test_the_same_step_again_is_a_duplicate_and_other_actions_are_stale(call: Call, remote: Episode) -> None:
    path = f"{remote.pk}/steps/"
    _, first = call("post", path, {"step": 1, "actions": EAST})
    status, again = call("post", path, {"step": 1, "actions": EAST})
    assert (status, again["result"]) == (200, "duplicate")
    assert again["observation"] == first["observation"]
    for step, actions in ((1, STAY), (7, EAST)):
        status, stale = call("post", path, {"step": step, "actions": actions})
        assert (status, stale["code"], stale["result"], stale["step"]) == (409, "step_stale", "stale", 1)
        assert stale["observation"] == first["observation"]
        assert stale["state"] == "running"
    assert EpisodeStep.objects.count() == 1


@pytest.mark.parametrize(
    ("actions", "place"),
    [({"A": "east"}, "actions.B"), ({**EAST, "A": "up"}, "actions.A"), ({**EAST, "Z": "east"}, "actions.Z")],
)
def test_actions_that_do_not_fit_are_rejected_with_code_and_place(
    call: Call, remote: Episode, actions: dict[str, str], place: str
) -> None:
    status, body = call("post", f"{remote.pk}/steps/", {"step": 1, "actions": actions})
    assert (status, body["code"], body["place"], body["result"]) == (
        422,
        "action_invalid",
        place,
        "rejected",
    )
    assert not EpisodeStep.objects.exists()


@pytest.mark.parametrize(
    ("body", "status", "code"),
    [
        ("{oops", 400, "bad_json"),
        ("[]", 422, "bad_input"),
        ('"x"', 422, "bad_input"),
        (b"\x00\xff", 400, "bad_json"),
        ("[" * 60_000, 400, "bad_json"),
        ('{"step": 1, "actions": {"A": "' + "e" * 70_000 + '"}}', 413, "too_large"),
        ('{"step":-1,"actions":{}}', 422, "bad_input"),
        ('{"step":9223372036854775808,"actions":{}}', 422, "bad_input"),
        ('{"step":"41","actions":{}}', 422, "bad_input"),
        ('{"step":true,"actions":{}}', 422, "bad_input"),
        ('{"step":1.0,"actions":{}}', 422, "bad_input"),
        ('{"step":NaN,"actions":{}}', 400, "bad_json"),
        ('{"step":1,"actions":{"A":"east","A":"west"}}', 400, "bad_json"),
        ('{"step":1,"actions":{"A":1}}', 422, "bad_input"),
        ('{"step":1,"actions":{},"t":"hello"}', 422, "bad_input"),
        ('{"step":1,"actions":{},"colour":1}', 422, "bad_input"),
        ('{"step":1}', 422, "bad_input"),
    ],
    ids=lambda value: str(value)[:30],
)
def test_p12_a_body_that_is_no_step_is_refused_and_moves_nobody(
    client: Client,
    remote: Episode,
    user: User,
    token_of: Callable[..., str],
    body: Any,
    status: int,
    code: str,
) -> None:
    answer = client.post(
        f"/api/v1/episodes/{remote.pk}/steps/",
        data=body,
        content_type="application/json",
        headers={"authorization": f"Token {token_of(user)}"},
    )
    assert (answer.status_code, answer.json()["code"]) == (status, code)
    assert "result" not in answer.json()
    assert not EpisodeStep.objects.exists()


def test_a_database_that_cannot_be_written_asks_for_the_same_again(
    call: Call, remote: Episode, monkeypatch: pytest.MonkeyPatch
) -> None:
    def locked(**_values: Any) -> EpisodeStep:
        raise OperationalError("database is locked")

    path, wanted = f"{remote.pk}/steps/", {"step": 1, "actions": EAST}
    with monkeypatch.context() as patch:
        patch.setattr(EpisodeStep.objects, "create", locked)
        status, body = call("post", path, wanted)
    assert (status, body["code"], body["result"]) == (503, "busy", "rejected")
    assert call("post", path, wanted)[1]["result"] == "applied"


def test_t20_a_heartbeat_moves_the_idle_instant_and_nothing_else(
    call: Call, remote: Episode, site_clock: HandClock
) -> None:
    _, before = call("get", f"{remote.pk}/observation/")
    site_clock.advance(300)
    status, beat = call("post", f"{remote.pk}/heartbeat/")
    _, after = call("get", f"{remote.pk}/observation/")
    assert status == 200
    assert beat["idle_due_at"] > before["idle_due_at"]
    assert {key for key in after if after[key] != before[key]} == {"idle_due_at"}
    assert beat["move_due_at"] == before["move_due_at"]


# --- P14: who may do what -----------------------------------------------------------------------


def test_p14_an_ended_run_takes_neither_step_nor_heartbeat(call: Call, remote: Episode) -> None:
    for step, actions in enumerate(WAY_OUT, start=1):
        episode_step(episode_id=remote.pk, step=step, actions=actions)
    status, body = call("post", f"{remote.pk}/steps/", {"step": 5, "actions": {}})
    assert (status, body["code"], body["result"]) == (422, "episode_over", "rejected")
    assert body["end"]["reason"] == "all_resolved"
    assert (
        call("post", f"{remote.pk}/steps/", {"step": 4, "actions": {"A": "east"}})[1]["result"] == "duplicate"
    )
    status, body = call("post", f"{remote.pk}/heartbeat/")
    assert (status, body["code"]) == (422, "episode_over")


def test_p14_a_foreign_run_can_be_watched_but_not_played(
    call: Call, remote: Episode, other_user: User, token_of: Callable[..., str]
) -> None:
    key = token_of(other_user)
    for path in ("steps/", "heartbeat/"):
        status, body = call("post", f"{remote.pk}/{path}", {"step": 1, "actions": EAST}, key=key)
        assert (status, body["code"]) == (403, "not_the_player")
    for watcher in (key, None):
        assert call("get", f"{remote.pk}/observation/", key=watcher)[0] == 200
        assert call("get", f"{remote.pk}/", key=watcher)[0] == 200
    assert not EpisodeStep.objects.exists()


def test_p14_a_token_plays_no_game_of_a_person(call: Call, practice: Episode) -> None:
    status, body = call("post", f"{practice.pk}/steps/", {"step": 1, "actions": EAST})
    assert (status, body["code"]) == (403, "not_the_player")
    assert "model" in body["detail"]


def test_a_person_may_play_by_http_in_the_own_session(user_client: Client, practice: Episode) -> None:
    answer = user_client.post(
        f"/api/v1/episodes/{practice.pk}/steps/",
        {"step": 1, "actions": EAST, "assist": 1},
        content_type="application/json",
    )
    assert (answer.status_code, answer.json()["result"]) == (200, "applied")
    assert (answer.json()["move_due_at"], answer.json()["idle_due_at"]) == (None, None)


def test_p14_another_site_cannot_play_with_the_visitors_cookies(user: User, practice: Episode) -> None:
    browser = Client(enforce_csrf_checks=True)
    browser.force_login(user)
    answer = browser.post(
        f"/api/v1/episodes/{practice.pk}/steps/",
        {"step": 1, "actions": EAST},
        content_type="application/json",
        headers={"origin": "https://elsewhere.example"},
    )
    assert (answer.status_code, answer.json()["code"]) == (403, "csrf")


def test_p14_a_revoked_token_plays_on_no_more(call: Call, remote: Episode) -> None:
    assert call("post", f"{remote.pk}/heartbeat/")[0] == 200
    ApiToken.objects.all().delete()
    status, body = call("post", f"{remote.pk}/steps/", {"step": 1, "actions": EAST})
    assert (status, body["code"]) == (401, "bad_token")


@pytest.mark.parametrize("path", ["", "steps/", "observation/", "heartbeat/"])
@pytest.mark.parametrize("method", ["get", "post", "put", "delete"])
def test_p14_an_unknown_episode_or_method_is_never_a_fault_of_ours(
    call: Call, method: str, path: str
) -> None:
    status, body = call(method, f"00000000-0000-4000-8000-000000000000/{path}", {"step": 1, "actions": {}})
    assert status in (404, 405)
    assert body["code"] in ("not_found", "method_not_allowed")


def test_a_hidden_episode_exists_for_its_player_alone_and_names_nothing(
    call: Call, corridor: Scenario, user: User, other_user: User, planner: Agent, token_of: Callable[..., str]
) -> None:
    episode = episode_create(
        scenario=corridor, owner=user, agent=planner, mode="ranked", seed=5, hidden_ref="sealed"
    )
    for key in (token_of(other_user), None):
        assert call("get", f"{episode.pk}/", key=key)[0] == 404
        assert call("get", f"{episode.pk}/observation/", key=key)[0] == 404
    assert (
        call("post", f"{episode.pk}/steps/", {"step": 1, "actions": EAST}, key=token_of(other_user))[0] == 404
    )
    _, body = call("get", f"{episode.pk}/")
    assert (body["scenario_hash"], body["agent"]) == (None, None)
    for step, actions in enumerate(WAY_OUT, start=1):
        _, body = call("post", f"{episode.pk}/steps/", {"step": step, "actions": actions})
    assert (body["end"]["run"], body["end"]["seed"]) == (None, None)
    assert body["end"]["summary"]["evacuated"] == 2
