"""Expected errors as pages and as problem documents."""

import json
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from django.contrib.auth.models import AnonymousUser
from django.http import HttpRequest
from django.test import Client, RequestFactory

from ember_site.core import clock, errors
from ember_site.core.codes import ERROR_SENTENCES, sentence
from ember_site.core.errors import BadInput, DomainError, LimitExceeded, NotFound, SignInRequired
from ember_site.core.middleware import DomainErrorMiddleware
from ember_site.core.problems import domain_problem
from ember_site.core.responses import error_response


def request_for(path: str = "/page/", **headers: str) -> HttpRequest:
    request = RequestFactory().get(path, headers=headers)
    request.user = AnonymousUser()
    return request


def error_classes(base: type[DomainError] = DomainError) -> list[type[DomainError]]:
    return [base, *(found for child in base.__subclasses__() for found in error_classes(child))]


@pytest.mark.parametrize("kind", error_classes(), ids=lambda kind: kind.__name__)
def test_every_error_has_a_sentence_and_a_status(kind: type[DomainError]) -> None:
    assert kind.code in ERROR_SENTENCES
    assert 400 <= kind.http_status <= 599


def test_sentences_are_sentences() -> None:
    for code, text in ERROR_SENTENCES.items():
        assert text[0].isupper(), code
        assert text.endswith("."), code
        assert code == code.lower(), code


def test_an_unknown_code_has_the_general_sentence() -> None:
    assert sentence("no_such_code") == ERROR_SENTENCES["internal"]


def test_a_problem_document_carries_code_place_and_data() -> None:
    error = BadInput("Expected 1 to 3, got 4.", place="actions.P3", limit=3, nothing=None)
    assert domain_problem(error) == {
        "type": "/docs/errors/#bad_input",
        "title": "Unprocessable Entity",
        "status": 422,
        "detail": "Expected 1 to 3, got 4.",
        "code": "bad_input",
        "place": "actions.P3",
        "limit": 3,
    }


def test_a_person_gets_a_page_and_a_program_a_document() -> None:
    page = error_response(request_for(accept="text/html"), NotFound("No such run."))
    assert page.status_code == 404
    assert b"No such run." in page.content
    assert b'href="/docs/errors/#not_found"' in page.content
    document = error_response(request_for(accept="application/json"), NotFound("No such run."))
    assert document["Content-Type"] == "application/problem+json"
    assert json.loads(document.content)["detail"] == "No such run."
    api = error_response(request_for("/api/v1/runs/", accept="text/html"), NotFound())
    assert api["Content-Type"] == "application/problem+json"


def test_who_must_sign_in_is_led_there_and_back() -> None:
    answer = error_response(request_for("/page/?a=1", accept="text/html"), SignInRequired())
    assert answer.status_code == 302
    assert answer["Location"] == "/accounts/login/?next=/page/%3Fa%3D1"


def test_a_used_up_rate_tells_when_the_next_try_is_allowed(monkeypatch: pytest.MonkeyPatch) -> None:
    now = datetime(2030, 1, 1, tzinfo=UTC)
    monkeypatch.setattr(clock, "now", lambda: now)
    error = LimitExceeded(limit=60, retry_at=now + timedelta(seconds=90.2))
    answer = error_response(request_for(accept="application/json"), error)
    assert answer.status_code == 429
    assert answer["Retry-After"] == "91"
    assert json.loads(answer.content)["retry_at"] == "2030-01-01T00:01:30.200000Z"


def test_unexpected_errors_are_left_to_django() -> None:
    middleware = DomainErrorMiddleware(lambda request: None)  # type: ignore[arg-type,return-value]
    assert middleware.process_exception(request_for(), ValueError("ours")) is None
    assert middleware.process_exception(request_for(), errors.Forbidden()) is not None


def test_a_form_without_its_token_is_refused_kindly(user: Any) -> None:
    strict = Client(enforce_csrf_checks=True)
    page = strict.post("/accounts/login/", {"login": "ada", "password": "x"}, headers={"accept": "text/html"})
    assert page.status_code == 403
    assert b"no longer valid" in page.content
    document = strict.post("/accounts/login/", headers={"accept": "application/json"})
    assert json.loads(document.content)["code"] == "csrf"
