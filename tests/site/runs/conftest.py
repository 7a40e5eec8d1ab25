"""A record store of its own for each test, and real records made by the baselines on the public suite."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import lru_cache
from pathlib import Path

import pytest
from django.core.cache import cache

from ember_site.accounts.models import User
from ember_site.catalog.scenario_cache import scenario_load
from ember_site.runs.models import Agent
from ember_site.runs.services import agent_create
from simulator import Scenario, load_suite, policies, run_episode
from tests.simulator.builders import PUBLIC_SUITE


@lru_cache
def scenarios() -> tuple[Scenario, ...]:
    """The ten public scenarios in ID order."""
    return load_suite(PUBLIC_SUITE).scenarios


@lru_cache
def record_text(number: int = 1, policy: str = "greedy", seed: int | None = None) -> str:
    """The canonical record of a baseline on the public scenario with that number."""
    return run_episode(scenarios()[number - 1], policies.BASELINES[policy](), seed=seed).to_json()


@pytest.fixture(autouse=True)
def _clean(db: None, settings, tmp_path: Path) -> Iterator[None]:
    settings.STORAGES = settings.STORAGES | {
        "records": {
            "BACKEND": "django.core.files.storage.FileSystemStorage",
            "OPTIONS": {"location": str(tmp_path / "records")},
        }
    }
    cache.clear()
    scenario_load.cache_clear()
    yield
    scenario_load.cache_clear()


@pytest.fixture
def user_make() -> Callable[..., User]:
    def make(name: str = "ann", **fields: object) -> User:
        return User.objects.create_user(username=name, password="correct horse", **fields)

    return make


@pytest.fixture
def ann(user_make) -> User:
    return user_make("ann")


@pytest.fixture
def bob(user_make) -> User:
    return user_make("bob")


@pytest.fixture
def agent(ann: User) -> Agent:
    return agent_create(owner=ann, fields={"name": "Ann's planner"})
