"""``ember submit``: send run records to a site and show the verdicts that it gives."""

from __future__ import annotations

import shutil
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, BinaryIO

import typer
from rich.console import Console
from rich.progress import BarColumn, DownloadColumn, Progress, TextColumn, TransferSpeedColumn

from simulator.command.output import (
    CommandError,
    DebugOption,
    ExitCode,
    JsonOption,
    Output,
    complain,
    reporting,
)
from simulator.command.site_access import site_access
from simulator.command.site_client import (
    LINE_PLACE,
    LineAnswer,
    SiteClient,
    SiteRefusal,
    SubmissionAnswer,
    file_size,
)
from simulator.command.sources import STANDARD_INPUT, file_opened, file_shown_name
from simulator.command.verdict_lines import VerdictLine
from simulator.errors import RecordFormatError
from simulator.record import RecordHeader, record_header
from simulator.record_files import iter_records
from simulator.verification import VerdictCode

FIRST_LOOK_S, LONGEST_LOOK_S = 0.3, 5.0
BAR_FROM_BYTES = 256 * 1024

Headers = dict[int, RecordHeader]


@dataclass(frozen=True)
class Request:
    """What is to be sent, to whom."""

    files: list[str]
    agent: str
    wait: bool
    patience_s: float


@dataclass(frozen=True)
class Told:
    """One record of a file, and what the site says of it."""

    file: str
    line: LineAnswer
    header: RecordHeader | None
    run_url: str | None
    submission_url: str | None

    @property
    def verdict_line(self) -> VerdictLine:
        """What is printed of it: the line of ``ember verify``."""
        line = self.line
        code = line.state if line.is_open else line.code
        scenario_id = None if self.header is None else self.header.scenario_id
        return VerdictLine(self.file, line.line, code, line.message, line.outcome, scenario_id, line.is_open)

    def to_dict(self) -> dict[str, Any]:
        """JSON-ready; every key is always there."""
        line, header = self.line, self.header
        return {
            "file": self.file,
            "line": line.line,
            "verified": line.code == VerdictCode.VERIFIED,
            "code": line.code or None,
            "message": line.message or None,
            "place": line.record_place or None,
            "state": line.state,
            "known": line.known,
            "metrics": line.metrics,
            "scenario_id": None if header is None else header.scenario_id,
            "scenario_hash": None if header is None else header.scenario_hash,
            "seed": None if header is None else str(header.seed),
            "run": None if line.run is None else str(line.run),
            "run_url": self.run_url,
            "submission_url": self.submission_url,
        }


def submit(
    files: Annotated[
        list[str],
        typer.Argument(
            metavar="FILE", help="Record files (.json, .jsonl, either gzipped); - is standard input."
        ),
    ],
    agent: Annotated[
        str,
        typer.Option("--agent", "-a", metavar="SLUG", help="Your agent: the end of its address."),
    ] = "",
    site: Annotated[
        str | None,
        typer.Option("--site", metavar="URL", help="The site; else EMBER_SITE or the config."),
    ] = None,
    no_wait: Annotated[bool, typer.Option("--no-wait", help="Do not wait for the verdicts.")] = False,
    patience_s: Annotated[
        float,
        typer.Option(
            "--patience", metavar="SECONDS", min=0, help="How long to go on while nothing gets further."
        ),
    ] = 600,
    silence_s: Annotated[
        float,
        typer.Option("--silence", metavar="SECONDS", min=0.1, help="How long the site may say nothing."),
    ] = 120,
    as_json: JsonOption = False,
    debug: DebugOption = False,
) -> None:
    """Send run records to a site and print its verdict for each.

    The token comes from EMBER_TOKEN or the config file. The same records again are the same runs, so an
    interrupted command is simply run again.
    """
    with reporting(as_json=as_json, debug=debug) as out:
        if not agent:
            raise CommandError.wrong_use("expected --agent SLUG: whose runs these are")
        if files.count(STANDARD_INPUT) > 1:
            raise CommandError.wrong_use("standard input (-) can be read once only")
        access = site_access(site)
        if access.is_open_to_others:
            out.note(f"note: {access.url} is not encrypted, so others on the way can read the token")
        client = SiteClient(access, tell=out.note, patience_s=patience_s, silence_s=silence_s)
        exit_code = _submit_all(Request(files, agent, not no_wait, patience_s), client, out)
    if exit_code is not ExitCode.GOOD:
        raise typer.Exit(exit_code)


def _submit_all(request: Request, client: SiteClient, out: Output) -> ExitCode:
    counts: Counter[str] = Counter()
    worst = ExitCode.GOOD
    for file in request.files:
        try:
            for told in file_submit(file, request, client, out):
                counts[told.verdict_line.code] += 1
                out.line(told.verdict_line.text)
                if told.run_url is not None:
                    out.line(f"  {told.run_url}")
                out.data(told.to_dict())
        except CommandError as problem:
            if not _is_about_the_file(problem):
                raise
            worst = max(worst, problem.exit_code)
            out.data({"ok": False, "error": problem.to_dict()})
            if not out.as_json:
                complain(problem.sentence)
    total = counts.total()
    if total > 1:
        out.note(f"{total} records: " + ", ".join(f"{count} {code}" for code, count in counts.items()))
    good = {VerdictCode.VERIFIED} if request.wait else {VerdictCode.VERIFIED, "queued", "running"}
    return worst if total == sum(counts[code] for code in good) else max(worst, ExitCode.REFUSED)


