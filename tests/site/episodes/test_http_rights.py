"""Episodes over HTTP: who may do what (P14)."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from django.test import Client

from ember_site.accounts.models import ApiToken, User
from ember_site.catalog.models import Scenario
from ember_site.episodes.models import Episode, EpisodeStep
from ember_site.episodes.services import episode_create, episode_step
from ember_site.runs.models import Agent
from tests.site.episodes.conftest import EAST, WAY_OUT, Call

pytestmark = pytest.mark.usefixtures("no_rates")


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
