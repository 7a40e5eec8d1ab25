"""Who gets what: one table of (endpoint, role, status). An endpoint that is missing fails the test."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import timedelta
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client
from django.urls import URLPattern, URLResolver, reverse

from ember_site.accounts.models import ApiToken, User
from ember_site.api.base_views import NoSuchAddress
from ember_site.api.urls import urlpatterns
from ember_site.boards.models import Evaluation, EvaluationState
from ember_site.catalog.models import Suite, SuiteVisibility
from tests.site.api.world import World, world_make

ROLES = (
    "guest", "owner", "other user", "organiser",
    "owner's read token", "owner's submit token", "owner's play token", "expired token", "revoked token",
)  # fmt: skip

# guest, owner, other user, organiser | tokens of the owner: read, submit, play | expired, revoked
OPEN = (200, 200, 200, 200, 200, 200, 200, 401, 401)
PLAIN_PAGE = (200,) * 9  # a page that asks nobody who they are
PRIVATE = (404, 200, 404, 200, 200, 200, 200, 401, 401)
ACCOUNT = (401, 200, 200, 200, 200, 200, 200, 401, 401)
TABLE: dict[str, tuple[int, ...]] = {
    "get api_root": OPEN,
    "get api_schema": OPEN,
    "get api_docs": PLAIN_PAGE,
    "get api_suite_list": OPEN,
    "get api_suite_detail": OPEN,
    "get api_suite_manifest": OPEN,
    "get api_scenario_list": OPEN,
    "get api_scenario_detail": OPEN,
    "get api_scenario_file": OPEN,
    "get api_agent_list": OPEN,
    "post api_agent_list": (401, 201, 201, 201, 403, 201, 201, 401, 401),
    "get api_agent_detail": PRIVATE,
    "patch api_agent_detail": (401, 200, 404, 403, 403, 200, 200, 401, 401),
    "get api_submission_list": ACCOUNT,
    "post api_submission_list": (401, 201, 404, 403, 403, 201, 201, 401, 401),
    "get api_submission_detail": (401, 200, 404, 200, 200, 200, 200, 401, 401),
    "get api_run_list": OPEN,
    "get api_run_detail": PRIVATE,
    "patch api_run_detail": (401, 200, 404, 403, 403, 200, 200, 401, 401),
    "get api_run_record": PRIVATE,
    "get api_episode_list": OPEN,
    "post api_episode_list": (401, 201, 404, 403, 403, 403, 201, 401, 401),
    "get api_episode_detail": OPEN,
    "get api_episode_observation": OPEN,
    "post api_episode_heartbeat": (401, 200, 403, 403, 403, 403, 200, 401, 401),
    # An old step: whoever may act is told where the episode stands.
    "post api_episode_steps": (401, 409, 403, 403, 403, 403, 409, 401, 401),
    "get api_evaluation_list": OPEN,
    "get api_evaluation_detail": OPEN,
    "get api_board_list": OPEN,
    "get api_board_detail": OPEN,
    "post api_run_withdraw": (401, 200, 404, 403, 403, 200, 200, 401, 401),  # last: it cannot be undone
}

HIDDEN = (404, 404, 404, 200, 404, 404, 404, 401, 401)
"""For what only organisers see: suites that are not public, evaluations in preparation."""
HIDDEN_ENDPOINTS = (
    "get api_suite_detail",
    "get api_suite_manifest",
    "get api_scenario_detail",
    "get api_scenario_file",
    "get api_evaluation_detail",
    "get api_board_detail",
)


def endpoints(patterns: list[Any] = urlpatterns) -> Iterator[tuple[str, URLPattern]]:
    """`method name` of everything that the API answers, with its pattern."""
    for pattern in patterns:
        if isinstance(pattern, URLResolver):
            yield from endpoints(pattern.url_patterns)
            continue
        view = getattr(pattern.callback, "cls", None)
        if view is NoSuchAddress:
            continue
        methods = ("get", "post", "put", "patch", "delete")
        for method in methods if view else ("get",):
            if view is None or hasattr(view, method):
                yield f"{method} {pattern.name}", pattern


def test_the_table_names_every_endpoint_and_no_other():
    assert {name for name, _ in endpoints()} == set(TABLE)


Ask = Callable[[str, str], int]


@pytest.fixture
def ask(
    user: User, other_user: User, organiser: User, token_header: Any, evaluation: Evaluation
) -> tuple[World, Ask]:
    """Give one of everything, and a function that asks in a role and gives the status."""
    world = world_make(owner=user, evaluation=evaluation)
    headers = {
        "owner's read token": token_header(user, "read"),
        "owner's submit token": token_header(user, "submit"),
        "owner's play token": token_header(user, "play"),
        "expired token": token_header(user, "play", timedelta(seconds=-1)),
        "revoked token": token_header(user, "play"),
    }
    ApiToken.objects.latest("created").delete()
    people = {"owner": user, "other user": other_user, "organiser": organiser}
    patterns = dict(endpoints())

    def ask(role: str, endpoint: str) -> int:
        client = Client(headers=headers.get(role, {}))
        if role in people:
            client.force_login(people[role])
        method, name = endpoint.split()
        parts = {
            part: world.names["agent_slug" if (name, part) == ("api_agent_detail", "slug") else part]
            for part in patterns[endpoint].pattern.converters
        }
        sent = {} if method == "get" else body(endpoint, world)
        return getattr(client, method)(reverse(name, kwargs=parts), **sent).status_code

    return world, ask


def body(endpoint: str, world: World) -> dict[str, Any]:
    """What is sent to a writing endpoint, as the test client wants it."""
    agent = world.names["agent_slug"]
    if endpoint == "post api_submission_list":
        return {"data": {"agent": agent, "file": SimpleUploadedFile("runs.json", world.record)}}
    document = {
        "post api_agent_list": {"name": "Another"},
        "patch api_agent_detail": {"note": "Plans ahead."},
        "patch api_run_detail": {"visibility": "private"},
        "post api_run_withdraw": {},
        "post api_episode_list": {"agent": agent, "scenario": world.names["content_hash"]},
        "post api_episode_heartbeat": {},
        "post api_episode_steps": {"step": 999, "actions": {}},
    }[endpoint]
    return {"data": document, "content_type": "application/json"}


def test_every_role_gets_what_the_table_says(ask: tuple[World, Ask]):
    _, in_role = ask
    found = {endpoint: tuple(in_role(role, endpoint) for role in ROLES) for endpoint in TABLE}
    wrong = {
        (endpoint, role): (got, wanted)
        for endpoint, statuses in found.items()
        for role, got, wanted in zip(ROLES, statuses, TABLE[endpoint], strict=True)
        if got != wanted
    }
    assert wrong == {}


def test_what_is_not_public_is_for_organisers(ask: tuple[World, Ask]):
    _, in_role = ask
    Suite.objects.update(visibility=SuiteVisibility.GENERATED)
    Evaluation.objects.update(state=EvaluationState.DRAFT)
    found = {endpoint: tuple(in_role(role, endpoint) for role in ROLES) for endpoint in HIDDEN_ENDPOINTS}
    assert found == dict.fromkeys(HIDDEN_ENDPOINTS, HIDDEN)


@pytest.mark.parametrize(
    ("method", "address", "statuses"),
    [
        ("head", "/api/v1/suites/", (200, 200, 200)),
        ("options", "/api/v1/suites/", (200, 200, 200)),
        # A token without the scope is refused before the method is.
        ("post", "/api/v1/suites/", (405, 405, 403)),
        ("delete", "/api/v1/boards/public-dev/", (405, 405, 403)),
        ("get", "/api/v1/nonsense/", (404, 404, 404)),
    ],
)
def test_methods_and_addresses_that_are_not_there(
    method: str, address: str, statuses: tuple[int, ...], client, user_client, user, token_header, evaluation
):
    token = Client(headers=token_header(user, "read"))
    assert (
        tuple(getattr(who, method)(address).status_code for who in (client, user_client, token)) == statuses
    )