def _is_about_the_file(problem: CommandError) -> bool:
    """Whether the next file may fare better."""
    refused = isinstance(problem, SiteRefusal) and problem.status in (413, 422)
    return refused or problem.code == "file_unreadable"


def file_submit(file: str, request: Request, client: SiteClient, out: Output) -> Iterator[Told]:
    """
    Send one file and give what the site says of each record, in the order of the file.

    With `request.wait` each record is given once its verdict is in, else all of them at once.

    Raises:
        CommandError: The file cannot be read, or the site does not take it.
    """
    shown = file_shown_name(file)
    with _seekable(file) as stream, _progress(file_size(stream)) as progress:
        try:
            sent = client.submission_send(
                stream,
                size_bytes=file_size(stream),
                name="" if file == STANDARD_INPUT else Path(file).name,
                agent=request.agent,
                progress=progress,
            )
        except SiteRefusal as refusal:
            refusal.file = shown
            yield from _refused(shown, refusal, client)
            return
        headers = _headers(stream)
    page = client.page_url("submissions", sent.id)
    out.note(f"{shown}: {len(sent.lines)} sent, {page}")
    for line in _verdicts(sent, request, client) if request.wait else sent.lines:
        run = None if line.run is None else client.page_url("runs", line.run)
        yield Told(shown, line, headers.get(line.line), run, page)


def _refused(file: str, refusal: SiteRefusal, client: SiteClient) -> Iterator[Told]:
    """The lines of a file that the site keeps nothing of, with their reasons."""
    problem = refusal.problem
    if problem.submission is None:
        raise refusal
    page = client.page_url("submissions", problem.submission)
    where = LINE_PLACE.match(problem.place or "")
    whole = LineAnswer(
        int(where[1]) if where else 1, None, False, "rejected", problem.code, problem.place or "",
        problem.detail, None,
    )  # fmt: skip
    for line in client.refused_lines(problem) or [whole]:
        yield Told(file, line, None, None, page)


def _verdicts(sent: SubmissionAnswer, request: Request, client: SiteClient) -> Iterator[LineAnswer]:
    """The lines in order, each as soon as its verdict is in; asks now and then, less often as time goes."""
    given, answer, pause_s = 0, sent, FIRST_LOOK_S
    patient_until = time.monotonic() + request.patience_s
    while True:
        waiting = sum(line.is_open for line in answer.lines)
        while given < len(answer.lines) and not answer.lines[given].is_open:
            yield answer.lines[given]
            given += 1
        if given == len(answer.lines):
            return
        if time.monotonic() > patient_until:
            page = client.page_url("submissions", sent.id)
            message = f"no verdict came for {request.patience_s:g} s; {waiting} are still to come: {page}"
            raise CommandError(message, code="verdicts_missing")
        time.sleep(pause_s)
        pause_s = min(pause_s * 1.5, LONGEST_LOOK_S)
        answer = client.submission_get(sent.id)
        if len(answer.lines) != len(sent.lines):
            raise CommandError("the site has changed the upload meanwhile", code="site_answer")
        if sum(line.is_open for line in answer.lines) < waiting:
            patient_until, pause_s = time.monotonic() + request.patience_s, FIRST_LOOK_S


def _headers(stream: BinaryIO) -> Headers:
    """The header of each record by line; the site's answer does not repeat them."""
    stream.seek(0)
    headers: Headers = {}
    for line in iter_records(stream, limits=None):
        if line.text is not None:
            try:
                headers[line.number] = record_header(line.text)
            except RecordFormatError:
                continue
    return headers


@contextmanager
def _seekable(file: str) -> Iterator[BinaryIO]:
    """The file, or a copy of what comes by standard input or a pipe, so that it can be sent again."""
    with file_opened(file) as stream:
        if stream.seekable():
            yield stream
            return
        with tempfile.TemporaryFile() as copy:
            shutil.copyfileobj(stream, copy)
            yield copy


@contextmanager
def _progress(size_bytes: int) -> Iterator[Any]:
    """A bar on standard error where that is a terminal and the file takes a moment to send."""
    if size_bytes < BAR_FROM_BYTES or not sys.stderr.isatty():
        yield lambda sent_bytes: None
        return
    columns = (TextColumn("sending"), BarColumn(), DownloadColumn(binary_units=True), TransferSpeedColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True, redirect_stdout=False) as bar:
        task = bar.add_task("", total=size_bytes)
        yield lambda sent_bytes: bar.update(task, completed=sent_bytes)
