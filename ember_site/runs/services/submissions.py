"""
Take in uploads: one service behind page, API and command.

A file is read twice. The first reading only looks for what refuses the file as a whole, so that
nothing is queued of a file that turns out too large, cut or no text. The second takes its records
one by one, so memory is bounded by the largest record; each is stored before the rows are written,
and the rows of one upload are written together.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from io import BytesIO
from typing import Any, BinaryIO

from django.db import transaction

from ember_site.accounts.models import User
from ember_site.core import clock
from ember_site.core.errors import Forbidden
from ember_site.runs.errors import SubmissionRefused
from ember_site.runs.limits import UploadLimits, upload_limits
from ember_site.runs.models import Agent, Run, RunSource, Submission, SubmissionLine, SubmissionSource
from ember_site.runs.quota import uploads_check
from ember_site.runs.services.finish import submission_finish
from ember_site.runs.services.queue import runs_enqueue
from ember_site.runs.services.runs import (
    RunOrigin,
    StoredRecord,
    agent_check_source,
    record_store,
    run_needs_verdict,
    runs_insert,
)
from ember_site.runs.text import MESSAGE_CHARS, PLACE_CHARS, column_text
from ember_site.runs.visibility import agent_is_mine
from simulator import RecordFormatError, RecordLimitError
from simulator.record_files import (
    RecordFileError,
    RecordLine,
    iter_records,
    message_in_file,
    record_file_error,
)


@dataclass(frozen=True, slots=True)
class ReadLine:
    """One record of a file after loading: stored, or refused with the reason."""

    number: int
    stored: StoredRecord | None
    error: RecordFileError | None


@dataclass(frozen=True, slots=True)
class Upload:
    """What is known of a file before it is read."""

    owner: User
    agent: Agent
    source: SubmissionSource
    filename: str
    size_bytes: int


def submission_create(
    *, owner: User, agent: Agent, payload: bytes | BinaryIO, filename: str, source: SubmissionSource | str
) -> Submission:
    """
    Take in one file of run records and queue each good one for verification.

    A bad line never hurts the good ones: it is kept with its code, place and sentence. The same record
    again from the same agent is the same run. `payload` is read from its beginning and not closed.

    Raises:
        Forbidden: the agent is not the sender's.
        AgentKindRefused: the agent takes no uploads.
        UploadsExhausted: too many files within the hour.
        SubmissionRefused: nothing of the file could be used; the submission is kept, nothing is queued.
        StoreUnavailable: our side; nothing is kept, the same file may be sent again.
    """
    if not agent_is_mine(viewer=owner, agent=agent):
        raise Forbidden("This agent belongs to somebody else.", place="agent")
    agent_check_source(agent=agent, source=RunSource.UPLOAD)
    limits = upload_limits()
    uploads_check(owner=owner, limits=limits)
    stream = stream_of(payload)
    upload = Upload(owner, agent, SubmissionSource(source), column_text(filename, 200), _size(stream))

    refusal, too_large = file_refusal(stream, limits)
    if refusal is not None:
        _refuse(upload, refusal, lines=(), too_large=too_large)
    lines = [_read_line(line) for line in iter_records(stream, limits=limits.file)]
    if not any(line.stored for line in lines):
        _refuse(upload, lines_summary(lines), lines=lines)
    return _submission_insert(upload, lines)


def stream_of(payload: bytes | BinaryIO) -> BinaryIO:
    """The payload as a stream that can be read twice."""
    return BytesIO(payload) if isinstance(payload, bytes) else payload


def file_refusal(stream: BinaryIO, limits: UploadLimits) -> tuple[RecordFileError | None, bool]:
    """
    What refuses a file as a whole, and whether it is its size; the stream is back at its beginning.

    None where its records can be read one by one.
    """
    stream.seek(0)
    refusal = record_file_error(stream, limits=limits.file)
    stream.seek(0)
    sizes = (limits.file.file_bytes, limits.file.unpacked_bytes)
    return refusal, refusal is not None and refusal.limit in sizes


def _size(stream: BinaryIO) -> int:
    size = stream.seek(0, 2)
    stream.seek(0)
    return size


def _read_line(line: RecordLine) -> ReadLine:
    """Load and store one record."""
    return line_read(line, take=lambda text: record_store(text=text))


def line_read(line: RecordLine, *, take: Callable[[bytes], StoredRecord | None]) -> ReadLine:
    """Give one record to `take`; where the file or the loader refuses it, keep the reason."""
    if line.text is None:
        return ReadLine(line.number, None, line.error)
    try:
        return ReadLine(line.number, take(line.text), None)
    except RecordFormatError as error:
        place = f"{line.place}, {error.place}" if error.place else line.place
        limit = error.limit if isinstance(error, RecordLimitError) else None
        refusal = RecordFileError(
            "record_format" if limit is None else "limit_exceeded",
            place,
            message_in_file(str(error), line.number),
            limit,
        )
        return ReadLine(line.number, None, refusal)


def line_columns(line: ReadLine) -> dict[str, Any]:
    """Number and reason of a line, as its row holds them."""
    return {
        "number": line.number,
        "code": line.error.code if line.error else "",
        "place": column_text(line.error.place, PLACE_CHARS) if line.error else "",
        "message": column_text(line.error.message, MESSAGE_CHARS) if line.error else "",
    }


def lines_summary(lines: Sequence[ReadLine]) -> RecordFileError:
    """Why a file is refused of which no record can be used: the first reason."""
    first = next(line.error for line in lines if line.error is not None)
    if len(lines) == 1:
        return first
    message = f"None of the {len(lines):,} records can be used. The first: {first.message}"
    return RecordFileError(first.code, first.place, message, first.limit)


def _refuse(
    upload: Upload, error: RecordFileError, *, lines: Sequence[ReadLine], too_large: bool = False
) -> None:
    """Keep the refused file's story, having looked at the quota under the lock, then raise it."""
    with transaction.atomic():
        _quota_check_locked(upload)
        submission = _submission_row(upload, error)
        _lines_insert(submission, lines, runs={})
    raise SubmissionRefused(error, submission=submission, too_large=too_large)


