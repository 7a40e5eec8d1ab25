"""Rank the entries of an evaluation: one pure function on exact numbers.

Nothing here knows Django or HTTP. Every page, export and interface shows what
`entries_rank` returns, so they cannot disagree.

Source: product design, sections 2 and 3.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from fractions import Fraction
from functools import cached_property
from math import lcm
from typing import NamedTuple

MERIT_ORDER = ("-evacuated", "casualties", "exit_step_total")
"""`RunScore.merit` in the words of a query on runs; a test holds the two together."""


class SlotKey(NamedTuple):
    """One (scenario, seed) of a schedule; the seed is a decimal string."""

    scenario_hash: str
    seed: str


@dataclass(frozen=True, slots=True)
class SlotSpec:
    """A slot and the number of people in its scenario."""

    key: SlotKey
    population: int


@dataclass(frozen=True, slots=True)
class RunScore:
    """What ranking needs of one verified, ended run; `exit_step_total` is in person-steps."""

    run_id: Hashable
    slot: SlotKey
    evacuated: int
    casualties: int
    exit_step_total: int
    finished_at: datetime

    @property
    def merit(self) -> tuple[int, int, int]:
        """Order among runs of one slot, best first. Populations are equal there, so counts suffice."""
        return (-self.evacuated, self.casualties, self.exit_step_total)


@dataclass(frozen=True, slots=True)
class EntryRuns:
    """All runs of one agent that may count in an evaluation, in any order."""

    key: Hashable
    name: str
    runs: Sequence[RunScore]


@dataclass(frozen=True, slots=True)
class Scores:
    """The three ranking criteria as exact fractions, most important first."""

    evacuation_rate: Fraction
    casualty_rate: Fraction
    exit_step: Fraction

    @property
    def values(self) -> tuple[Fraction, Fraction, Fraction]:
        """All three, in order."""
        return (self.evacuation_rate, self.casualty_rate, self.exit_step)


@dataclass(frozen=True, slots=True)
class RankedEntry:
    """One row of a board. `scores` and `totals` are None until every slot has its run, and so is `rank`.

    `totals` are the criteria as whole numbers that sort ascending: the same order as `scores`.
    """

    key: Hashable
    name: str
    rank: int | None
    scores: Scores | None
    totals: tuple[int, int, int] | None
    best: Mapping[SlotKey, RunScore]
    attempts: Mapping[SlotKey, int]
    slot_count: int
    finished_at: datetime

    @property
    def complete(self) -> bool:
        """Whether every slot has a run."""
        return self.totals is not None

    @property
    def slots_done(self) -> int:
        """Number of slots that have a run."""
        return len(self.best)

    @property
    def attempt_count(self) -> int:
        """Number of runs on the slots, the counted ones included."""
        return sum(self.attempts.values())


class Schedule:
    """The slots of an evaluation with their weights on one common denominator.

    The mean over scenarios of the mean over seeds is a weighted sum of whole
    counts: a slot of a scenario with k seeds and n people weighs 1 / (S k n).
    Brought to the denominator `scale` the weights are integers, so a criterion
    is one integer sum and equality is exact.
    """

    def __init__(self, slots: Iterable[SlotSpec]) -> None:
        self.slots: tuple[SlotSpec, ...] = tuple(slots)
        keys = [slot.key for slot in self.slots]
        if len(set(keys)) != len(keys):
            raise ValueError("a slot stands twice in the schedule")
        if any(slot.population < 1 for slot in self.slots):
            raise ValueError("a slot needs a population of at least 1")

    @cached_property
    def keys(self) -> frozenset[SlotKey]:
        """The keys of all slots."""
        return frozenset(slot.key for slot in self.slots)

    @cached_property
    def seeds_of(self) -> Mapping[str, int]:
        """Number of seeds for each scenario hash."""
        return Counter(slot.key.scenario_hash for slot in self.slots)

    @cached_property
    def _denominators(self) -> Mapping[SlotKey, int]:
        scenarios = len(self.seeds_of)
        return {
            slot.key: scenarios * self.seeds_of[slot.key.scenario_hash] * slot.population
            for slot in self.slots
        }

    @cached_property
    def scale(self) -> int:
        """The common denominator of all weights."""
        return lcm(*self._denominators.values())

    @cached_property
    def weights(self) -> Mapping[SlotKey, int]:
        """Integer weight of one person in each slot, in units of 1 / `scale`."""
        return {key: self.scale // denominator for key, denominator in self._denominators.items()}

    def totals(self, best: Mapping[SlotKey, RunScore]) -> tuple[int, int, int]:
        """Weighted sums of evacuated, casualties and exit steps, in units of 1 / `scale`."""
        evacuated = casualties = exit_steps = 0
        for key, weight in self.weights.items():
            run = best[key]
            evacuated += weight * run.evacuated
            casualties += weight * run.casualties
            exit_steps += weight * run.exit_step_total
        return evacuated, casualties, exit_steps

    def scores(self, best: Mapping[SlotKey, RunScore]) -> Scores:
        """The three criteria of a complete entry.

        Raises:
            KeyError: a slot has no run.
        """
        return self.scores_of(self.totals(best))

    def scores_of(self, totals: tuple[int, int, int]) -> Scores:
        """The criteria of weighted sums."""
        return Scores(*(Fraction(total, self.scale) for total in totals))


def runs_best(runs: Iterable[RunScore]) -> dict[SlotKey, RunScore]:
    """The run that counts for each slot: best in ranking order, then earliest, then lowest ID. O(runs)."""
    best: dict[SlotKey, RunScore] = {}
    for run in runs:
        held = best.get(run.slot)
        if held is None or _preference(run) < _preference(held):
            best[run.slot] = run
    return best


def _preference(run: RunScore) -> tuple[tuple[int, int, int], datetime, str]:
    return (run.merit, run.finished_at, str(run.run_id))


def entries_rank(schedule: Schedule, entries: Iterable[EntryRuns]) -> list[RankedEntry]:
    """Rank complete entries and set the others below them.

    Order: mean evacuation rate (higher first), mean casualty rate (lower first),
    mean exit step (lower first). Entries equal in all three share a rank
    (1, 2, 2, 4) and stand by earlier finish, then name. Incomplete entries
    follow, most slots done first, then by name. Entries without any run on a
    slot, and runs outside the schedule, are left out. O(runs + n log n).
    """
    rows = (entry_row(schedule, entry) for entry in entries)
    return rows_rank(row for row in rows if row is not None)


def entry_row(schedule: Schedule, entry: EntryRuns) -> RankedEntry | None:
    """
    The entry's row, still without a rank; None where it has no run on a slot. O(runs).

    It depends on the entry's own runs alone, so that a board may keep it until one of them changes.
    """
    runs = [run for run in entry.runs if run.slot in schedule.keys]
    if not runs:
        return None
    best = runs_best(runs)
    whole = len(best) == len(schedule.slots)
    totals = schedule.totals(best) if whole else None
    return RankedEntry(
        key=entry.key,
        name=entry.name,
        rank=None,
        scores=None if totals is None else schedule.scores_of(totals),
        totals=None if totals is None else (-totals[0], totals[1], totals[2]),
        best=best,
        attempts=Counter(run.slot for run in runs),
        slot_count=len(schedule.slots),
        finished_at=max(run.finished_at for run in best.values()),
    )


def rows_rank(rows: Iterable[RankedEntry]) -> list[RankedEntry]:
    """Order rows as `entries_rank` does, and give the complete ones their ranks. O(n log n)."""
    complete: list[tuple[tuple[int, int, int], RankedEntry]] = []
    partial: list[RankedEntry] = []
    for row in rows:
        if row.totals is None:
            partial.append(row)
        else:
            complete.append((row.totals, row))
    complete.sort(key=lambda pair: (pair[0], pair[1].finished_at, *_name_order(pair[1])))
    partial.sort(key=lambda row: (-row.slots_done, *_name_order(row)))
    return [*_shared_ranks(complete), *partial]


def _name_order(row: RankedEntry) -> tuple[str, str, str]:
    """By name without regard to case; the key makes the order total."""
    return (row.name.casefold(), row.name, str(row.key))


def _shared_ranks(
    ordered: Sequence[tuple[tuple[int, int, int], RankedEntry]],
) -> Iterator[RankedEntry]:
    rank, previous = 0, None
    for place, (totals, row) in enumerate(ordered, start=1):
        if totals != previous:
            rank, previous = place, totals
        yield replace(row, rank=rank)
