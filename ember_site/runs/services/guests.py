"""Runs of visitors without an account: kept for a while, and given to the account that they make."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime
from uuid import UUID

from django.db import transaction

from ember_site.core.audit import audit_record_many
from ember_site.core.models import AuditAction
from ember_site.runs.models import FINAL_STATES, Agent, Run


@transaction.atomic
def guest_runs_claim(*, agent: Agent, guest_key: str) -> int:
    """
    Give a guest's runs to an account's `human` agent; how many the guest had.

    They stay what they were, practice; from now on they are seen by whoever may see the agent's runs. A
    run that the agent has already, of the same actions on the same seed, is not kept twice.
    """
    Agent.objects.select_for_update(no_key=True).get(pk=agent.pk)
    runs = Run.objects.select_for_update(no_key=True).filter(agent__isnull=True, guest_key=guest_key)
    digests = dict(runs.values_list("pk", "digest")) if guest_key else {}
    known = set(Run.objects.filter(agent=agent, digest__in=digests.values()).values_list("digest", flat=True))
    fresh = [pk for pk, digest in digests.items() if digest not in known]
    Run.objects.filter(pk__in=fresh).update(agent=agent, guest_key="", visibility=agent.visibility)
    Run.objects.filter(pk__in=set(digests) - set(fresh)).delete()
    audit_record_many(actor=agent.owner, action=AuditAction.RUN_CLAIMED, object_kind="run", object_ids=fresh)
    return len(digests)


def guest_runs_old(*, before: datetime, limit: int) -> list[UUID]:
    """Up to `limit` judged runs of guests that were made before an instant, oldest first."""
    old = Run.objects.filter(agent__isnull=True, created_at__lt=before, state__in=FINAL_STATES)
    return list(old.order_by("created_at").values_list("pk", flat=True)[:limit])


def guest_runs_delete(*, run_ids: Iterable[UUID]) -> None:
    """Delete runs of guests; those that were claimed meanwhile stay."""
    Run.objects.filter(pk__in=list(run_ids), agent__isnull=True).delete()
