"""Every page takes the same queries, however much there is of all that it lists."""

from __future__ import annotations

from typing import Any

from django.core.cache import cache
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from ember_site.accounts.models import User
from ember_site.accounts.notices import notice_create
from ember_site.accounts.services import token_create
from ember_site.boards.models import Evaluation
from ember_site.core.audit import audit_record
from ember_site.core.models import AuditAction
from tests.site.api.test_api_lists import fill

SOME = 12
"""More than a page of boards, which takes a query for each of its ten."""


def add_some(owner: User, make_user: Any, first: int) -> None:
    """Add a dozen of everything: agents, runs, suites, boards, notices, tokens, decisions of others."""
    fill(owner, Evaluation.objects.get(slug="public-dev"), first, SOME)
    for number in range(first, first + SOME):
        notice_create(user=owner, key=str(number), title="Verdicts are in", text="", page="suite_list")
        token_create(owner=owner, name=f"laptop {number}", scope="read", days=1)
        actor = make_user(f"user-{number}")
        audit_record(actor=actor, action=AuditAction.VERDICT, object_kind="run", object_id=str(number))


def test_every_page_takes_the_same_queries(
    addresses: dict[str, str], user: User, make_user: Any, settings: Any
) -> None:
    settings.EMBER_TOKENS_PER_USER = 100
    User.objects.filter(pk=user.pk).update(is_staff=True)  # so that the log of decisions opens, too
    client = Client()
    client.force_login(user)

    def queries(address: str) -> int:
        """How many a second visit takes: the first one may fill what is kept in memory."""
        client.get(address)
        cache.clear()
        with CaptureQueriesContext(connection) as captured:
            client.get(address)
        return len(captured)

    add_some(user, make_user, 0)
    few = {name: queries(address) for name, address in addresses.items()}
    add_some(user, make_user, SOME)
    many = {name: queries(address) for name, address in addresses.items()}
    assert many == few
    assert max(few.values()) < 20
