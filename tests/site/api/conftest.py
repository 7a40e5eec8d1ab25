"""Tokens of every scope, and a cache that keeps nothing from one test to the next."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import timedelta

import pytest
from django.core.cache import cache

from ember_site.accounts.models import ApiToken, User

TokenMaker = Callable[..., dict[str, str]]


@pytest.fixture(autouse=True)
def _clean() -> Iterator[None]:
    cache.clear()
    yield
    cache.clear()


@pytest.fixture
def token_header() -> TokenMaker:
    """Give a function that makes a token and gives the header that carries it."""

    def make(user: User, scope: str = "read", expiry: timedelta | None = timedelta(days=1)) -> dict[str, str]:
        _, key = ApiToken.objects.create(user=user, expiry=expiry, name=scope, scope=scope)
        return {"authorization": f"Token {key}"}

    return make
