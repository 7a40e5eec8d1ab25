"""What the site keeps about itself: its decisions, for ever, and which workers live."""

from __future__ import annotations

import uuid
from typing import Any, NoReturn

from django.db import models


class AppendOnlyError(TypeError):
    """Somebody tried to change or delete an entry of the audit log."""


def _refuse(*args: Any, **kwargs: Any) -> NoReturn:
    """Refuse to touch what is written.

    Raises:
        AppendOnlyError: always.
    """
    raise AppendOnlyError("The audit log is append-only: its entries are never changed or deleted.")


class AuditSet(models.QuerySet["AuditEntry"]):
    """Entries to read; every way to change or delete them is closed."""

    update = _refuse
    delete = _refuse
    bulk_update = _refuse
    update_or_create = _refuse
    _raw_delete = _refuse  # what Django itself deletes with


class AuditAction(models.TextChoices):
    """What was decided."""

    VERDICT = "run.verdict", "Verdict"
    REVERIFICATION = "run.reverification", "Verification asked for again"
    RUN_WITHDRAWN = "run.withdrawn", "Withdrawn"
    RUN_VISIBILITY = "run.visibility", "Visibility of a run"
    RUN_CLAIMED = "run.claimed", "Claimed after signing up"
    RUN_HIDDEN = "run.hidden", "Hidden or shown by an evaluation"
    AGENT_VISIBILITY = "agent.visibility", "Visibility of an agent"
    TOKEN_CREATED = "token.created", "Token made"
    TOKEN_REVOKED = "token.revoked", "Token revoked"
    ACCOUNT_ERASED = "account.erased", "Account erased"
    SUITE_IMPORTED = "suite.imported", "Suite imported"
    EVALUATION = "evaluation.changed", "Evaluation made or changed"
    EPISODE_FROZEN = "episode.frozen", "Episode frozen"


class AuditEntry(models.Model):
    """
    One decision: who, what, about which object, when. Never a seed, a token or another secret.

    The actor is kept as a number without a foreign key, empty for the site itself, so that an account
    can be erased without touching a row. The database refuses changes and deleting too, by triggers
    (`migrations/0002_audit_triggers.py`, `migrations/0004_audit_no_delete.py`).
    """

    at = models.DateTimeField()
    actor_id = models.BigIntegerField(null=True, blank=True)
    action = models.CharField(max_length=40)
    object_kind = models.CharField(max_length=20)
    object_id = models.CharField(max_length=100)
    data = models.JSONField(default=dict)

    objects = AuditSet.as_manager()

    class Meta:
        base_manager_name = "objects"  # Django's own one would leave a way round
        ordering = ["-id"]
        indexes = [
            models.Index(fields=["object_kind", "object_id", "-id"], name="core_audit_object"),
            models.Index(fields=["action", "-id"], name="core_audit_action"),
        ]

    def __str__(self) -> str:
        return f"{self.action} of {self.object_kind} {self.object_id}"

    def save(self, *args: Any, **kwargs: Any) -> None:
        """Write a new entry.

        Raises:
            AppendOnlyError: the entry is written already.
        """
        if not self._state.adding:
            _refuse()
        super().save(*args, **kwargs | {"force_insert": True})

    def delete(self, *args: Any, **kwargs: Any) -> NoReturn:
        """Refuse.

        Raises:
            AppendOnlyError: always.
        """
        _refuse()

    @property
    def label(self) -> str:
        """The decision in words."""
        return AuditAction(self.action).label if self.action in AuditAction.values else self.action


class WorkerBeat(models.Model):
    """The last sign of life of a worker process; the row goes when the worker leaves in order."""

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    name = models.CharField(max_length=120)
    simulator_version = models.CharField(max_length=64)
    started_at = models.DateTimeField()
    beat_at = models.DateTimeField(db_index=True)

    class Meta:
        ordering = ["started_at", "id"]

    def __str__(self) -> str:
        return self.name
