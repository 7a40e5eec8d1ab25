"""Doors that others try: redirects elsewhere, other people's sessions and links, guesses, forged forms."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

import pytest
from django.core import mail
from django.core.cache import cache
from django.test import Client

from ember_site.accounts.models import User
from tests.conftest import PASSWORD

FRESH = "ember-under-ash-42"
ELSEWHERE = (
    "//evil.example/", "///evil.example", "https://evil.example/", "https:evil.example", "http:///evil.example",
    "/\\evil.example", "\\\\evil.example", "/\t/evil.example", "javascript:alert(1)",
    "http://testserver@evil.example/",
)  # fmt: skip


@pytest.fixture(autouse=True)
def _no_earlier_attempts() -> Iterator[None]:
    """Rate limits count in the cache, which outlives a test."""
    cache.clear()
    yield
    cache.clear()


def sign_in(client: Client, password: str = PASSWORD) -> bool:
    answer = client.post("/accounts/login/", {"login": "ada", "password": password})
    return answer.status_code == 302


def reset_links(client: Client, address: str = "ada@example.org") -> list[str]:
    """Ask for a new password, and give the links of all mails so far."""
    client.post("/accounts/password/reset/", {"email": address})
    links = [re.search(r"http://testserver(\S+)", message.body) for message in mail.outbox]
    return [link[1] for link in links if link]


@pytest.mark.parametrize("target", ELSEWHERE)
@pytest.mark.parametrize("door", ["login", "signup", "logout", "reauthenticate"])
def test_no_door_leads_to_another_site(door: str, target: str, user: User, client: Client) -> None:
    form = {
        "login": {"login": "ada", "password": PASSWORD},
        "signup": {"username": "linus", "password1": FRESH, "password2": FRESH},
        "logout": {},
        "reauthenticate": {"password": PASSWORD},
    }[door]
    if door in ("logout", "reauthenticate"):
        client.force_login(user)
    answer = client.post(f"/accounts/{door}/", form | {"next": target})
    assert (answer.status_code, answer["Location"]) == (302, "/")


def test_the_session_of_a_guest_gets_a_new_name_when_somebody_signs_in(user: User, client: Client) -> None:
    session = client.session
    session["guest_key"] = "g"
    session.save()
    planted = client.cookies["ember_session"].value
    assert sign_in(client)
    assert client.cookies["ember_session"].value != planted
    thief = Client()
    thief.cookies["ember_session"] = planted
    assert thief.get("/me/account/").status_code == 302
    assert client.session["guest_key"] == "g", "what the guest did stays with them"


def test_the_cookie_of_a_session_is_for_this_site_and_no_script(user: User, client: Client) -> None:
    sign_in(client)
    cookie = client.cookies["ember_session"]
    assert cookie["httponly"]
    assert cookie["samesite"] == "Lax"


def test_a_link_to_a_new_password_works_once_and_ends_every_session(
    make_user: Callable[..., User], client: Client
) -> None:
    make_user("ada", email="ada@example.org")
    elsewhere = Client()
    assert sign_in(elsewhere)
    first, second = (reset_links(client), reset_links(client))[1]
    form = client.get(first, follow=True).redirect_chain[-1][0]
    assert client.post(form, {"password1": FRESH, "password2": FRESH}).status_code == 302
    assert elsewhere.get("/me/account/").status_code == 302, "whoever was in is out"
    for link in (first, second):
        assert "no longer valid" in Client().get(link, follow=True).content.decode()
    refused = client.post(form, {"password1": PASSWORD, "password2": PASSWORD})
    assert "no longer valid" in refused.content.decode()
    assert sign_in(Client(), FRESH)


def test_a_link_is_worth_nothing_after_the_password_was_changed(
    make_user: Callable[..., User], client: Client
) -> None:
    ada = make_user("ada", email="ada@example.org")
    (link,) = reset_links(client)
    ada.set_password(FRESH)
    ada.save()
    assert "no longer valid" in Client().get(link, follow=True).content.decode()


def test_a_wrong_name_and_a_wrong_password_look_the_same(user: User, client: Client) -> None:
    def page(name: str) -> str:
        answer = client.post("/accounts/login/", {"login": name, "password": "wrong"})
        text = re.sub(r'name="csrfmiddlewaretoken" value="\w+"', "", answer.content.decode())
        return f"{answer.status_code} {text.replace(name, '')}"

    assert page("ada") == page("xyz")


def test_guesses_are_counted_whatever_address_a_header_claims(user: User, client: Client) -> None:
    for number in range(5):
        client.post(
            "/accounts/login/",
            {"login": "ada", "password": "wrong"},
            headers={"x-forwarded-for": f"192.0.2.{number}", "x-real-ip": f"192.0.2.{number}"},
        )
    assert not sign_in(client)


@pytest.mark.parametrize(
    "name", ["ada\u200b", "ad\u202ea", "a da", "   ", "<b>ada</b>", "ADA", "x" * 151, "me"]
)
def test_a_username_that_passes_for_another_or_cannot_be_shown_is_refused(
    name: str, user: User, client: Client
) -> None:
    answer = client.post("/accounts/signup/", {"username": name, "password1": FRESH, "password2": FRESH})
    assert answer.status_code == 200
    assert "username" in answer.context["form"].errors
    assert User.objects.count() == 1


FORGED = {"is_staff": "on", "is_superuser": "on", "is_active": "", "id": "1", "username": "root", "user": "1"}


def test_a_form_sets_only_what_it_shows(user: User, client: Client) -> None:
    form = {"username": "linus", "password1": FRESH, "password2": FRESH, "display_name": "Boss"}
    assert client.post("/accounts/signup/", FORGED | form).status_code == 302
    client.post("/me/account/", FORGED | {"display_name": "Linus"})
    linus = User.objects.get(username="linus")
    assert (linus.public_name, linus.is_staff, linus.is_superuser, linus.is_active) == (
        "Linus",
        False,
        False,
        True,
    )
    client.post("/me/tokens/create/", FORGED | {"name": "laptop", "scope": "read", "days": "7"})
    assert linus.auth_token_set.count() == 1
    assert user.auth_token_set.count() == 0


def test_an_account_that_is_switched_off_cannot_be_opened_again(user: User, client: Client) -> None:
    User.objects.update(is_active=False)
    client.post("/accounts/login/", {"login": "ada", "password": PASSWORD})
    assert client.get("/me/account/").status_code == 302


def test_a_username_made_of_anothers_address_keeps_nobody_out(
    make_user: Callable[..., User], client: Client
) -> None:
    ada = make_user("ada", email="ada@example.org")
    form = {"username": "ada@example.org", "password1": FRESH, "password2": FRESH}
    Client().post("/accounts/signup/", form)
    client.post("/accounts/login/", {"login": "ada@example.org", "password": PASSWORD})
    assert client.session.get("_auth_user_id") == str(ada.pk)
