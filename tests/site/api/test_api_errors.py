"""Whatever goes wrong in the API, the answer is a problem document that helps and leaks nothing."""

from __future__ import annotations

import base64
import codecs
import logging
from datetime import UTC, datetime, timedelta

import pytest
from django.core.exceptions import PermissionDenied, SuspiciousOperation
from django.http import Http404
from rest_framework import exceptions

from ember_site.api.errors import domain_error_of, problem_response
from ember_site.api.throttles import GuestRate
from ember_site.catalog import selectors
from ember_site.core import clock
from ember_site.core.codes import ERROR_SENTENCES
from ember_site.core.errors import LimitExceeded, TooLarge
from simulator import ScenarioError

pytestmark = pytest.mark.django_db

MEMBERS = {"type", "title", "status", "detail", "code"}


def check_problem(response, status: int, code: str) -> dict:
    assert response.status_code == status, response.content
    assert response["Content-Type"] == "application/problem+json"
    document = response.json()
    assert document.keys() >= MEMBERS
    assert (document["status"], document["code"]) == (status, code)
    assert code in ERROR_SENTENCES
    assert document["type"].endswith(f"/docs/errors/#{code}")
    assert document["detail"]
    return document


@pytest.mark.parametrize("method", ["get", "post", "put", "patch", "delete"])
def test_an_unknown_address_is_a_problem_not_a_page(method: str, client):
    check_problem(getattr(client, method)("/api/v1/nonsense/"), 404, "not_found")


def test_a_missing_final_slash_is_named(client):
    document = check_problem(client.post("/api/v1/suites"), 404, "not_found")
    assert "/api/v1/suites/" in document["detail"]


def test_a_wrong_method_says_so_and_which_are_right(client):
    response = client.delete("/api/v1/suites/")
    check_problem(response, 405, "method_not_allowed")
    assert "GET" in response["Allow"]


def test_a_format_that_nobody_speaks_is_refused(client):
    check_problem(client.get("/api/v1/suites/", headers={"accept": "image/png"}), 406, "not_acceptable")


def test_a_body_that_is_not_json_is_refused(user, token_header, client):
    response = client.post(
        "/api/v1/agents/", b"name=x", content_type="text/plain", headers=token_header(user, "submit")
    )
    document = check_problem(response, 415, "unsupported_media_type")
    assert document["detail"] == "Expected the Content-Type application/json, got 'text/plain'."


def test_what_uploads_may_be_is_named_to_whoever_sends_something_else(user, token_header, client):
    response = client.generic(
        "POST", "/api/v1/submissions/", b"x", content_type="", headers=token_header(user, "submit")
    )
    assert check_problem(response, 415, "unsupported_media_type")["detail"] == (
        "Expected the Content-Type multipart/form-data or application/json or application/x-ndjson "
        "or application/jsonl or application/gzip, got none."
    )


HOSTILE = {
    "cut": b'{"name": "x"',
    "byte order mark": codecs.BOM_UTF8 + b'{"name": "x"}',
    "utf-16": '{"name": "x"}'.encode("utf-16"),
    "not utf-8": b'{"name": "\xff"}',
    "repeated key": b'{"name": "x", "name": "y"}',
    "NaN": b'{"name": NaN}',
    "infinity": b'{"cost_usd": -Infinity}',
    "overflow": b'{"cost_usd": 1e999}',
    "lone surrogate": b'{"name": "\\ud800"}',
    "deep": b"[" * 100_000,
    "deep objects": b'{"a":' * 50_000,
    "huge integer": b'{"tokens": ' + b"9" * 10_000 + b"}",
}


@pytest.mark.parametrize("body", HOSTILE.values(), ids=HOSTILE.keys())
def test_hostile_bodies_are_refused_with_a_reason(body: bytes, user, token_header, client):
    response = client.post(
        "/api/v1/agents/", body, content_type="application/json", headers=token_header(user, "submit")
    )
    check_problem(response, 400, "bad_json")


def test_the_place_of_a_fault_in_json_is_told(user, token_header, client):
    body = b'{"name": "x", "tokens": ' + b"9" * 100 + b"}"
    response = client.post(
        "/api/v1/agents/", body, content_type="application/json", headers=token_header(user, "submit")
    )
    assert check_problem(response, 400, "bad_json")["place"] == "tokens"


