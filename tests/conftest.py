"""Fixtures that tests of all parts share.

Django is imported inside the fixtures: the tests of the simulator run where it is not set up.
"""

from __future__ import annotations

import signal
from collections.abc import Callable
from importlib import import_module
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import HealthCheck, settings

if TYPE_CHECKING:
    from django.test import Client

    from ember_site.accounts.models import User

PASSWORD = "smoke-drifts-north-7"
AUDIT_TRIGGERS = "ember_site.core.migrations.0004_audit_no_delete"

# How long an example takes says how busy the machine is, not whether the code is right. The rest is as
# Hypothesis has it, in CI as well: examples are drawn anew each time, and a failure prints how to repeat it.
settings.register_profile(
    "emberbench",
    settings.get_profile("default"),
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow],
    print_blob=True,
)
settings.load_profile("emberbench")

# A shell that starts tests in the background lets them, and all that they start, ignore Ctrl-C. The programs
# that tests start and interrupt are to take it as in a terminal.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture(scope="session")
def django_db_setup(django_db_setup: None, django_db_blocker: Any) -> None:
    """Make the test database, and one that can be emptied: SQLite deletes no entry of the audit log."""
    from django.db import connection

    if connection.vendor == "sqlite":
        with django_db_blocker.unblock(), connection.cursor() as cursor:
            cursor.execute(import_module(AUDIT_TRIGGERS).LET_DELETE)


@pytest.fixture
def make_user(db: None) -> Callable[..., User]:
    """Give a function that makes an account; the password is `PASSWORD`."""
    from ember_site.accounts.models import User

    def make(username: str = "ada", **fields: Any) -> User:
        return User.objects.create_user(username, password=PASSWORD, **fields)

    return make


@pytest.fixture
def user(make_user: Callable[..., User]) -> User:
    """Give a person with an account."""
    return make_user("ada")


@pytest.fixture
def other_user(make_user: Callable[..., User]) -> User:
    """Give another person with an account."""
    return make_user("grace")


@pytest.fixture
def organiser(make_user: Callable[..., User]) -> User:
    """Give an organiser."""
    return make_user("olga", is_staff=True)


@pytest.fixture
def user_client(user: User) -> Client:
    """Give a browser in which `user` is signed in."""
    from django.test import Client

    client = Client()
    client.force_login(user)
    return client


def pytest_make_parametrize_id(config: pytest.Config, val: object, argname: str) -> str | None:
    """Name bytes by their argument: compressed ones hold the time and would differ between processes."""
    return argname if isinstance(val, bytes) else None
