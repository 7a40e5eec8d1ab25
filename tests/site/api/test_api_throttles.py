"""Whose requests are counted together, and that no header changes it."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from django.test import Client

from ember_site.api.throttles import GuestRate, UserRate
from ember_site.core import clock

pytestmark = pytest.mark.django_db


NOW = datetime(2026, 7, 1, 12, tzinfo=UTC)


@pytest.fixture(autouse=True)
def _three_a_minute_and_time_stands_still(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(UserRate, "THROTTLE_RATES", {"user": "3/min"})
    monkeypatch.setattr(GuestRate, "THROTTLE_RATES", {"guest": "3/min"})
    monkeypatch.setattr(clock, "now", lambda: NOW)
    for rate in (UserRate, GuestRate):
        monkeypatch.setattr(rate, "timer", lambda _: NOW.timestamp())


def status(client: Client, **headers: str) -> int:
    return client.get("/api/v1/", headers=headers).status_code


def test_all_tokens_and_sessions_of_an_account_are_one(user, other_user, token_header, user_client):
    first, second = Client(headers=token_header(user)), Client(headers=token_header(user, "play"))
    assert [status(who) for who in (first, second, user_client)] == [200, 200, 200]
    assert [status(who) for who in (first, second, user_client)] == [429, 429, 429]
    answer = first.get("/api/v1/")
    document = answer.json()
    assert (document["limit"], document["used"], document["window_s"]) == (3, 3, 60)
    assert datetime.fromisoformat(document["retry_at"]) == NOW + timedelta(seconds=60)
    assert answer["Retry-After"] == "60"
    assert status(Client(headers=token_header(other_user))) == 200
    assert status(Client()) == 200, "guests are counted by themselves"


def test_guests_of_one_address_are_one_whatever_they_say_of_it(client):
    claims = ("x-forwarded-for", "x-real-ip", "forwarded", "client-ip", "true-client-ip")
    assert [status(Client(), **{name: "192.0.2.1"}) for name in claims] == [200, 200, 200, 429, 429]
    elsewhere = Client(REMOTE_ADDR="192.0.2.2")
    assert status(elsewhere) == 200


def test_an_account_is_not_held_up_by_guests_of_its_address(client, user_client):
    assert [status(client) for _ in range(4)] == [200, 200, 200, 429]
    assert status(user_client) == 200


def test_the_description_is_not_counted(client):
    for _ in range(5):
        assert client.get("/api/v1/schema/").status_code == 200
    assert status(client) == 200