@pytest.mark.parametrize("kind", ["multipart/form-data", "multipart/form-data; boundary="])
def test_a_form_that_cannot_be_read_is_not_called_json(kind: str, user, token_header, client):
    response = client.post(
        "/api/v1/submissions/", b"x", content_type=kind, headers=token_header(user, "submit")
    )
    assert "boundary" in check_problem(response, 400, "bad_input")["detail"]


@pytest.mark.parametrize(
    "body", [b"", b"[]", b'"x"', b"7", b"null", b"{}", b'{"name": 7.5e300}', b'{"name": ""}']
)
def test_well_formed_bodies_of_the_wrong_shape_are_bad_input(body: bytes, user, token_header, client):
    response = client.post(
        "/api/v1/agents/", body, content_type="application/json", headers=token_header(user, "submit")
    )
    assert response.status_code in {201, 422}
    if response.status_code == 422:
        check_problem(response, 422, "bad_input")


def test_a_body_over_the_limit_is_refused_with_the_limit(user, token_header, client):
    body = b'{"name": "' + b"x" * (256 * 1024) + b'"}'
    response = client.post(
        "/api/v1/agents/", body, content_type="application/json", headers=token_header(user, "submit")
    )
    assert check_problem(response, 413, "too_large")["limit"] == 256 * 1024


def test_our_own_fault_shows_nothing_of_itself(client, monkeypatch, caplog):
    def broken(**_: object) -> None:
        raise RuntimeError("secret seed 123456789")

    monkeypatch.setattr(selectors, "suite_rows", broken)
    with caplog.at_level(logging.ERROR):
        response = client.get("/api/v1/suites/")
    check_problem(response, 500, "internal")
    assert b"123456789" not in response.content
    assert b"Traceback" not in response.content
    assert "Unexpected error in SuiteList" in caplog.text


def test_too_many_requests_say_when_the_next_is_allowed(client, monkeypatch):
    monkeypatch.setattr(GuestRate, "THROTTLE_RATES", {"guest": "3/min"})
    for _ in range(3):
        assert client.get("/api/v1/suites/").status_code == 200
    response = client.get("/api/v1/suites/")
    document = check_problem(response, 429, "too_many")
    assert (document["limit"], document["used"]) == (3, 3)
    wait = datetime.fromisoformat(document["retry_at"]) - clock.now()
    assert timedelta(0) < wait <= timedelta(seconds=60)
    assert 1 <= int(response["Retry-After"]) <= 60


def test_the_instant_named_is_exactly_that_of_the_next_request(client, monkeypatch):
    start = datetime(2026, 7, 1, 12, tzinfo=UTC)
    now = start
    monkeypatch.setattr(GuestRate, "THROTTLE_RATES", {"guest": "2/min"})
    monkeypatch.setattr(GuestRate, "timer", lambda _: now.timestamp())
    monkeypatch.setattr(clock, "now", lambda: now)
    assert client.get("/api/v1/suites/").status_code == 200
    now = start + timedelta(seconds=20)
    assert client.get("/api/v1/suites/").status_code == 200
    now = start + timedelta(seconds=30, milliseconds=300)
    response = client.get("/api/v1/suites/")
    document = check_problem(response, 429, "too_many")
    assert (document["limit"], document["used"], document["window_s"]) == (2, 2, 60)
    assert datetime.fromisoformat(document["retry_at"]) == start + timedelta(seconds=60)
    assert response["Retry-After"] == "30"
    now = start + timedelta(seconds=60) - timedelta(milliseconds=1)
    assert client.get("/api/v1/suites/").status_code == 429
    now = start + timedelta(seconds=60)
    assert client.get("/api/v1/suites/").status_code == 200
    assert datetime.fromisoformat(client.get("/api/v1/suites/").json()["retry_at"]) == start + timedelta(
        seconds=80
    )


