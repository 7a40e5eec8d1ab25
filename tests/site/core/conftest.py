"""An address for every page."""

from __future__ import annotations

import pytest

from ember_site.accounts.models import User
from tests.site.core.pages import addresses_make


@pytest.fixture
def addresses(user: User) -> dict[str, str]:
    """Give the address of every page by its name, about something of `user` where it is about something."""
    return addresses_make(owner=user)
