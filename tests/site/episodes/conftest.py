"""Scenarios, episodes and a web process for the tests of live play."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import datetime, timedelta
from typing import Any

import pytest
from django.conf import settings
from django.core.cache import cache
from django.test import Client

from ember_site.accounts.guests import SESSION_KEY
from ember_site.accounts.models import ApiToken, User
from ember_site.catalog.models import Scenario as ScenarioRow
from ember_site.catalog.models import Suite, SuiteEntry
from ember_site.catalog.scenario_cache import scenario_load
from ember_site.core import clock
from ember_site.episodes.models import Episode
from ember_site.episodes.services import episode_create, live_registry
from ember_site.runs.models import Agent
from ember_site.runs.services import agent_create
from simulator import Scenario
from tests.simulator.builders import document_from_map, scenario_of
from tests.site.episodes.web_process import Line, WebProcess

CORRIDOR = ("#######", "#A.B.X#", "#######")
"""Two people in a row before one exit; nothing burns."""

EAST = {"A": "east", "B": "east"}
STAY = {"A": "stay", "B": "stay"}
WAY_OUT = [EAST, EAST, {"A": "east"}, {"A": "east"}]
"""All steps of a run of the corridor in which both get out."""

Call = Callable[..., tuple[int, dict[str, Any]]]
"""Asks the API of episodes: method, path, body; gives status and answer."""


@pytest.fixture(autouse=True)
def _fresh(db: None) -> Iterator[None]:
    scenario_load.cache_clear()
    live_registry().clear()
    yield
    live_registry().clear()


def scenario_row(scenario: Scenario) -> ScenarioRow:
    """Put a scenario into the catalogue."""
    row, _ = ScenarioRow.objects.get_or_create(
        content_hash=scenario.content_hash,
        defaults={
            "scenario_id": scenario.scenario_id,
            "schema_version": "1.0",
            "document": scenario.to_json(),
            "width": scenario.width,
            "height": scenario.height,
            "population": len(scenario.people),
            "exit_count": len(scenario.exits),
            "ignition_count": len(scenario.ignitions),
            "fire_model": str(scenario.fire.model),
            "hazard": scenario.hazard,
            "max_steps": scenario.max_steps,
        },
    )
    return row


@pytest.fixture
def make_scenario(db: None) -> Callable[..., ScenarioRow]:
    """Give a function that puts a drawn map into the catalogue."""

    def make(*rows: str, **rules: Any) -> ScenarioRow:
        return scenario_row(scenario_of(document_from_map(*(rows or CORRIDOR), **rules)))

    return make


@pytest.fixture
def corridor(make_scenario: Callable[..., ScenarioRow]) -> ScenarioRow:
    """Give the corridor: A needs four steps to the exit, B two."""
    return make_scenario()


def publish(scenario: ScenarioRow) -> None:
    """Put a scenario into a public suite of its own."""
    suite = Suite.objects.create(
        suite_id="drawn", version="1.0.0", suite_hash="0" * 64, visibility="public", manifest="{}"
    )
    SuiteEntry.objects.create(
        suite=suite,
        scenario=scenario,
        position=1,
        primary_family="maze",
        families=["maze"],
        purpose="A room.",
    )


@pytest.fixture
def practice(corridor: ScenarioRow, user: User) -> Episode:
    """Give a practice episode of `user` in the corridor."""
    return episode_create(scenario=corridor, owner=user)


@pytest.fixture
def planner(user: User) -> Agent:
    """Give a `model` agent of `user`."""
    return agent_create(owner=user, fields={"name": "Planner"})


@pytest.fixture
def token_of(db: None) -> Callable[..., str]:
    """Give a function that makes an API token and gives its key."""

    def make(user: User, scope: str = "play") -> str:
        key: str = ApiToken.objects.create(user=user, expiry=None, name=scope, scope=scope)[1]
        return key

    return make


@pytest.fixture
def no_rates() -> None:
    """Forget what was asked before, so that no rate is passed."""
    cache.clear()


@pytest.fixture
def call(client: Client, user: User, token_of: Callable[..., str], no_rates: None) -> Call:
    """Give a function that calls the API with the play token of `user`: method, path, body."""
    key = token_of(user)

    def send(method: str, path: str, body: Any = None, key: str | None = key) -> tuple[int, dict[str, Any]]:
        headers = {"authorization": f"Token {key}"} if key else {}
        sent = {} if body is None else {"data": body, "content_type": "application/json"}
        answer = getattr(client, method)(f"/api/v1/episodes/{path}", headers=headers, **sent)
        assert answer["Cache-Control"] == "no-store"
        return answer.status_code, answer.json()

    return send


@pytest.fixture
def remote(corridor: ScenarioRow, user: User, planner: Agent) -> Episode:
    """Give a practice episode in the corridor that a program plays for `planner`."""
    return episode_create(scenario=corridor, owner=user, agent=planner)


class HandClock:
    """The site's clock, moved by hand."""

    def __init__(self) -> None:
        self.at = clock.now()

    def now(self) -> datetime:
        return self.at

    def advance(self, seconds: float) -> None:
        self.at += timedelta(seconds=seconds)


@pytest.fixture
def site_clock(monkeypatch: pytest.MonkeyPatch) -> HandClock:
    """Stop the site's clock and give the hand to move it with."""
    stopped = HandClock()
    monkeypatch.setattr(clock, "now", stopped.now)
    return stopped


@pytest.fixture
def guest_client(db: None) -> Client:
    """Give a browser of somebody without an account, who has a guest key."""
    client = Client()
    session = client.session
    session[SESSION_KEY] = "guest-key-of-the-test"
    session.save()
    client.cookies[settings.SESSION_COOKIE_NAME] = session.session_key
    return client


def cookie_of(client: Client) -> str:
    """The Cookie header of a test browser."""
    return f"{settings.SESSION_COOKIE_NAME}={client.cookies[settings.SESSION_COOKIE_NAME].value}"


@pytest.fixture
def cookie(user_client: Client) -> str:
    """Give the Cookie header of `user`."""
    return cookie_of(user_client)


@pytest.fixture(scope="module")
def web(django_db_setup: None, django_db_blocker: Any) -> Iterator[WebProcess]:
    """Serve the sockets from a process of its own, one for each module."""
    with django_db_blocker.unblock():
        process = WebProcess()
    yield process
    process.stop_faultless()


@pytest.fixture
def player(web: WebProcess, practice: Episode, cookie: str) -> Iterator[Line]:
    """Give the player's socket after the greeting, snapshot read."""
    line = web.episode(practice.pk, cookie)
    line.hello()
    line.until("snapshot")
    yield line
    line.close()


@pytest.fixture
def watcher(web: WebProcess, practice: Episode) -> Iterator[Line]:
    """Give the socket of a stranger, snapshot read."""
    line = web.episode(practice.pk)
    line.hello()
    line.until("snapshot")
    yield line
    line.close()
