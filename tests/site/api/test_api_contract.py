"""The description of the API is what was agreed, and what the API does: random requests find no breach."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from unittest import SkipTest

import pytest
import schemathesis
from django.core import signals
from django.core.management import call_command
from django.core.wsgi import get_wsgi_application
from django.db import close_old_connections, transaction
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis.errors import Unsatisfiable
from schemathesis import GenerationMode
from schemathesis.checks import not_a_server_error
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    response_headers_conformance,
    response_schema_conformance,
    status_code_conformance,
)

from ember_site.api.throttles import GuestRate, UserRate
from tests.site.api.world import World, world_make

SNAPSHOT = Path(__file__).parents[3] / "docs" / "openapi.yaml"
CHECKS = [
    not_a_server_error,
    status_code_conformance,
    content_type_conformance,
    response_headers_conformance,
    response_schema_conformance,
]
EXAMPLES = settings(
    max_examples=12,
    derandomize=True,
    database=None,
    phases=[Phase.explicit, Phase.generate],
    suppress_health_check=list(HealthCheck),
)


@pytest.mark.django_db
def test_the_description_is_the_one_in_the_repository(tmp_path: Path):
    written = tmp_path / "openapi.yaml"
    call_command("spectacular", file=str(written), validate=True, fail_on_warn=True)
    assert written.read_text("utf-8") == SNAPSHOT.read_text("utf-8"), (
        "The API's description has changed. If that is meant, run `make openapi`, look at the difference and "
        "say it in CHANGELOG.md; what clients rely on may only grow."
    )


@pytest.fixture
def world(user: Any, evaluation: Any, monkeypatch: pytest.MonkeyPatch) -> Iterator[World]:
    """One of everything, all public; requests are not counted and leave the test's connection open."""
    monkeypatch.setattr(UserRate, "THROTTLE_RATES", {"user": None})
    monkeypatch.setattr(GuestRate, "THROTTLE_RATES", {"guest": None})
    ends = (signals.request_started, signals.request_finished)
    for end in ends:
        end.disconnect(close_old_connections)
    yield world_make(owner=user, evaluation=evaluation, visibility="public")
    for end in ends:
        end.connect(close_old_connections)


def name_what_exists(case: schemathesis.Case, world: World) -> None:
    """Replace the names in a request by those of something that is there."""
    for part in case.path_parameters or {}:
        agent = part == "slug" and "/agents/" in case.path
        case.path_parameters[part] = world.names["agent_slug" if agent else part]
    agent = {"agent": world.names["agent_slug"]}
    if case.method == "POST" and case.path.endswith("/submissions/"):
        case.query = {**(case.query or {}), **agent}
    if case.method == "POST" and case.path.endswith("/episodes/") and isinstance(case.body, dict):
        case.body |= agent | {"scenario": world.names["content_hash"]}


def each_operation(ask: Callable[[schemathesis.Case], None], mode: GenerationMode) -> int:
    """Ask each operation of the description with random requests, well-formed or not; give their number."""
    schema = schemathesis.openapi.from_wsgi("/api/v1/schema/", get_wsgi_application())

    def ask_and_forget(case: schemathesis.Case) -> None:
        with (
            transaction.atomic()
        ):  # as in life, one request's trouble with the database is not the next one's
            ask(case)
            transaction.set_rollback(True)

    count = 0
    for found in schema.get_all_operations():
        requests = found.ok().as_strategy(generation_mode=mode)
        try:
            EXAMPLES(given(case=requests)(ask_and_forget))()
        except (Unsatisfiable, SkipTest):  # nothing to get wrong in this operation
            continue
        count += 1
    return count


@pytest.mark.parametrize("mode", list(GenerationMode), ids=lambda mode: mode.value)
def test_random_requests_about_things_that_exist(mode: GenerationMode, world: World, token_header: Any):
    headers = {name.title(): value for name, value in token_header(world.owner, "play").items()}

    def ask(case: schemathesis.Case) -> None:
        name_what_exists(case, world)
        case.headers = {**(case.headers or {}), **headers}
        case.call_and_validate(checks=CHECKS)

    assert each_operation(ask, mode) > 15


@pytest.mark.parametrize("mode", list(GenerationMode), ids=lambda mode: mode.value)
def test_random_requests_by_anybody_about_anything(mode: GenerationMode, world: World):
    def ask(case: schemathesis.Case) -> None:
        case.call_and_validate(checks=CHECKS)

    assert each_operation(ask, mode) > 15
