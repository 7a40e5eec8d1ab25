"""The line that a verdict is printed as: the same one from ``ember verify`` and from ``ember submit``."""

from __future__ import annotations

from dataclasses import dataclass

from rich.text import Text

from simulator.command.output import visible
from simulator.metrics import Metrics

GOOD_STYLE = "bold #009e73"
BAD_STYLE = "bold #d55e00"
OPEN_STYLE = "bold"


@dataclass(frozen=True)
class VerdictLine:
    """
    What is said of one record: file and line, code, and what the code means here.

    ``code`` is that of the verdict, or the state of a record that has none yet (then it is ``open``).
    ``outcome`` is what the run of a verified record achieved.
    """

    file: str
    number: int
    code: str
    message: str
    outcome: str | None = None
    scenario_id: str | None = None
    open: bool = False

    @property
    def text(self) -> Text:
        """`runs.jsonl:9: verified  73 of 100 evacuated  60 steps  v1-pub-09-crowd-100-split-flow`"""
        verified = self.code == "verified"
        said = self.message
        if verified and self.outcome is not None and self.scenario_id is not None:
            said = f"{self.outcome}  {self.scenario_id}"
        colour = OPEN_STYLE if self.open else GOOD_STYLE if verified else BAD_STYLE
        where = f"{self.file}:{self.number}: "
        said = f"  {said}" if said else ""
        return Text.assemble(visible(where), (visible(self.code), colour), visible(said))


def outcome_text(*, evacuated: int, population: int, steps: int) -> str:
    """`73 of 100 evacuated  60 steps`"""
    return f"{evacuated} of {population} evacuated  {'1 step' if steps == 1 else f'{steps} steps'}"


def metrics_text(metrics: Metrics) -> str:
    """The outcome of a run by its metrics."""
    return outcome_text(evacuated=metrics.evacuated, population=metrics.population, steps=metrics.steps)
