"""Read what was decided about runs."""

from __future__ import annotations

from django.db.models import QuerySet

from ember_site.accounts.visitors import Viewer, is_organiser
from ember_site.core.audit import audit_of_object
from ember_site.core.models import AuditEntry
from ember_site.runs.models import Run
from ember_site.runs.visibility import run_is_mine


def run_decisions(*, viewer: Viewer, guest_key: str = "", run: Run) -> QuerySet[AuditEntry]:
    """What was decided about the run, oldest first: for its owner and organisers, nothing for others."""
    entries = audit_of_object(object_kind="run", object_id=run.pk)
    if is_organiser(viewer):
        return entries
    return entries if run_is_mine(viewer=viewer, guest_key=guest_key, run=run) else entries.none()
