"""The public suite, its board, and tokens of every scope."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import timedelta
from pathlib import Path

import pytest
from django.core.cache import cache

from ember_site.accounts.models import ApiToken, User
from ember_site.boards.models import Evaluation
from ember_site.boards.services import evaluation_ensure_open
from ember_site.catalog.models import Suite
from ember_site.catalog.services import suite_import

SUITE = Path(__file__).parents[3] / "scenarios" / "public" / "v1"

TokenMaker = Callable[..., dict[str, str]]


@pytest.fixture(autouse=True)
def _clean() -> Iterator[None]:
    cache.clear()
    yield
    cache.clear()


@pytest.fixture
def suite(db: None) -> Suite:
    return suite_import(directory=SUITE)


@pytest.fixture
def evaluation(suite: Suite) -> Evaluation:
    return evaluation_ensure_open(suite=suite)


@pytest.fixture
def token_header() -> TokenMaker:
    """Give a function that makes a token and gives the header that carries it."""

    def make(user: User, scope: str = "read", expiry: timedelta | None = timedelta(days=1)) -> dict[str, str]:
        _, key = ApiToken.objects.create(user=user, expiry=expiry, name=scope, scope=scope)
        return {"authorization": f"Token {key}"}

    return make
