"""Signing up, in and out, and resetting a password."""

import re
from collections.abc import Callable, Iterator

import pytest
from django.conf import settings
from django.core import mail
from django.core.cache import cache
from django.test import Client
from django.utils.module_loading import import_string

from ember_site.accounts.models import User
from tests.conftest import PASSWORD


@pytest.fixture(autouse=True)
def _no_earlier_attempts() -> Iterator[None]:
    """Rate limits count in the cache, which outlives a test."""
    cache.clear()
    yield
    cache.clear()


def test_signing_up_needs_a_name_and_a_password_only(db: None, client: Client) -> None:
    answer = client.post(
        "/accounts/signup/", {"username": "linus", "password1": PASSWORD, "password2": PASSWORD}
    )
    assert answer.status_code == 302
    assert User.objects.get().username == "linus"
    assert client.session["_auth_user_id"] == str(User.objects.get().pk)


def test_a_weak_password_is_refused_with_a_reason(db: None, client: Client) -> None:
    answer = client.post(
        "/accounts/signup/", {"username": "linus", "password1": "password", "password2": "password"}
    )
    assert answer.status_code == 200
    assert "too common" in answer.content.decode()
    assert not User.objects.exists()


def test_signing_in_works_by_name_and_by_address(make_user: Callable[..., User], client: Client) -> None:
    ada = make_user("ada", email="ada@example.org")
    for login in ("ada", "ada@example.org"):
        answer = client.post("/accounts/login/", {"login": login, "password": PASSWORD})
        assert answer.status_code == 302, login
        assert client.session["_auth_user_id"] == str(ada.pk)
        client.post("/accounts/logout/")
        assert "_auth_user_id" not in client.session


def test_signing_in_goes_on_to_the_page_that_was_asked_for(user: User, client: Client) -> None:
    form = {"login": "ada", "password": PASSWORD, "next": "/me/tokens/"}
    assert client.post("/accounts/login/", form)["Location"] == "/me/tokens/"
    client.post("/accounts/logout/")
    form["next"] = "https://elsewhere.example/"
    assert client.post("/accounts/login/", form)["Location"] == "/"


def test_guessing_passwords_is_slowed_down(user: User, client: Client) -> None:
    wrong = {"login": "ada", "password": "not-the-password"}
    for _ in range(5):
        assert client.post("/accounts/login/", wrong).status_code == 200
    answer = client.post("/accounts/login/", {"login": "ada", "password": PASSWORD})
    assert "Too many failed login attempts" in answer.content.decode()
    assert "_auth_user_id" not in client.session


def test_a_forgotten_password_is_reset_by_mail(make_user: Callable[..., User], client: Client) -> None:
    make_user("ada", email="ada@example.org")
    answer = client.post("/accounts/password/reset/", {"email": "ada@example.org"}, follow=True)
    assert "Look into your mail" in answer.content.decode()
    (message,) = mail.outbox
    link = re.search(r"http://testserver(\S+)", message.body)
    assert link is not None
    form = client.get(link[1], follow=True)
    assert "Choose a new password" in form.content.decode()
    fresh = "ember-under-ash-42"
    client.post(form.redirect_chain[-1][0], {"password1": fresh, "password2": fresh})
    assert client.post("/accounts/login/", {"login": "ada", "password": fresh}).status_code == 302


def test_asking_for_a_reset_does_not_tell_who_has_an_account(db: None, client: Client) -> None:
    answer = client.post("/accounts/password/reset/", {"email": "nobody@example.org"}, follow=True)
    assert "Look into your mail" in answer.content.decode()


@pytest.mark.parametrize(
    "path",
    [
        "login/",
        "signup/",
        "password/reset/",
        "password/reset/done/",
        "password/reset/key/1-bad/",
        "inactive/",
    ],
)
def test_pages_for_guests_show_the_site_frame(db: None, client: Client, path: str) -> None:
    answer = client.get(f"/accounts/{path}")
    assert answer.status_code == 200
    assert "account/frame.html" in {template.name for template in answer.templates}


@pytest.mark.parametrize("path", ["logout/", "email/", "password/change/", "reauthenticate/"])
def test_pages_for_people_with_an_account_show_the_site_frame(user_client: Client, path: str) -> None:
    answer = user_client.get(f"/accounts/{path}", follow=True)
    assert answer.status_code == 200
    assert "account/frame.html" in {template.name for template in answer.templates}


def test_an_address_can_be_added(user: User, user_client: Client) -> None:
    user_client.post("/accounts/email/", {"action_add": "", "email": "ada@example.org"})
    page = user_client.get("/accounts/email/").content.decode()
    assert "ada@example.org" in page


@pytest.mark.parametrize(
    ("path", "labels"),
    [
        ("login/", ["Username or e-mail", "Password"]),
        ("signup/", ["Username", "E-mail", "Password", "Password (again)"]),
        ("password/reset/", ["E-mail"]),
        ("password/change/", ["Current password", "New password", "New password (again)"]),
        ("email/", ["E-mail"]),
        ("reauthenticate/", ["Password"]),
    ],
)
def test_labels_are_the_sites_and_stand_above_their_fields_only(
    path: str, labels: list[str], user_client: Client
) -> None:
    who = Client() if path in ("login/", "signup/", "password/reset/") else user_client
    page = who.get(f"/accounts/{path}").content.decode()
    assert re.findall(r"<label for=[^>]+>([^<]+?) *<", page) == labels
    assert "placeholder" not in page


def test_no_form_of_accounts_says_a_label_twice_or_in_other_words(user: User) -> None:
    for name in settings.ACCOUNT_FORMS:
        kind = import_string(settings.ACCOUNT_FORMS[name])
        form = kind(user=user) if name in ("reauthenticate", "add_email", "change_password") else kind()
        for field in form.fields.values():
            assert "placeholder" not in field.widget.attrs
            assert not re.search("Email|[a-z] [A-Z]", str(field.label)), field.label
