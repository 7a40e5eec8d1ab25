"""Tokens reach as far as their scope, and no further than their expiry."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.test import Client

from ember_site.accounts.models import ApiToken
from ember_site.core import clock

pytestmark = pytest.mark.django_db

AGENT = {"name": "Planner"}


def post_agent(client: Client, **headers: str):
    return client.post("/api/v1/agents/", AGENT, content_type="application/json", headers=headers)


@pytest.mark.parametrize(("scope", "status"), [("read", 403), ("submit", 201), ("play", 201)])
def test_scopes_include_the_lesser_ones(scope: str, status: int, user, token_header, client):
    header = token_header(user, scope)
    assert client.get("/api/v1/suites/", headers=header).status_code == 200
    response = post_agent(client, **header)
    assert response.status_code == status
    if status == 403:
        assert response.json()["code"] == "token_scope"
        assert "submit" in response.json()["detail"]


@pytest.mark.parametrize(
    "header",
    [
        "Token ember_unknown",
        "Token",
        "Token a b",
        "Token \xff\xfe",
        f"Token {'x' * 5000}",
    ],
)
def test_a_wrong_token_is_refused_even_where_none_is_needed(header: str, client):
    response = client.get("/api/v1/suites/", headers={"authorization": header})
    assert response.status_code == 401
    assert response.json()["code"] == "bad_token"
    assert response["WWW-Authenticate"] == "Token"


@pytest.mark.parametrize("scheme", ["Bearer", "bearer"])
def test_a_token_of_another_scheme_is_not_passed_over(scheme: str, user, token_header, client):
    header = {"authorization": token_header(user)["authorization"].replace("Token", scheme)}
    response = client.get("/api/v1/runs/", {"mine": "true"}, headers=header)
    assert (response.status_code, response.json()["code"]) == (401, "bad_token")
    assert "Authorization: Token" in response.json()["detail"]
    assert response["WWW-Authenticate"] == "Token"


def test_the_password_of_a_proxy_in_front_is_not_taken_for_a_token(client):
    assert client.get("/api/v1/runs/", headers={"authorization": "Basic YTpi"}).status_code == 200


def test_a_token_in_the_address_is_none(user, token_header, client):
    key = token_header(user)["authorization"].removeprefix("Token ")
    assert client.get("/api/v1/submissions/", {"token": key}).status_code == 401
    assert client.get("/api/v1/agents/", {"token": key}).json()["place"] == "token"


def test_an_expired_token_is_refused_and_stays_listed(user, token_header, client):
    header = token_header(user, expiry=timedelta(seconds=-1))
    assert client.get("/api/v1/suites/", headers=header).json()["code"] == "bad_token"
    assert ApiToken.objects.filter(user=user).count() == 1


def test_a_revoked_token_is_refused_at_once(user, token_header, client):
    header = token_header(user)
    ApiToken.objects.all().delete()
    assert client.get("/api/v1/suites/", headers=header).status_code == 401


def test_a_closed_account_cannot_use_its_tokens(user, token_header, client):
    header = token_header(user)
    user.is_active = False
    user.save()
    assert client.get("/api/v1/suites/", headers=header).status_code == 401


def test_the_last_use_is_noted_to_the_minute_and_no_finer(user, token_header, client):
    header = token_header(user)
    client.get("/api/v1/suites/", headers=header)
    first = ApiToken.objects.get().last_used_at
    assert first is not None
    assert clock.now() - first < timedelta(minutes=1)
    client.get("/api/v1/suites/", headers=header)
    assert ApiToken.objects.get().last_used_at == first


def test_writing_needs_an_account(client):
    response = post_agent(client)
    assert response.status_code == 401
    assert response.json()["code"] == "sign_in_required"


def test_a_browser_session_writes_with_djangos_token_only(user):
    browser = Client(enforce_csrf_checks=True)
    browser.force_login(user)
    assert browser.get("/api/v1/suites/").status_code == 200
    refused = post_agent(browser)
    assert (refused.status_code, refused.json()["code"]) == (403, "csrf")
    secret = "a" * 32
    browser.cookies["ember_csrf"] = secret
    assert post_agent(browser, **{"x-csrftoken": secret}).status_code == 201
