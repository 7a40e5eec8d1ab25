"""Mails about an account: in the site's words, with links that no request can turn elsewhere."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from django.core import mail
from django.core.cache import cache
from django.test import Client

from ember_site.accounts.models import User
from tests.conftest import PASSWORD

FOREIGN = {"host": "localhost:666"}
"""A host that is allowed, but at a door that is not the site's."""


@pytest.fixture(autouse=True)
def _no_earlier_attempts() -> Iterator[None]:
    cache.clear()
    yield
    cache.clear()


@pytest.fixture(params=["", "https://ember.example"])
def public_url(request: pytest.FixtureRequest, settings: Any) -> str:
    settings.PUBLIC_URL = request.param
    settings.ACCOUNT_EMAIL_VERIFICATION = "mandatory"
    settings.ACCOUNT_SIGNUP_FIELDS = ["username*", "email*", "password1*", "password2*"]
    return str(request.param)


def ask_for_a_reset(client: Client, address: str) -> None:
    client.post("/accounts/password/reset/", {"email": address}, headers=FOREIGN)


def sign_up(client: Client, name: str, address: str) -> None:
    form = {"username": name, "email": address, "password1": PASSWORD, "password2": PASSWORD}
    assert client.post("/accounts/signup/", form, headers=FOREIGN).status_code == 302


ASKS: dict[str, tuple[Callable[[Client], None], str, str]] = {
    "reset": (
        lambda client: ask_for_a_reset(client, "ada@example.org"),
        "A link to choose a new password",
        "/accounts/password/reset/key/",
    ),
    "reset of nobody": (
        lambda client: ask_for_a_reset(client, "nobody@example.org"),
        "No account with this address",
        "/accounts/signup/",
    ),
    "sign-up": (
        lambda client: sign_up(client, "linus", "linus@example.org"),
        "Confirm your e-mail address",
        "/accounts/confirm-email/",
    ),
    "sign-up once more": (
        lambda client: sign_up(client, "linus", "ada@example.org"),
        "You have an account already",
        "/accounts/password/reset/",
    ),
}


@pytest.mark.parametrize("ask", ASKS)
def test_links_lead_to_the_address_of_the_site_whatever_the_request_says(
    ask: str, public_url: str, make_user: Callable[..., User], client: Client
) -> None:
    make_user("ada", email="ada@example.org")
    send, subject, path = ASKS[ask]
    send(client)
    (message,) = mail.outbox
    assert message.subject == f"[EMBERBench] {subject}"
    links = re.findall(r"https?://\S+", message.body)
    assert links[0].startswith(f"{public_url or 'http://localhost:666'}{path}")
    if public_url:
        assert all(link.startswith(f"{public_url}/") for link in links)
    assert "{" not in message.body
    assert "Thank you for using" not in message.body, "not in the words of a library"


def test_a_mail_to_a_stranger_does_not_name_who_asked_for_it(user: User, user_client: Client) -> None:
    ask_for_a_reset(user_client, "nobody@example.org")
    (message,) = mail.outbox
    assert message.body.startswith("Hello,")
    assert user.username not in message.body


def test_a_link_from_a_mail_confirms_the_address(public_url: str, db: None, client: Client) -> None:
    sign_up(client, "linus", "linus@example.org")
    assert client.post("/accounts/login/", {"login": "linus", "password": PASSWORD})["Location"] == (
        "/accounts/confirm-email/"
    )
    link = re.search(r"https?://[^/]+(\S+)", mail.outbox[0].body)
    assert link is not None
    assert client.post(link[1]).status_code == 302
    assert client.post("/accounts/login/", {"login": "linus", "password": PASSWORD})["Location"] == "/"
