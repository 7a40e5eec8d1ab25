"""Visitors without an account: a random key in the session ties what they made to them."""

from __future__ import annotations

import secrets

from django.contrib.sessions.backends.base import SessionBase

SESSION_KEY = "guest_key"


def guest_key_get(session: SessionBase) -> str:
    """The key of this visitor; empty where none was needed yet."""
    key = session.get(SESSION_KEY, "")
    return key if isinstance(key, str) else ""


def guest_key_ensure(session: SessionBase) -> str:
    """The key of this visitor, made where there is none."""
    key = guest_key_get(session)
    if not key:
        key = secrets.token_urlsafe(24)
        session[SESSION_KEY] = key
    return key
