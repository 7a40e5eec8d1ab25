"""Every answer of the site, refusals too, tells a browser to trust nothing but the site itself."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from django.http import HttpResponse
from django.test import Client

from ember_site.accounts.models import User
from ember_site.web import status_pages

HEADERS = {
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
    "X-Frame-Options": "DENY",
}


def check(answer: HttpResponse, what: str) -> None:
    policy = dict(part.strip().split(" ", 1) for part in answer["Content-Security-Policy"].split(";"))
    assert (policy["default-src"], policy["script-src"], policy["style-src"]) == (
        "'none'",
        "'self'",
        "'self'",
    ), what
    assert (policy["frame-ancestors"], policy["base-uri"], policy["form-action"]) == (
        "'none'",
        "'none'",
        "'self'",
    ), what
    assert {name: answer.get(name) for name in HEADERS} == HEADERS, what


@pytest.mark.parametrize("form", ["text/html", "application/json"])
def test_every_page_carries_them(form: str, addresses: dict[str, str], user: User) -> None:
    for client in (Client(headers={"accept": form}), Client(headers={"accept": form})):
        for name, address in addresses.items():
            check(client.get(address), f"get {name}")
            check(client.post(address), f"post {name}")
        client.force_login(user)


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("path", "headers", "status"),
    [
        ("/api/v1/", {}, 200),
        ("/api/v1/runs/", {"authorization": "Token bad"}, 401),
        ("/api/v1/nothing/", {}, 404),
        ("/nothing/", {}, 404),
        ("/static/nothing.js", {}, 404),
        ("/docs", {}, 301),
        ("/", {"host": "evil.example"}, 400),
        ("/agents/?page=%00", {}, 422),
    ],
)
def test_every_refusal_carries_them(path: str, headers: dict[str, str], status: int, client: Client) -> None:
    answer = client.get(path, headers=headers)
    assert answer.status_code == status
    check(answer, path)


@pytest.mark.django_db
def test_a_failure_of_ours_and_a_forged_form_carry_them(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken() -> None:
        raise RuntimeError

    monkeypatch.setattr(status_pages, "site_status", broken)
    client = Client(enforce_csrf_checks=True, raise_request_exception=False)
    for answer, status in ((client.get("/status/"), 500), (client.post("/accounts/login/"), 403)):
        assert answer.status_code == status
        check(answer, str(status))


def test_static_files_carry_them(tmp_path: Path, settings: Any) -> None:
    (tmp_path / "page.js").write_text("export const pen = 1;\n", encoding="utf-8")
    settings.STATIC_ROOT = tmp_path
    client = Client()
    for answer, status in (
        (client.get("/static/page.js"), 200),
        (client.head("/static/page.js"), 200),
        (client.get("/static/page.js", headers={"if-modified-since": "Fri, 01 Jan 2100 00:00:00 GMT"}), 304),
        (client.get("/static/page.js", headers={"range": "bytes=900-"}), 416),
    ):
        assert answer.status_code == status
        check(answer, str(status))


def test_the_way_to_https_carries_them(settings: Any) -> None:
    settings.SECURE_SSL_REDIRECT = True
    answer = Client().get("/status/")
    assert (answer.status_code, answer["Location"]) == (301, "https://testserver/status/")
    check(answer, "301")
