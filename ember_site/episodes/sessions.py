"""Who is behind a socket: read from an API token or the session cookie, and again while it is open."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from http.cookies import CookieError, SimpleCookie
from importlib import import_module
from types import SimpleNamespace
from typing import Any

from django.conf import settings
from django.contrib.auth import get_user
from django.contrib.auth.models import AnonymousUser

from ember_site.accounts.guests import guest_key_get
from ember_site.accounts.models import ApiToken
from ember_site.accounts.selectors import token_find
from ember_site.accounts.visitors import Viewer
from ember_site.core.errors import SignInRequired


@dataclass(frozen=True, slots=True)
class Visitor:
    """A viewer with the session that proves it. `identity` is equal for one and the same person.

    Where an API token proves it, `scope` is the token's, and `session_key` stands for the token.
    """

    viewer: Viewer
    guest_key: str
    session_key: str
    identity: str
    scope: str = ""


NOBODY = Visitor(AnonymousUser(), "", "", "")
TOKEN = "token:"  # noqa: S105  (a prefix that no session key has)


def visitor_of(headers: Iterable[tuple[bytes, bytes]]) -> Visitor:
    """The visitor that the token or the cookies of a handshake name; anonymous where they name nobody.

    Raises:
        SignInRequired: there is a token, and it is not good. A program that came in as a guest would
            take for a fault of the episode that it may only watch.
    """
    fields = {name.lower(): value.decode("latin-1") for name, value in headers}
    kind, _, key = fields.get(b"authorization", "").partition(" ")
    if kind.lower() in ("token", "bearer"):  # other schemes are left to proxies in front, as in the API
        return _visitor_by_handshake_token(kind, key.strip())
    session_key = _session_cookie(fields.get(b"cookie", ""))
    return _visitor(session_key) if session_key else NOBODY


def session_visitors(*, session_keys: Iterable[str]) -> Mapping[str, Visitor]:
    """Who each session or token belongs to now. One that ended is nobody's."""
    return {key: _visitor(key) for key in session_keys}


def _visitor_by_handshake_token(kind: str, key: str) -> Visitor:
    if kind.lower() == "bearer":
        raise SignInRequired("Expected `Authorization: Token ember_...`, got the scheme Bearer.")
    token = token_find(key=key) if key else None
    if token is None:
        raise SignInRequired(code="bad_token")
    return _visitor_by_token(token)


def _visitor_by_token(token: ApiToken | None) -> Visitor:
    if token is None:
        return NOBODY
    return Visitor(token.user, "", f"{TOKEN}{token.digest}", f"user:{token.user.pk}", token.scope)


def _session_cookie(text: str) -> str:
    """The session key of the cookies; nothing for text that cannot be one.

    A key that says `token:` is ours alone: the digest that is kept of a token must open nothing. Quoted
    cookies can hold NUL, with which no database may be asked.
    """
    try:
        morsel = SimpleCookie(text).get(settings.SESSION_COOKIE_NAME)
    except CookieError:
        return ""
    key = morsel.value if morsel is not None else ""
    return key if key.isascii() and key.isalnum() else ""


def _visitor(session_key: str) -> Visitor:
    if session_key.startswith(TOKEN):
        return _visitor_by_token(token_find(digest=session_key.removeprefix(TOKEN)))
    store: Any = import_module(settings.SESSION_ENGINE).SessionStore(session_key)
    # `get_user` checks the password hash in the session, so that a changed password ends it.
    request: Any = SimpleNamespace(session=store)
    viewer = get_user(request)
    if viewer.is_authenticated:
        return Visitor(viewer, "", session_key, f"user:{viewer.pk}")
    guest_key = guest_key_get(store)
    return Visitor(AnonymousUser(), guest_key, session_key, f"guest:{guest_key}" if guest_key else "")
