"""What stops at the door: NUL, with which PostgreSQL cannot be asked, and session keys that are ours."""

import pytest
from django.conf import settings
from django.test import Client
from django.urls import get_resolver, reverse

from ember_site.accounts.models import ApiToken, User
from ember_site.episodes.sessions import NOBODY, visitor_of

pytestmark = pytest.mark.django_db

NUL_COOKIE = r'"\000abcdefghijklmnopqrstuvwxyz"'


def pages_without_arguments() -> list[str]:
    names = {name for name in get_resolver().reverse_dict if isinstance(name, str)}
    plain = [name for name in names if get_resolver().reverse_dict.getlist(name)[0][0][0][1] == []]
    return sorted(reverse(name) for name in plain)


PAGES = pages_without_arguments()


def test_the_pages_are_found() -> None:
    assert {"/agents/", "/boards/", "/live/", "/api/v1/runs/"} <= set(PAGES)


@pytest.mark.parametrize("path", PAGES)
def test_a_session_cookie_with_nul_is_no_session(client: Client, path: str) -> None:
    client.cookies.load(f"{settings.SESSION_COOKIE_NAME}={NUL_COOKIE}")
    assert "\0" in client.cookies[settings.SESSION_COOKIE_NAME].value
    assert client.get(path).status_code < 500


@pytest.mark.parametrize("path", PAGES)
def test_nul_in_an_address_is_refused(client: Client, path: str) -> None:
    names = ("kind", "page", "search", "sort", "action", "object_id", "actor", "episode", "lang", "version")
    assert client.get(f"{path}?" + "&".join(f"{name}=a%00b" for name in names)).status_code < 500
    answer = client.get(f"{path}?a%00b=%00", headers={"accept": "application/json"})
    assert answer.status_code < 500
    if not path.startswith("/api/"):
        assert answer.status_code == 422
        assert answer.json()["code"] == "bad_input"


@pytest.mark.parametrize(
    "value",
    [NUL_COOKIE, '"token:x"', "token:x", '"a b"', "\xff" * 32, '"\\377\\377\\377\\377\\377\\377\\377"'],
)
def test_a_socket_takes_no_such_cookie_either(value: str) -> None:
    cookie = f"{settings.SESSION_COOKIE_NAME}={value}".encode("latin-1")
    assert visitor_of([(b"cookie", cookie)]) == NOBODY


@pytest.mark.parametrize("cookie", ["token:{}", '"token:{}"', r'"\164oken\072{}"'])
def test_the_digest_that_is_kept_of_a_token_opens_nothing(user: User, cookie: str) -> None:
    token, key = ApiToken.objects.create(user=user, expiry=None, name="program", scope="play")
    assert visitor_of([(b"authorization", f"Token {key}".encode())]).viewer == user
    sent = f"{settings.SESSION_COOKIE_NAME}={cookie.format(token.digest)}".encode()
    assert visitor_of([(b"cookie", sent)]) == NOBODY