CURSORS = {
    "empty": "",
    "nonsense": "%%%",
    "not ascii": "é",
    "bytes": "AAAA",
    "other names": base64.b64encode(b"x=1").decode(),
    "no names": base64.b64encode(b"o&r&p").decode(),
    "no date": base64.b64encode(b"p=yesterday").decode(),
    "zero byte": base64.b64encode(b"p=%00").decode(),
    "huge offset": base64.b64encode(b"o=" + b"9" * 400).decode(),
    "negative offset": base64.b64encode(b"o=-1").decode(),
    "no direction": base64.b64encode(b"r=perhaps").decode(),
}


@pytest.mark.parametrize("cursor", CURSORS.values(), ids=CURSORS.keys())
@pytest.mark.parametrize("address", ["/api/v1/boards/", "/api/v1/runs/", "/api/v1/boards/public-dev/"])
def test_a_made_up_cursor_is_bad_input_and_not_the_first_page(address: str, cursor: str, client, evaluation):
    document = check_problem(client.get(address, {"cursor": cursor}), 422, "bad_input")
    assert document["place"] == "cursor"


@pytest.mark.parametrize("size", ["0", "-1", "201", "many", "1" * 50, "", "٣"])
@pytest.mark.parametrize("address", ["/api/v1/scenarios/", "/api/v1/boards/public-dev/"])
def test_a_page_size_out_of_range_is_bad_input(address: str, size: str, client, evaluation):
    document = check_problem(client.get(address, {"page_size": size}), 422, "bad_input")
    assert document["place"] == "page_size"


@pytest.mark.parametrize(
    "address",
    [
        "/api/v1/suites/nothing/1.0.0/",
        "/api/v1/suites/emberbench-v1-public/9.9.9/manifest/",
        f"/api/v1/scenarios/{'0' * 64}/",
        "/api/v1/scenarios/..%2F..%2Fetc/",
        f"/api/v1/scenarios/{'A' * 500}/file/",
        "/api/v1/boards/nothing/",
    ],
)
def test_what_does_not_exist_is_not_found(address: str, client, suite):
    check_problem(client.get(address), 404, "not_found")


def test_a_wrong_filter_names_its_place(client, suite):
    document = check_problem(client.get("/api/v1/scenarios/", {"fire_model": "cold"}), 422, "bad_input")
    assert document["place"] == "fire_model"
    assert document["errors"][0]["place"] == "fire_model"


@pytest.mark.parametrize(
    ("error", "status", "code"),
    [
        (Http404("x"), 404, "not_found"),
        (exceptions.NotFound(), 404, "not_found"),
        (PermissionDenied("x"), 403, "forbidden"),
        (exceptions.PermissionDenied(), 403, "forbidden"),
        (exceptions.PermissionDenied("CSRF Failed: CSRF token missing."), 403, "csrf"),
        (exceptions.NotAuthenticated(), 401, "sign_in_required"),
        (exceptions.AuthenticationFailed("who"), 401, "bad_token"),
        (exceptions.Throttled(wait=7.2), 429, "too_many"),
        (SuspiciousOperation("x"), 400, "bad_input"),
        (TooLarge(limit=5), 413, "too_large"),
        (ScenarioError("expected 1, got 2", "people[3]"), 422, "bad_input"),
        (KeyError("secret"), 500, "internal"),
    ],
    ids=lambda value: type(value).__name__ if isinstance(value, Exception) else str(value),
)
def test_every_kind_of_exception_has_its_status_and_code(error: Exception, status: int, code: str):
    response = problem_response(error, {"view": None})
    assert (response.status_code, response.data["code"]) == (status, code)
    assert "secret" not in str(response.data)
    if status == 429:
        assert response.headers["Retry-After"] == "8"


def test_places_of_nested_faults_follow_the_grammar():
    detail = {"people": [{}, {"position": [["Expected 0 to 18."]]}], "name": ["Too long."]}
    error = domain_error_of(exceptions.ValidationError(detail))
    assert error is not None
    assert [fault["place"] for fault in error.data["errors"]] == ["people[1].position[0]", "name"]


def test_data_of_an_error_cannot_replace_the_members_of_the_document():
    response = problem_response(LimitExceeded(limit=3, used=3, status=200, title="fine"), {})
    assert (response.data["status"], response.data["title"]) == (429, "Too Many Requests")
