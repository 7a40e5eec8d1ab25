"""Two drawings below a board: where people are lost, and two agents against each other."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import groupby, islice

from ember_site.boards.intervals import PairedDifference, paired_difference
from ember_site.boards.rows import Board, BoardRow, SlotFacts
from ember_site.core.errors import BadInput

SHOWN_AGENTS = 8
HALF = Fraction(1, 2)
"""Agents that get fewer out on average are left out of the drawing, which they would only flatten."""

CHOICES = 100
"""Agents offered for comparison: the first of the board; any other can be named in the address."""

MARK_PX = 11
"""Distance between the centres of marks that stand side by side."""

DEFAULT_OPPONENT = "greedy"


@dataclass(frozen=True, slots=True)
class Mark:
    """One agent's result in one scenario. `left` is a percentage of the axis, `shift_px` sideways of it."""

    name: str
    share: float
    kind: str
    left: str
    shift_px: float
    role: str
    """`a` or `b` for the two compared agents, else empty."""


@dataclass(frozen=True, slots=True)
class ScenarioLine:
    """One scenario of a drawing."""

    number: str
    name: str
    marks: list[Mark]


@dataclass(frozen=True, slots=True)
class LossChart:
    """Share evacuated in each scenario, one mark for each of the best agents."""

    lines: list[ScenarioLine]
    ticks: list[tuple[str, int]]
    """Position on the axis as a percentage, and the share evacuated in per cent."""
    agent_count: int


@dataclass(frozen=True, slots=True)
class DifferenceBar:
    """One slot's difference as a bar on the axis; places in per cent of its width."""

    number: str
    name: str
    points: float
    left: str
    width: str


@dataclass(frozen=True, slots=True)
class Pairing:
    """First agent minus second over the matched slots."""

    first: BoardRow
    second: BoardRow
    difference: PairedDifference
    bars: list[DifferenceBar]
    choices: list[BoardRow]
    scale_points: int
    """The difference at the end of the axis."""
    zero: str
    """Where on the axis there is no difference."""

    @property
    def points(self) -> float:
        """Mean difference in percentage points."""
        return float(self.difference.mean) * 100


def pairing(board: Board, parameters: Mapping[str, str]) -> Pairing | None:
    """The two agents named by `a` and `b`, or the first and a baseline; None where there are not two.

    Raises:
        BadInput: `a` or `b` is no complete entry of this board.
    """
    if len(board.ranked) < 2 or not board.evaluation.shows_slots:
        return None
    by_slug = {row.agent.slug: row for row in board.ranked}
    first = _named(by_slug, "a", parameters) or board.ranked[0]
    second = _named(by_slug, "b", parameters) or _opponent(board.ranked, first)
    difference = paired_difference(board.schedule, first.entry.best, second.entry.best)
    values = difference.slots.values()
    largest = max(abs(value) for value in values)
    scale = next(points for points in (5, 10, 20, 30, 50, 100) if largest * 100 <= points)
    zero = _zero(min(values), max(values))
    choices = list(board.ranked[:CHOICES])
    choices += [row for row in (first, second) if row not in choices]
    return Pairing(
        first=first,
        second=second,
        difference=difference,
        bars=[_bar(slot, difference.slots[slot.key], scale, zero) for slot in board.slots],
        choices=choices,
        scale_points=scale,
        zero=_percent(zero),
    )


def loss_chart(board: Board, compared: Pairing | None) -> LossChart | None:
    """Where the best agents lose people; None where nobody is ranked or nothing may be shown."""
    if not board.ranked or not board.evaluation.shows_slots:
        return None
    half = (row for row in board.ranked if row.entry.scores and row.entry.scores.evacuation_rate >= HALF)
    shown = list(islice(half, SHOWN_AGENTS)) or list(board.ranked[:SHOWN_AGENTS])
    if compared is not None:
        shown += [row for row in (compared.first, compared.second) if row not in shown]
    cells = [[cell for cell in row.cells if cell.evacuated is not None] for row in shown]
    rates = [[Fraction(cell.evacuated or 0, cell.population) for cell in row_cells] for row_cells in cells]
    lowest = min(min(row_rates) for row_rates in rates)
    start = Fraction(min(int(lowest * 10), 9), 10)
    lines = []
    for index, head in enumerate(board.scenario_heads):
        results = [(rates[place][index], row) for place, row in enumerate(shown)]
        lines.append(ScenarioLine(head.number, head.name, _marks(results, start, compared)))
    step = 10 if start >= Fraction(1, 2) else 25
    ticks = [
        (_percent((Fraction(share, 100) - start) / (1 - start)), share)
        for share in range(0, 101, step)
        if share >= start * 100
    ]
    return LossChart(lines, ticks, len(shown))


def _marks(
    results: Sequence[tuple[Fraction, BoardRow]], start: Fraction, compared: Pairing | None
) -> list[Mark]:
    """Equal results stand side by side: around their place, or right of the line where all got out."""
    marks = []
    for rate, group in groupby(sorted(results, key=lambda result: result[0]), key=lambda result: result[0]):
        rows = [row for _, row in group]
        for index, row in enumerate(rows):
            middle = index - (len(rows) - 1) / 2
            shift = MARK_PX * (0.8 + index if rate == 1 else middle)
            marks.append(
                Mark(
                    name=row.agent.name,
                    share=float(rate),
                    kind=row.agent.kind,
                    left=_percent((rate - start) / (1 - start)),
                    shift_px=round(shift, 1),
                    role=_role(row, compared),
                )
            )
    return marks


def _role(row: BoardRow, compared: Pairing | None) -> str:
    if compared is None:
        return ""
    return "a" if row is compared.first else "b" if row is compared.second else ""


def _zero(lowest: Fraction, highest: Fraction) -> Fraction:
    """Where the axis has its nothing: in the middle, or at an end where all differences point one way."""
    if lowest >= 0:
        return Fraction(0)
    return Fraction(1) if highest <= 0 else Fraction(1, 2)


def _bar(slot: SlotFacts, difference: Fraction, scale_points: int, zero: Fraction) -> DifferenceBar:
    reach = abs(difference) * 100 / scale_points * max(zero, 1 - zero)
    left = zero if difference >= 0 else zero - reach
    return DifferenceBar(slot.number, slot.name, float(difference) * 100, _percent(left), _percent(reach))


def _named(by_slug: Mapping[str, BoardRow], name: str, parameters: Mapping[str, str]) -> BoardRow | None:
    slug = parameters.get(name, "")
    if slug and slug not in by_slug:
        raise BadInput(f"Expected a ranked agent of this board, got {slug[:80]!r}.", place=name)
    return by_slug.get(slug)


def _opponent(ranked: Sequence[BoardRow], first: BoardRow) -> BoardRow:
    others = [row for row in ranked if row is not first]
    baseline = (row for row in others if row.agent.slug == DEFAULT_OPPONENT)
    return next(baseline, others[0])


def _percent(share: Fraction) -> str:
    return f"{float(share) * 100:.2f}%"
