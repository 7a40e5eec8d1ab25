"""What the framework refuses is said in the site's own form, and no cache gives one's answer to another."""

from __future__ import annotations

import io
import logging
from typing import Any

import pytest
from django.core.exceptions import BadRequest
from django.test import Client

from ember_site.core.codes import ERROR_SENTENCES
from ember_site.web import status_pages

pytestmark = pytest.mark.django_db

JSON = {"accept": "application/json"}


@pytest.mark.parametrize(
    ("method", "path", "status", "code"),
    [
        ("get", "/nonsense/", 404, "not_found"),
        ("get", "/docs/nothing/", 404, "not_found"),
        ("get", "/agents/nobody/", 404, "not_found"),
        ("get", "/me/tokens/", 401, "sign_in_required"),
        ("post", "/me/account/", 401, "sign_in_required"),
        ("delete", "/status/", 405, "method_not_allowed"),
        ("put", "/api/v1/docs/", 405, "method_not_allowed"),
        ("delete", "/api/v1/nothing/", 404, "not_found"),
    ],
)
def test_a_program_gets_a_problem_document(
    method: str, path: str, status: int, code: str, client: Client
) -> None:
    answer = getattr(client, method)(path, headers=JSON)
    assert answer.status_code == status
    assert answer["Content-Type"] == "application/problem+json"
    assert answer.json()["code"] == code
    assert answer.json()["detail"] == ERROR_SENTENCES[code] or code == "not_found"


@pytest.mark.parametrize("path", ["/nonsense/", "/me/tokens/", "/status/"])
def test_a_person_gets_a_page(path: str, client: Client) -> None:
    assert client.get(path, follow=True, headers={"accept": "text/html"})["Content-Type"].startswith(
        "text/html"
    )


def test_a_wrong_method_names_the_right_ones_and_shows_a_page(client: Client) -> None:
    answer = client.post("/status/")
    assert (answer.status_code, answer["Allow"]) == (405, "GET, HEAD")
    assert b"does not answer this method" in answer.content
    assert b'class="mast"' in answer.content, "in the frame of the site"
    document = client.post("/status/", headers=JSON)
    assert (document["Allow"], document.json()["status"]) == ("GET, HEAD", 405)


def test_our_own_fault_is_told_to_programs_without_its_words(
    client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken() -> None:
        raise RuntimeError("seed 123456789")

    client.raise_request_exception = False
    monkeypatch.setattr(status_pages, "site_status", broken)
    document = client.get("/status.json", headers=JSON)
    assert (document.status_code, document.json()["code"]) == (500, "internal")
    page = client.get("/status/", headers={"accept": "text/html"})
    assert (page.status_code, b"something failed on our side" in page.content) == (500, True)
    for answer in (document, page):
        assert b"123456789" not in answer.content


@pytest.mark.parametrize("path", ["/status/", "/nonsense/", "/agents/nobody/"])
def test_what_depends_on_the_form_that_is_asked_for_says_so(path: str, client: Client) -> None:
    assert "Accept" in client.get(path, headers=JSON)["Vary"]


@pytest.mark.parametrize(
    "path", ["runs/", "agents/nobody/", "submissions/", "schema/", "scenarios/?page=2", "nothing/"]
)
def test_no_cache_gives_the_answer_of_one_account_to_another(path: str, client: Client, user: Any) -> None:
    for who in (client, Client()):
        answer = who.get(f"/api/v1/{path}")
        assert {"Authorization", "Cookie"} <= set(answer["Vary"].split(", "))
        assert "private" in answer["Cache-Control"]
        client.force_login(user)


@pytest.mark.parametrize("path", ["/", "/api/v1/", "/nothing/"])
@pytest.mark.parametrize("host", ["evil.example", "evil.example:8000", "no host at all", ""])
def test_a_foreign_host_name_is_refused_with_a_code(path: str, host: str, client: Client) -> None:
    document = client.get(path, headers=JSON | {"host": host})
    assert (document.status_code, document["Content-Type"]) == (400, "application/problem+json")
    assert document.json()["code"] == "host_unknown"
    assert document.json()["detail"] == ERROR_SENTENCES["host_unknown"]


def test_a_person_who_asks_under_a_foreign_host_name_sees_the_sites_page(user_client: Client) -> None:
    page = user_client.get("/status/", headers={"accept": "text/html", "host": "evil.example"})
    assert page.status_code == 400
    assert ERROR_SENTENCES["host_unknown"].encode() in page.content
    assert b'class="mast"' in page.content
    assert b"ada" not in page.content and b"evil.example" not in page.content


def test_a_foreign_host_name_is_one_calm_line_of_the_log(
    client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    (handler,) = (handler for handler in logging.getLogger("django.security").handlers if handler.filters)
    log = io.StringIO()
    monkeypatch.setattr(handler, "stream", log)
    client.get("/", headers={"host": "evil.example\nERROR all is lost"})
    (line,) = log.getvalue().splitlines()
    assert "WARNING" in line and "evil.example" in line
    assert "ERROR   " not in line


def test_a_request_that_cannot_be_read_is_refused_in_the_sites_form(
    client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    def unreadable() -> None:
        raise BadRequest("secret")

    monkeypatch.setattr(status_pages, "site_status", unreadable)
    document = client.get("/status.json", headers=JSON)
    assert (document.status_code, document.json()["code"]) == (400, "bad_input")
    page = client.get("/status/")
    assert (page.status_code, b'class="mast"' in page.content) == (400, True)
    assert b"secret" not in page.content + document.content
