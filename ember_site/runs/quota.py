"""How many files an account may send in an hour."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any

from django.db import transaction
from django.db.models import QuerySet

from ember_site.accounts.models import User
from ember_site.core import clock
from ember_site.runs.errors import UploadsExhausted
from ember_site.runs.limits import WINDOW, UploadLimits
from ember_site.runs.models import DryRunMark, RunState, Submission

UploadSet = QuerySet[Submission]


def uploads_check(*, owner: User, limits: UploadLimits) -> None:
    """
    Make sure that the account may send another file now.

    Raises:
        UploadsExhausted: too many uploads, or too many malformed files, within the last hour; it tells
            the exact instant at which the next is allowed.
    """
    _check(uploads_counted(owner=owner), limit=limits.uploads_an_hour, text=limits.uploads_text)
    _check(malformed_counted(owner=owner), limit=limits.malformed_an_hour, text=limits.malformed_text)


@transaction.atomic
def dry_runs_take(*, owner: User, limits: UploadLimits) -> None:
    """
    Count a dry run of the account, and forget those of more than an hour ago.

    Raises:
        UploadsExhausted: too many within the last hour; it tells when the next is allowed.
    """
    User.objects.select_for_update(no_key=True).get(pk=owner.pk)  # requests in parallel count one by one
    now, marks = clock.now(), DryRunMark.objects.filter(owner=owner)
    recent = marks.filter(created_at__gt=now - WINDOW)
    _check(recent, limit=limits.dry_runs_an_hour, text=limits.dry_runs_text)
    marks.filter(created_at__lte=now - WINDOW).delete()
    DryRunMark.objects.create(owner=owner, created_at=now)


def uploads_counted(*, owner: User) -> UploadSet:
    """The last hour's uploads that count. One in which a verification failed on our side costs nothing."""
    failed = Submission.objects.filter(lines__run__state=RunState.FAILED).values("pk")
    return _recent(owner).filter(code="").exclude(pk__in=failed)


def malformed_counted(*, owner: User) -> UploadSet:
    """The last hour's files that were refused as a whole."""
    return _recent(owner).exclude(code="")


def _recent(owner: User) -> UploadSet:
    return Submission.objects.filter(owner=owner, created_at__gt=clock.now() - WINDOW)


def _check(sent: QuerySet[Any], *, limit: int, text: str) -> None:
    used = sent.count()
    if used < limit:
        return
    blocking = (
        sent.order_by("-created_at").values_list("created_at", flat=True)[max(0, limit - 1)]
        if limit
        else None
    )
    raise UploadsExhausted(
        text=text, limit=limit, used=used, retry_at=_whole_second((blocking or clock.now()) + WINDOW)
    )


def _whole_second(instant: datetime) -> datetime:
    """The next whole second, so that the instant as written is late enough."""
    return instant if instant.microsecond == 0 else instant.replace(microsecond=0) + timedelta(seconds=1)
