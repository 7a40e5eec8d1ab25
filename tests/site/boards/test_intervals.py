"""Bootstrap intervals: fixed, within range, absent where nothing varies; paired differences."""

from __future__ import annotations

from datetime import UTC, datetime
from fractions import Fraction

from hypothesis import given, settings
from hypothesis import strategies as st

from ember_site.boards.intervals import paired_difference, score_intervals
from ember_site.boards.ranking import RunScore, Schedule, SlotKey, SlotSpec

NOW = datetime(2026, 1, 1, tzinfo=UTC)


def schedule_of(*seeds: int) -> Schedule:
    """One scenario of ten people for each number of seeds."""
    return Schedule(
        SlotSpec(SlotKey(f"s{number}", str(seed)), 10)
        for number, count in enumerate(seeds)
        for seed in range(count)
    )


def runs(schedule: Schedule, *evacuated: int) -> dict[SlotKey, RunScore]:
    return {
        slot.key: RunScore("r", slot.key, count, 10 - count, 100, NOW)
        for slot, count in zip(schedule.slots, evacuated, strict=True)
    }


def test_there_is_no_interval_where_every_scenario_has_one_seed():
    schedule = schedule_of(1, 1)
    assert score_intervals(schedule, runs(schedule, 3, 4)) is None


def test_the_interval_is_the_same_each_time():
    schedule = schedule_of(5, 1)
    best = runs(schedule, 1, 4, 7, 9, 10, 5)
    first, second = score_intervals(schedule, best), score_intervals(schedule, best)
    assert first is not None
    assert first == second
    assert first.evacuation_rate.low < schedule.scores(best).evacuation_rate < first.evacuation_rate.high


def test_seeds_are_resampled_within_their_scenario_only():
    schedule = schedule_of(3, 3)
    interval = score_intervals(schedule, runs(schedule, 0, 0, 0, 10, 10, 10))
    assert interval is not None
    half = Fraction(1, 2)
    assert (interval.evacuation_rate.low, interval.evacuation_rate.high) == (half, half)


@settings(max_examples=25)
@given(st.lists(st.integers(0, 10), min_size=4, max_size=4), st.integers(0, 10))
def test_interval_and_score_lie_between_the_extremes(seeds: list[int], single: int):
    schedule = schedule_of(4, 1)
    best = runs(schedule, *seeds, single)
    interval = score_intervals(schedule, best)
    assert interval is not None
    low = Fraction(min(seeds) + single, 20)
    high = Fraction(max(seeds) + single, 20)
    assert low <= interval.evacuation_rate.low <= interval.evacuation_rate.high <= high


def test_a_paired_difference_counts_slots_and_subtracts_rates():
    schedule = schedule_of(2, 1)
    first, second = runs(schedule, 10, 5, 3), runs(schedule, 8, 5, 4)
    difference = paired_difference(schedule, first, second)
    assert (difference.better, difference.equal, difference.worse) == (1, 1, 1)
    assert difference.mean == (Fraction(2, 20) - Fraction(1, 10)) / 2
    assert difference.interval is not None
    assert difference.interval.low <= difference.mean <= difference.interval.high


def test_an_agent_against_itself_differs_by_nothing():
    schedule = schedule_of(3)
    best = runs(schedule, 1, 5, 9)
    difference = paired_difference(schedule, best, best)
    assert difference.mean == 0
    assert difference.interval is not None
    assert (difference.interval.low, difference.interval.high) == (0, 0)
