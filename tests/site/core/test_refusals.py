"""What the framework refuses is said in the site's own form, and no cache gives one's answer to another."""

from __future__ import annotations

from typing import Any

import pytest
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
