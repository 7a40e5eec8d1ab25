"""Bootstrap intervals of scores, and of the difference between two agents.

Seeds are resampled within each scenario, with one fixed stream, so the same
board always shows the same interval and any two entries are resampled alike.
A scenario with one seed does not vary; where no scenario has several, there is
no interval at all.

Source: product design, section 3.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache

from ember_site.boards.ranking import RunScore, Schedule, SlotKey
from simulator.rng import SplitMix64

RESAMPLES = 1000
_TAIL = RESAMPLES * 25 // 1000  # 2.5 % at each end
_STREAM = "boards/bootstrap"


@dataclass(frozen=True, slots=True)
class Interval:
    """A 95 % percentile interval, ends included."""

    low: Fraction
    high: Fraction


@dataclass(frozen=True, slots=True)
class ScoreIntervals:
    """Intervals of the three ranking criteria."""

    evacuation_rate: Interval
    casualty_rate: Interval
    exit_step: Interval


@dataclass(frozen=True, slots=True)
class PairedDifference:
    """First agent minus second over matched slots: mean evacuation rate and slot counts."""

    mean: Fraction
    interval: Interval | None
    better: int
    equal: int
    worse: int
    slots: Mapping[SlotKey, Fraction]


def score_intervals(schedule: Schedule, best: Mapping[SlotKey, RunScore]) -> ScoreIntervals | None:
    """Intervals for a complete entry; None where no scenario has several seeds. O(resamples x slots)."""
    if not _varies(schedule):
        return None
    runs = [best[slot.key] for slot in schedule.slots]
    return ScoreIntervals(
        evacuation_rate=_interval(schedule, [run.evacuated for run in runs]),
        casualty_rate=_interval(schedule, [run.casualties for run in runs]),
        exit_step=_interval(schedule, [run.exit_step_total for run in runs]),
    )


def paired_difference(
    schedule: Schedule, first: Mapping[SlotKey, RunScore], second: Mapping[SlotKey, RunScore]
) -> PairedDifference:
    """Compare two complete entries slot by slot.

    A slot is better where the first run stands before the second in ranking order.
    Raises KeyError where one of them misses a slot.
    """
    keys = [slot.key for slot in schedule.slots]
    people = [first[key].evacuated - second[key].evacuated for key in keys]
    merits = [(first[key].merit, second[key].merit) for key in keys]
    total = sum(schedule.weights[key] * count for key, count in zip(keys, people, strict=True))
    return PairedDifference(
        mean=Fraction(total, schedule.scale),
        interval=_interval(schedule, people) if _varies(schedule) else None,
        better=sum(one < two for one, two in merits),
        equal=sum(one == two for one, two in merits),
        worse=sum(one > two for one, two in merits),
        slots={
            slot.key: Fraction(count, slot.population)
            for slot, count in zip(schedule.slots, people, strict=True)
        },
    )


def _varies(schedule: Schedule) -> bool:
    return any(seeds > 1 for seeds in schedule.seeds_of.values())


def _interval(schedule: Schedule, counts: Sequence[int]) -> Interval:
    """Percentile interval of the weighted sum of `counts`, given in the order of the slots."""
    weighted = [
        schedule.weights[slot.key] * count for slot, count in zip(schedule.slots, counts, strict=True)
    ]
    groups: dict[str, list[int]] = {}
    for slot, value in zip(schedule.slots, weighted, strict=True):
        groups.setdefault(slot.key.scenario_hash, []).append(value)
    several = [values for values in groups.values() if len(values) > 1]
    fixed = sum(values[0] for values in groups.values() if len(values) == 1)
    sums = sorted(
        fixed + sum(values[index] for values, drawn in zip(several, draw, strict=True) for index in drawn)
        for draw in _draws(tuple(len(values) for values in several))
    )
    return Interval(Fraction(sums[_TAIL], schedule.scale), Fraction(sums[-1 - _TAIL], schedule.scale))


@lru_cache(maxsize=16)
def _draws(sizes: tuple[int, ...]) -> tuple[tuple[tuple[int, ...], ...], ...]:
    """For each resample and each scenario size k: k indexes below k, drawn with replacement."""
    stream = SplitMix64.stream(0, _STREAM)
    return tuple(
        tuple(tuple(stream.next_output() * size >> 64 for _ in range(size)) for size in sizes)
        for _ in range(RESAMPLES)
    )
