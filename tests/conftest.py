"""Fixtures that tests of all parts share."""

from collections.abc import Callable
from typing import Any

import pytest
from django.test import Client

from ember_site.accounts.models import User

PASSWORD = "smoke-drifts-north-7"


@pytest.fixture
def make_user(db: None) -> Callable[..., User]:
    """Give a function that makes an account; the password is `PASSWORD`."""

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
    client = Client()
    client.force_login(user)
    return client