def _quota_check_locked(upload: Upload) -> None:
    """Look at the quota while no other request of the account does: files sent at once count one by one."""
    User.objects.select_for_update(no_key=True).get(pk=upload.owner.pk)
    uploads_check(owner=upload.owner, limits=upload_limits())


def _submission_row(upload: Upload, error: RecordFileError | None) -> Submission:
    return Submission.objects.create(
        owner=upload.owner,
        agent=upload.agent,
        source=upload.source,
        filename=upload.filename,
        size_bytes=upload.size_bytes,
        code=error.code if error else "",
        place=column_text(error.place, PLACE_CHARS) if error else "",
        message=column_text(error.message, MESSAGE_CHARS) if error else "",
        finished_at=clock.now() if error else None,
    )


@transaction.atomic
def _submission_insert(upload: Upload, lines: Sequence[ReadLine]) -> Submission:
    """Write submission, runs, lines and tasks together, having looked at the quota under the lock."""
    _quota_check_locked(upload)
    submission = _submission_row(upload, None)
    stored = [(line.number, line.stored) for line in lines if line.stored is not None]
    origin = RunOrigin(upload.agent, "", RunSource.UPLOAD, ranked=True)
    inserted = runs_insert(origin=origin, records=[record for _, record in stored])
    runs = {number: pair for (number, _), pair in zip(stored, inserted, strict=True)}
    _lines_insert(submission, lines, runs=runs)
    unique = {run.pk: run for run, _ in inserted}
    runs_enqueue(runs=[run for run in unique.values() if run_needs_verdict(run)])
    submission_finish(submission=submission)
    return submission


def _lines_insert(
    submission: Submission, lines: Sequence[ReadLine], *, runs: Mapping[int, tuple[Run, bool]]
) -> None:
    SubmissionLine.objects.bulk_create(
        SubmissionLine(
            submission=submission,
            run=runs[line.number][0] if line.number in runs else None,
            known=runs[line.number][1] if line.number in runs else False,
            **line_columns(line),
        )
        for line in lines
    )
