"""Read uploads and the queue."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from uuid import UUID

from django.db.models import Count, Min, Q, QuerySet
from django_tasks import TaskResultStatus
from django_tasks_db.models import DBTaskResult

from ember_site.accounts.models import User
from ember_site.accounts.visitors import Viewer
from ember_site.core import clock
from ember_site.core.errors import NotFound
from ember_site.runs.limits import upload_limits
from ember_site.runs.models import OPEN_STATES, Run, RunState, Submission, SubmissionLine, Verification
from ember_site.runs.quota import uploads_counted
from ember_site.runs.visibility import submissions_own, submissions_visible


@dataclass(frozen=True, slots=True)
class SubmissionCounts:
    """
    How many records of an upload stand where; `refused` counts the loader's and the replay's refusals.

    A record that the replay confirms but that stops before its run does is `not_ended`, not `verified`.
    """

    total: int
    verified: int
    not_ended: int
    refused: int
    failed: int
    running: int
    queued: int

    @property
    def checked(self) -> int:
        """Records with their final word."""
        return self.verified + self.not_ended + self.refused + self.failed

    @property
    def is_finished(self) -> bool:
        """Whether nothing will change any more."""
        return self.checked == self.total


@dataclass(frozen=True, slots=True)
class QueueStatus:
    """The verification queue as a whole."""

    waiting: int
    running: int
    oldest_wait_s: int


def submission_list(*, viewer: Viewer, mine: bool = False) -> QuerySet[Submission]:
    """
    Uploads that the viewer may see, newest first, with agent and numbers of lines. Paginate it.

    With `mine`, only the viewer's own: an organiser may see all.
    """
    submissions = submissions_visible(viewer=viewer)
    if mine:
        submissions = submissions_own(submissions, viewer=viewer)
    return (
        submissions.select_related("agent")
        .annotate(
            line_count=Count("lines"),
            verified_count=Count(
                "lines", filter=Q(lines__run__state=RunState.VERIFIED, lines__run__ended=True)
            ),
            refused_count=Count("lines", filter=Q(lines__run=None) | Q(lines__run__state=RunState.REJECTED)),
            failed_count=Count("lines", filter=Q(lines__run__state=RunState.FAILED)),
            open_count=Count("lines", filter=Q(lines__run__state__in=OPEN_STATES)),
        )
        .order_by("-created_at", "id")
    )


def submission_get(*, viewer: Viewer, submission_id: UUID | str) -> Submission:
    """
    One upload.

    Raises:
        NotFound: there is none, or it is somebody else's.
    """
    visible = submissions_visible(viewer=viewer).select_related("agent")
    submission = visible.filter(pk=submission_id).first()
    if submission is None:
        where = "There is no upload at this address, or it is somebody else's."
        raise NotFound(where if viewer.is_authenticated else f"{where} Sign in to see your own.")
    return submission


def submission_lines(*, submission: Submission) -> QuerySet[SubmissionLine]:
    """The records of an upload by line number, with run and scenario. Paginate it."""
    lines = submission.lines.select_related("run", "run__scenario", "run__agent")
    return lines.defer("run__scenario__document").order_by("number")


def submission_counts(*, submission: Submission) -> SubmissionCounts:
    """How many records of an upload stand where."""
    states = submission.lines.values("run__state", "run__ended").annotate(n=Count("pk")).order_by()
    count: Counter[str | None] = Counter()
    not_ended = 0
    for row in states:
        count[row["run__state"]] += row["n"]
        if row["run__state"] == RunState.VERIFIED and not row["run__ended"]:
            not_ended += row["n"]
    return SubmissionCounts(
        total=sum(count.values()),
        verified=count[RunState.VERIFIED] - not_ended,
        not_ended=not_ended,
        refused=count[None] + count[RunState.REJECTED],
        failed=count[RunState.FAILED],
        running=count[RunState.RUNNING],
        queued=count[RunState.QUEUED],
    )


def uploads_used(*, owner: User) -> tuple[int, int]:
    """Uploads of the last hour that count, and the limit."""
    return uploads_counted(owner=owner).count(), upload_limits().uploads_an_hour


def queue_status() -> QueueStatus:
    """How many verifications wait and run, and how long the oldest has waited."""
    queued = Verification.objects.filter(state=RunState.QUEUED)
    figures = queued.aggregate(n=Count("pk"), oldest=Min("queued_at"))
    oldest = figures["oldest"]
    return QueueStatus(
        waiting=figures["n"],
        running=Verification.objects.filter(state=RunState.RUNNING).count(),
        oldest_wait_s=0 if oldest is None else max(0, int((clock.now() - oldest).total_seconds())),
    )


def run_queue_position(*, run: Run) -> int | None:
    """
    How many tasks go before the run's, plus one; None where it does not wait.

    A run that waits for room in the queue stands behind its account's tasks there.
    """
    attempt = run.verifications.filter(state=RunState.QUEUED).first()
    if attempt is None:
        return None
    ready = DBTaskResult.objects.filter(status=TaskResultStatus.READY, task_path__endswith="verify_run")
    task = ready.filter(pk=attempt.task_id).first() if attempt.task_id else None
    if task is not None:
        before = Q(priority__gt=task.priority) | Q(priority=task.priority, enqueued_at__lt=task.enqueued_at)
        return ready.filter(before).count() + 1
    older = Verification.objects.filter(state=RunState.QUEUED, task_id="", pk__lt=attempt.pk)
    return ready.count() + older.count() + 1
