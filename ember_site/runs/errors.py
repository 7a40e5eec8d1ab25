"""Errors of agents, uploads and runs."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta

from ember_site.core import clock
from ember_site.core.errors import DomainError, LimitExceeded
from ember_site.runs.models import Submission, SubmissionLine
from ember_site.runs.text import MESSAGE_CHARS, PLACE_CHARS, column_text
from simulator.record_files import RecordFileError

STORE_PAUSE = timedelta(seconds=30)
"""When a store that cannot be used now is worth another try."""


class AgentKindRefused(DomainError):
    """Runs of this source may not be given to an agent of this kind."""

    code = "agent_kind"
    http_status = 422


class RunUnavailable(DomainError):
    """The record or replay cannot be shown in the run's present state."""

    code = "run_unavailable"
    http_status = 409


class RunWithdrawn(DomainError):
    """All that is left of a run for others, once its owner has withdrawn it."""

    code = "run_withdrawn"
    http_status = 410


class StoreUnavailable(DomainError):
    """The record store cannot be written or read now. Our side; the same request may be sent again."""

    code = "store_unavailable"
    http_status = 503

    def __init__(self, message: str = "") -> None:
        super().__init__(message, retry_at=clock.now() + STORE_PAUSE)


class UploadsExhausted(LimitExceeded):
    """An account has sent as many files as an hour allows."""

    def __init__(self, *, text: str, limit: int, used: int, retry_at: datetime) -> None:
        when = retry_at.isoformat(timespec="seconds").replace("+00:00", "Z")
        super().__init__(
            f"The limit is {text}; {used:,} are used. The next is allowed at {when}.",
            limit=limit,
            used=used,
            retry_at=when,
        )


class SubmissionRefused(DomainError):
    """
    Nothing of an uploaded file could be used; nothing was queued.

    The submission is kept with the reason, but for a dry run, which keeps nothing and gives its unsaved
    `lines`. The code is that of the reason: `record_format`, or `limit_exceeded` with the limit.
    """

    code = "record_format"
    http_status = 422

    def __init__(
        self,
        reason: RecordFileError,
        *,
        submission: Submission | None = None,
        lines: Sequence[SubmissionLine] = (),
        too_large: bool = False,
    ) -> None:
        data: dict[str, object] = {}
        if submission is not None:
            data["submission"] = str(submission.pk)
        if reason.limit is not None:
            data["limit"] = reason.limit
        super().__init__(
            column_text(reason.message, MESSAGE_CHARS),
            code=reason.code,
            place=column_text(reason.place, PLACE_CHARS),
            **data,
        )
        self.submission = submission
        self.lines = lines
        if too_large:
            self.http_status = 413  # type: ignore[misc]  # one instance differs from its class
