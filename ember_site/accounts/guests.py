"""Visitors without an account: a random key in the session ties what they made to them."""

from __future__ import annotations

import secrets
from typing import Any, Protocol

SESSION_KEY = "guest_key"


class Session(Protocol):
    """The part of Django's session that is needed here."""

    def get(self, key: str, default: Any = None) -> Any: ...

    def __setitem__(self, key: str, value: Any) -> None: ...


def guest_key_get(session: Session) -> str:
    """The key of this visitor; empty where none was needed yet."""
    key = session.get(SESSION_KEY, "")
    return key if isinstance(key, str) else ""


def guest_key_ensure(session: Session) -> str:
    """The key of this visitor, made where there is none."""
    key = guest_key_get(session)
    if not key:
        key = secrets.token_urlsafe(24)
        session[SESSION_KEY] = key
    return key
