"""Leave the site: an account goes, and with it what it showed to others."""

from __future__ import annotations

from uuid import uuid4

from django.db import transaction

from ember_site.accounts.models import User
from ember_site.accounts.services import account_erase
from ember_site.core import clock
from ember_site.core.audit import audit_record_many
from ember_site.core.errors import BadInput
from ember_site.core.models import AuditAction
from ember_site.runs.models import Agent, Run, Submission, Visibility

NAMELESS = "Deleted"


@transaction.atomic
def owner_erase(*, user: User, password: str) -> None:
    """
    Withdraw every run of an account, make its agents private and nameless, and erase the account.

    It cannot be undone. The rows stay, so that the log of decisions keeps its meaning; nobody but an
    organiser sees them.

    Raises:
        BadInput: the password is not the account's.
    """
    if not user.check_password(password):
        raise BadInput("That is not the password of this account.", place="password")
    runs = Run.objects.filter(agent__owner=user, withdrawn_at__isnull=True)
    ids = list(runs.values_list("pk", flat=True))
    runs.update(withdrawn_at=clock.now())
    audit_record_many(actor=user, action=AuditAction.RUN_WITHDRAWN, object_kind="run", object_ids=ids)
    for agent in Agent.objects.select_for_update().filter(owner=user).order_by("pk"):
        agent.slug, agent.name = f"deleted-{uuid4().hex[:12]}", NAMELESS
        agent.url = agent.note = agent.provider = ""
        agent.cost_usd = agent.tokens = None
        agent.visibility = Visibility.PRIVATE
        agent.save()
    Submission.objects.filter(owner=user).update(filename="")
    account_erase(user=user)
