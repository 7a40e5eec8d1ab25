"""Who gets what: one table of (endpoint, role, status) for the catalogue, the boards and the entrance."""

from __future__ import annotations

import pytest

from ember_site.boards.models import Evaluation, EvaluationState
from ember_site.catalog.models import Suite, SuiteVisibility

ROLES = ("guest", "read token", "submit token", "session", "organiser")
ALL = (200,) * 5
HIDDEN = (404, 404, 404, 404, 200)
"""For what only organisers see."""

PUBLIC = [
    ("get", "/api/v1/", ALL),
    ("get", "/api/v1/schema/", ALL),
    ("get", "/api/v1/docs/", ALL),
    ("get", "/api/v1/suites/", ALL),
    ("get", "/api/v1/suites/{suite}/", ALL),
    ("get", "/api/v1/suites/{suite}/manifest/", ALL),
    ("get", "/api/v1/scenarios/", ALL),
    ("get", "/api/v1/scenarios/{scenario}/", ALL),
    ("get", "/api/v1/scenarios/{scenario}/file/", ALL),
    ("get", "/api/v1/boards/", ALL),
    ("get", "/api/v1/boards/public-dev/", ALL),
    ("head", "/api/v1/suites/", ALL),
    ("options", "/api/v1/suites/", ALL),
    # Writing: a token without the scope is refused before the method is.
    ("post", "/api/v1/suites/", (405, 403, 403, 405, 405)),
    ("delete", "/api/v1/boards/public-dev/", (405, 403, 403, 405, 405)),
    ("get", "/api/v1/nonsense/", (404,) * 5),
]

NOT_PUBLIC = [
    ("get", "/api/v1/suites/{suite}/", HIDDEN),
    ("get", "/api/v1/suites/{suite}/manifest/", HIDDEN),
    ("get", "/api/v1/scenarios/{scenario}/", HIDDEN),
    ("get", "/api/v1/scenarios/{scenario}/file/", HIDDEN),
    ("get", "/api/v1/boards/public-dev/", HIDDEN),
]


@pytest.fixture
def ask(client, user, organiser, token_header, evaluation):
    """Give a function that asks in a role and gives the status."""
    suite, scenario = evaluation.suite, evaluation.slots.first().scenario_id

    def ask(role: str, method: str, address: str) -> int:
        headers = {}
        if role.endswith("token"):
            headers = token_header(user, role.split()[0])
        elif role != "guest":
            client.force_login(organiser if role == "organiser" else user)
        url = address.format(suite=f"{suite.suite_id}/{suite.version}", scenario=scenario)
        return getattr(client, method)(url, headers=headers).status_code

    return ask


@pytest.mark.parametrize(("method", "address", "statuses"), PUBLIC, ids=lambda value: str(value)[:60])
@pytest.mark.parametrize("role", ROLES)
def test_public_things(role: str, method: str, address: str, statuses: tuple[int, ...], ask):
    assert ask(role, method, address) == statuses[ROLES.index(role)]


@pytest.mark.parametrize(("method", "address", "statuses"), NOT_PUBLIC, ids=lambda value: str(value)[:60])
@pytest.mark.parametrize("role", ROLES)
def test_generated_suites_and_drafts(role: str, method: str, address: str, statuses: tuple[int, ...], ask):
    Suite.objects.update(visibility=SuiteVisibility.GENERATED)
    Evaluation.objects.update(state=EvaluationState.DRAFT)
    assert ask(role, method, address) == statuses[ROLES.index(role)]
