"""``ember verify``: judge run records by replaying them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Annotated, Any

import typer

from simulator.command.output import (
    CommandError,
    DebugOption,
    ExitCode,
    JsonOption,
    Output,
    complain,
    reporting,
)
from simulator.command.sources import (
    STANDARD_INPUT,
    ScenarioLibrary,
    file_opened,
    file_shown_name,
    file_unreadable,
)
from simulator.command.verdict_lines import VerdictLine, metrics_text
from simulator.errors import RecordFormatError
from simulator.limits import LIMITS, Limits
from simulator.record import RecordHeader, record_header
from simulator.record_files import RecordLine, iter_records, message_in_file
from simulator.verification import Verdict, VerdictCode, record_refused, record_unknown, replay

LIMITS_TEXT = f"Limits: {', '.join(LIMITS.texts)}."


@dataclass(frozen=True)
class Judged:
    """One record of a file and what was found."""

    file: str
    number: int
    verdict: Verdict
    header: RecordHeader | None = None
    limit: int | None = None

    @property
    def line(self) -> VerdictLine:
        """What is printed of it."""
        verdict, header = self.verdict, self.header
        return VerdictLine(
            self.file,
            self.number,
            str(verdict.code),
            verdict.message,
            outcome=None if verdict.metrics is None else metrics_text(verdict.metrics),
            scenario_id=None if header is None else header.scenario_id,
        )

    def to_dict(self) -> dict[str, Any]:
        """JSON-ready; every key is always there."""
        header = self.header
        return {
            "file": self.file,
            "line": self.number,
            **self.verdict.to_dict(),
            "limit": self.limit,
            "scenario_id": None if header is None else header.scenario_id,
            "scenario_hash": None if header is None else header.scenario_hash,
            "seed": None if header is None else str(header.seed),
        }


def verify(
    files: Annotated[
        list[str],
        typer.Argument(
            metavar="FILE", help="Record files (.json, .jsonl, either gzipped); - is standard input."
        ),
    ],
    scenario: Annotated[
        list[str] | None,
        typer.Option(
            "--scenario", metavar="FILE", help="A scenario that records may be of. May be repeated."
        ),
    ] = None,
    suite: Annotated[
        list[str] | None,
        typer.Option("--suite", metavar="DIR", help="A suite that records may be of. May be repeated."),
    ] = None,
    no_limits: Annotated[
        bool, typer.Option("--no-limits", help="Read files that are larger than the site accepts, too.")
    ] = False,
    as_json: JsonOption = False,
    debug: DebugOption = False,
) -> None:
    """Check run records by replay and print a verdict for each.

    The scenario of a record is found by its hash, among those named with --scenario and --suite, by default
    among those that come with the project. The verdict is the one that the site gives.
    """
    with reporting(as_json=as_json, debug=debug) as out:
        if files.count(STANDARD_INPUT) > 1:
            raise CommandError.wrong_use("standard input (-) can be read once only")
        library = ScenarioLibrary.of(scenario or [], suite or [])
        exit_code = _verify_all(files, library, None if no_limits else LIMITS, out)
    if exit_code is not ExitCode.GOOD:
        raise typer.Exit(exit_code)


def _verify_all(files: list[str], library: ScenarioLibrary, limits: Limits | None, out: Output) -> ExitCode:
    counts: Counter[str] = Counter()
    unreadable = False
    for file in files:
        try:
            for judged in records_judge(file, library, limits):
                counts[judged.verdict.code] += 1
                out.line(judged.line.text)
                out.data(judged.to_dict())
        except CommandError as problem:
            unreadable = True
            out.data({"ok": False, "error": problem.to_dict()})
            if not out.as_json:
                complain(problem.sentence)
    total = counts.total()
    if total > 1:
        out.note(f"{total} records: " + ", ".join(f"{count} {code}" for code, count in counts.items()))
    if unreadable:
        return ExitCode.WRONG_USE
    return ExitCode.GOOD if total == counts[VerdictCode.VERIFIED] else ExitCode.REFUSED


def records_judge(file: str, library: ScenarioLibrary, limits: Limits | None) -> Iterator[Judged]:
    """
    The verdict over each record of a file, as it is read; one record is in memory at a time.

    Raises:
        CommandError: The file cannot be read.
    """
    with file_opened(file) as stream:
        lines = iter_records(stream, limits=limits)
        while True:
            try:
                line = next(lines, None)
            except OSError as problem:
                raise file_unreadable(file, problem) from problem
            if line is None:
                return
            yield _judge(file_shown_name(file), line, library)


def _judge(file: str, line: RecordLine, library: ScenarioLibrary) -> Judged:
    if line.error is not None:
        error = line.error
        verdict = Verdict(VerdictCode(error.code), error.message, error.record_place)
        return Judged(file, line.number, verdict, limit=error.limit)
    text = line.text or b""
    try:
        header = record_header(text)
    except RecordFormatError as problem:
        return Judged(file, line.number, _in_file(record_refused(problem), line))
    scenario = library.find(header.scenario_hash)
    if scenario is None:
        here = library.hash_of(header.scenario_id)
        return Judged(file, line.number, record_unknown(header.scenario_hash, here=here), header)
    return Judged(file, line.number, _in_file(replay(text, scenario), line), header)


def _in_file(verdict: Verdict, line: RecordLine) -> Verdict:
    """A refusal by the loader with the line of the file in its sentence."""
    if verdict.code is not VerdictCode.RECORD_FORMAT:
        return verdict
    return replace(verdict, message=message_in_file(verdict.message, line.number))
