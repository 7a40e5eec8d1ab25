"""The audit log: every decision on the site is written here, in the transaction that makes it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any
from uuid import UUID

from django.contrib.auth.base_user import AbstractBaseUser
from django.contrib.auth.models import AnonymousUser
from django.db.models import QuerySet

from ember_site.core import clock
from ember_site.core.errors import Forbidden
from ember_site.core.models import AuditAction, AuditEntry

SECRETS = frozenset(
    {"seed", "seeds", "salt", "schedule", "draws", "trapped", "digest", "state_digest", "record"}
    | {"token", "key", "password", "secret", "guest_key", "email"}
)
"""Names that no entry may carry, at any depth: an organiser who reads the log learns no secret."""

BATCH = 500


def audit_record(
    *,
    actor: AbstractBaseUser | AnonymousUser | None,
    action: AuditAction,
    object_kind: str,
    object_id: str | UUID | int,
    data: Mapping[str, Any] | None = None,
) -> AuditEntry:
    """
    Write one decision down. Call it inside the transaction that makes the decision.

    Args:
        actor: who decided; None, or a visitor without an account, is the site itself or a guest.
        object_kind: for example `run`; with `object_id` it names what was decided about.
        data: JSON-ready facts, such as `from` and `to`.

    Raises:
        ValueError: the data would put a secret into the log.
    """
    entry = _entry(actor, action, object_kind, object_id, data or {})
    entry.save()
    return entry


def audit_record_many(
    *,
    actor: AbstractBaseUser | AnonymousUser | None,
    action: AuditAction,
    object_kind: str,
    object_ids: Iterable[str | UUID | int],
    data: Mapping[str, Any] | None = None,
) -> None:
    """
    Write the same decision down for several objects.

    Raises:
        ValueError: the data would put a secret into the log.
    """
    AuditEntry.objects.bulk_create(
        (_entry(actor, action, object_kind, object_id, data or {}) for object_id in object_ids),
        batch_size=BATCH,
    )


def audit_list(
    *,
    viewer: AbstractBaseUser | AnonymousUser,
    action: str = "",
    object_kind: str = "",
    object_id: str = "",
    actor_id: int | None = None,
) -> QuerySet[AuditEntry]:
    """
    The log for organisers, newest first. Paginate it.

    Raises:
        Forbidden: the viewer is no organiser.
    """
    if not getattr(viewer, "is_staff", False):
        raise Forbidden("The audit log is for organisers.")
    entries = AuditEntry.objects.order_by("-id")
    for field, value in (("action", action), ("object_kind", object_kind), ("object_id", object_id)):
        if value:
            entries = entries.filter(**{field: value})
    return entries if actor_id is None else entries.filter(actor_id=actor_id)


def audit_of_object(*, object_kind: str, object_id: str | UUID | int) -> QuerySet[AuditEntry]:
    """Every decision about one object, oldest first. The caller knows that the viewer may see it."""
    return AuditEntry.objects.filter(object_kind=object_kind, object_id=str(object_id)).order_by("id")


def _entry(
    actor: AbstractBaseUser | AnonymousUser | None,
    action: AuditAction,
    object_kind: str,
    object_id: str | UUID | int,
    data: Mapping[str, Any],
) -> AuditEntry:
    leaks = SECRETS.intersection(_names(data))
    if leaks:
        raise ValueError(f"the audit log takes no secrets: {', '.join(sorted(leaks))}")
    return AuditEntry(
        at=clock.now(),
        actor_id=None if actor is None else actor.pk,
        action=action,
        object_kind=object_kind,
        object_id=str(object_id),
        data=dict(data),
    )


def _names(value: Any) -> Iterator[str]:
    """Every key of a JSON-ready value, at any depth."""
    if isinstance(value, Mapping):
        for name, inner in value.items():
            yield str(name)
            yield from _names(inner)
    elif isinstance(value, list | tuple):
        for inner in value:
            yield from _names(inner)
