"""What the templates of runs need: rows of uploads, parts of a progress bar, facts of a run."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from fractions import Fraction

from django.http import HttpRequest
from django.template.loader import render_to_string

from ember_site.runs.causes import run_cause
from ember_site.runs.models import Run, RunState, SubmissionLine
from ember_site.runs.selectors import SubmissionCounts, has_track

LINES_PER_PAGE = 100
RUNS_PER_PAGE = 50
UPLOADS_PER_PAGE = 50

RECENT_UPLOADS = 5
"""The newest uploads, shown where a link leads on to all of them."""

LETTERS = {
    RunState.QUEUED: "q",
    RunState.RUNNING: "r",
    RunState.VERIFIED: "v",
    RunState.REJECTED: "x",
    RunState.FAILED: "f",
}
MALFORMED = "m"


@dataclass(frozen=True)
class LineRow:
    """One record of an upload as a row: its line, its state as one letter, the usual cause of a refusal."""

    line: SubmissionLine
    letter: str
    cause: str
    sentence: str = ""
    """What the differing step tells, where no page of the run could show it: in a dry run."""

    @property
    def run(self) -> Run | None:
        """The run, unless the loader refused the line."""
        return self.line.run

    @property
    def is_kept(self) -> bool:
        """Whether the run has a page: that of a dry run has none."""
        return self.line.run is not None and not self.line.run._state.adding

    @property
    def has_scene(self) -> bool:
        """Whether the step at which record and replay part can be drawn."""
        run = self.line.run
        return run is not None and self.is_kept and run.state == RunState.REJECTED and has_track(run)


@dataclass(frozen=True)
class ProgressPart:
    """A stretch of the progress bar, in records."""

    kind: str
    start: int
    width: int


@dataclass(frozen=True)
class Fact:
    """A label and its value, both ready to be shown."""

    label: str
    value: str


def line_rows(lines: Iterable[SubmissionLine], sentences: Mapping[int, str] | None = None) -> list[LineRow]:
    """The rows of a page of lines; `sentences` by line number."""
    told = sentences or {}
    return [
        LineRow(
            line,
            line_letter(line),
            "" if line.run is None else run_cause(line.run),
            told.get(line.number, ""),
        )
        for line in lines
    ]


def line_letter(line: SubmissionLine) -> str:
    """The state of a line as one letter."""
    return MALFORMED if line.run is None else LETTERS[RunState(line.run.state)]


def changed_rows(request: HttpRequest, lines: Iterable[SubmissionLine], *, have: str) -> list[dict[str, str]]:
    """The rows whose letter is not the one that the page has, as HTML."""
    rows = []
    for index, row in enumerate(line_rows(lines)):
        if have[index : index + 1] != row.letter:
            html = render_to_string("runs/line.html", {"row": row}, request=request)
            rows.append({"id": f"line-{row.line.number}", "letter": row.letter, "html": html})
    return rows


def progress_parts(counts: SubmissionCounts) -> list[ProgressPart]:
    """The stretches of an upload's progress bar, from left to right."""
    parts: list[ProgressPart] = []
    start = 0
    for kind in ("verified", "not_ended", "refused", "failed", "running", "queued"):
        width: int = getattr(counts, kind)
        if width:
            parts.append(ProgressPart(kind, start, width))
            start += width
    return parts


def run_facts(run: Run) -> list[Fact]:
    """The metrics of a confirmed run, in words."""
    metrics = run.metrics
    if metrics is None:
        return []
    max_steps = f" of {run.scenario.max_steps}" if run.scenario else ""
    last = "–" if metrics.last_evacuation_step is None else str(metrics.last_evacuation_step)
    blocked = [(kind.removeprefix("blocked_"), count) for kind, count in metrics.blocked.items() if count]
    facts = [
        Fact("Casualties", f"{metrics.casualties}"),
        Fact("caused by fire spread", f"{metrics.fire_spread}"),
        Fact("caused by entering fire", f"{metrics.entered_fire}"),
        Fact("Unresolved", f"{metrics.unresolved}"),
        Fact("Steps", f"{metrics.steps}{max_steps}"),
        Fact("Last, mean evacuation step", f"{last}, {_decimal(metrics.mean_evacuation_step)}"),
        Fact("Exit step", _decimal(metrics.exit_step)),
        Fact("Trapped at start", f"{metrics.trapped_at_start}"),
    ]
    names = ", ".join(kind for kind, _ in blocked)
    facts.append(
        Fact(f"Blocked: {names}" if names else "Blocked moves", ", ".join(str(n) for _, n in blocked) or "0")
    )
    return facts


def _decimal(value: Fraction | None) -> str:
    return "–" if value is None else f"{float(value):.2f}"
