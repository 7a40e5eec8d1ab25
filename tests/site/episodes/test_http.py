"""Steps of episodes over HTTP: the same answers as on the socket."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from django.db import OperationalError
from django.test import Client

from ember_site.accounts.models import User
from ember_site.episodes.models import Episode, EpisodeStep
from tests.site.episodes.conftest import EAST, STAY, Call, HandClock

pytestmark = pytest.mark.usefixtures("no_rates")


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
