"""After a verdict: the audit log, the end of the upload it belongs to, and what its owner is told, once."""

from __future__ import annotations

from uuid import UUID

from ember_site.accounts.notices import notice_create
from ember_site.core import clock
from ember_site.core.audit import audit_record
from ember_site.core.models import AuditAction
from ember_site.runs.models import OPEN_STATES, Run, Submission, SubmissionLine, Verification
from ember_site.runs.selectors.submissions import SubmissionCounts, submission_counts


def run_concluded(*, run: Run, verification: Verification, before: str) -> None:
    """
    Write a new verdict into the audit log and tell whom it concerns.

    The caller holds the transaction that wrote it. `before` is the verdict that counted until now, empty
    for the first one.
    """
    audit_record(
        actor=None,
        action=AuditAction.VERDICT,
        object_kind="run",
        object_id=run.pk,
        data=_verdict_data(run, verification) | ({"before": before} if before else {}),
    )
    if before and before != run.state:
        _change_tell(run, verification, before)
    submissions_finish(run=run)


def run_given_up(*, run: Run, verification: Verification) -> None:
    """
    Note that a run gets no verdict, by our fault, and tell its owner.

    The caller holds the transaction that set its state.
    """
    audit_record(
        actor=None,
        action=AuditAction.VERDICT,
        object_kind="run",
        object_id=run.pk,
        data=_verdict_data(run, verification),
    )
    submissions_finish(run=run)
    _failure_tell(run, verification)


def _verdict_data(run: Run, verification: Verification) -> dict[str, object]:
    """What the log says of a verdict: no value of the record, since it could be a sealed seed."""
    facts: dict[str, object] = {"state": run.state, "attempt": verification.attempt}
    if run.code != run.state:
        facts["code"] = run.code
    return facts | {"simulator_version": verification.simulator_version}


def submissions_finish(*, run: Run) -> None:
    """
    Note the end of every upload whose last open run was this one, and tell the owners.

    The caller holds a transaction in which the run got its final state. The uploads are locked before
    their runs are counted: of two workers that end the last two runs at once, the second sees both.
    """
    waiting = Submission.objects.filter(lines__run=run, finished_at__isnull=True).values("pk")
    for submission in Submission.objects.select_for_update(no_key=True).filter(pk__in=waiting).order_by("pk"):
        _finish_if_over(submission)


def submission_finish(*, submission: Submission) -> None:
    """
    Note the end of a new upload all of whose runs were known and judged before.

    The caller holds the transaction that inserted it. Known runs are locked first, so that a worker that
    ends one of them meanwhile finds this upload.
    """
    runs = SubmissionLine.objects.filter(submission=submission, known=True, run__isnull=False)
    known = Run.objects.select_for_update(no_key=True).filter(pk__in=runs.values("run")).order_by("pk")
    list(known.values_list("pk", flat=True))
    _finish_if_over(submission)


def submission_notice_key(submission_id: UUID) -> str:
    """The name under which the owner is told that the verdicts of an upload are in."""
    return f"submission:{submission_id}"


def _failure_tell(run: Run, verification: Verification) -> None:
    """Tell of a run that no upload brought; a run of an upload is told of with its upload."""
    owner = run.agent.owner if run.agent else None
    if owner is None or run.lines.exists():
        return
    hidden = bool(run.hidden_ref) or run.hidden_until is not None
    what = "a run of a sealed evaluation" if hidden else f"run {run.short_id}"
    notice_create(
        user=owner,
        key=f"failed:{run.pk}:{verification.attempt}",
        title="A run could not be verified",
        text=f"Verification of {what} failed on our side. It costs you nothing; an organiser can repeat it.",
        page="" if hidden else "run_detail",
        argument="" if hidden else str(run.pk),
    )


def _change_tell(run: Run, verification: Verification, before: str) -> None:
    """Tell that a new verification gave another verdict than the one that counted."""
    owner = run.agent.owner if run.agent else None
    hidden = bool(run.hidden_ref) or run.hidden_until is not None
    if owner is None or hidden:
        return
    notice_create(
        user=owner,
        key=f"changed:{run.pk}:{verification.attempt}",
        title=f"A verdict has changed from {before} to {run.state}",
        text=f"Run {run.short_id} was verified again: it was {before} and is {run.state} now.",
        page="run_detail",
        argument=str(run.pk),
    )


def _finish_if_over(submission: Submission) -> None:
    if submission.finished_at is not None or submission.lines.filter(run__state__in=OPEN_STATES).exists():
        return
    submission.finished_at = clock.now()
    submission.save(update_fields=["finished_at"])
    counts = submission_counts(submission=submission)
    notice_create(
        user=submission.owner,
        key=submission_notice_key(submission.pk),
        title=_title(counts),
        text=_text(submission, counts),
        page="submission_detail",
        argument=str(submission.pk),
    )


def _title(counts: SubmissionCounts) -> str:
    records = "record" if counts.total == 1 else "records"
    return f"{counts.verified:,} of {counts.total:,} {records} verified"


def _text(submission: Submission, counts: SubmissionCounts) -> str:
    name = " ".join(submission.filename.split()) or "An upload"
    parts = [f"{counts.verified:,} verified"]
    if counts.not_ended:
        parts.append(
            f"{counts.not_ended:,} not ended, which {'is' if counts.not_ended == 1 else 'are'} never scored"
        )
    if counts.refused:
        parts.append(f"{counts.refused:,} refused")
    if counts.failed:
        parts.append(f"{counts.failed:,} failed on our side, which costs you nothing: send the file again")
    return f"{name} for {submission.agent.name}: {', '.join(parts)}."
