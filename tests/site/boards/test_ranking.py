"""The ranking function by itself: order, ties, direction, missing scores, exactness."""

from __future__ import annotations

import random
from collections import defaultdict
from datetime import UTC, datetime, timedelta
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ember_site.boards.ranking import (
    EntryRuns,
    RankedEntry,
    RunScore,
    Schedule,
    SlotKey,
    SlotSpec,
    entries_rank,
    runs_best,
)

START = datetime(2026, 1, 1, tzinfo=UTC)
SLOT = SlotKey("a" * 64, "0")
ONE_SLOT = Schedule([SlotSpec(SLOT, 100)])


def score(evacuated: int, casualties: int = 0, exit_steps: int = 500, minute: int = 0, **fields) -> RunScore:
    values = {"run_id": f"run{minute}-{evacuated}", "slot": SLOT} | fields
    return RunScore(
        evacuated=evacuated,
        casualties=casualties,
        exit_step_total=exit_steps,
        finished_at=START + timedelta(minutes=minute),
        **values,
    )


def entry(name: str, *runs: RunScore) -> EntryRuns:
    return EntryRuns(name, name, runs)


def table(rows: list[RankedEntry]) -> list[tuple[int | None, str]]:
    return [(row.rank, row.name) for row in rows]


def test_ties_share_a_rank_and_the_next_rank_is_skipped():
    entries = [entry(name, score(count)) for name, count in [("d", 7), ("b", 9), ("a", 10), ("c", 9)]]
    expected = [(1, "a"), (2, "b"), (2, "c"), (4, "d")]
    for seed in range(20):
        random.Random(seed).shuffle(entries)
        assert table(entries_rank(ONE_SLOT, entries)) == expected


@pytest.mark.parametrize(
    ("better", "worse"),
    [
        (score(50, 40, 900), score(49, 0, 100)),  # more evacuated beats all else
        (score(50, 40, 900), score(50, 41, 100)),  # then fewer casualties
        (score(50, 40, 900), score(50, 40, 901)),  # then the earlier exit step
    ],
    ids=["evacuated", "casualties", "exit step"],
)
def test_each_criterion_flips_the_order_alone(better: RunScore, worse: RunScore):
    assert table(entries_rank(ONE_SLOT, [entry("a", worse), entry("b", better)])) == [(1, "b"), (2, "a")]
    assert table(entries_rank(ONE_SLOT, [entry("a", better), entry("b", worse)])) == [(1, "a"), (2, "b")]


def test_equal_entries_stand_by_earlier_finish_then_by_name():
    entries = [
        entry("late", score(5, minute=9)),
        entry("Zoe", score(5, minute=1)),
        entry("amy", score(5, minute=1)),
    ]
    assert table(entries_rank(ONE_SLOT, entries)) == [(1, "amy"), (1, "Zoe"), (1, "late")]


def test_incomplete_entries_stand_below_without_a_rank_by_slots_done_then_name():
    schedule = Schedule([SlotSpec(SLOT._replace(seed=str(seed)), 100) for seed in range(3)])

    def runs(done: int, evacuated: int) -> list[RunScore]:
        return [score(evacuated, slot=SLOT._replace(seed=str(seed))) for seed in range(done)]

    entries = [
        entry("nothing"),
        entry("zac", *runs(2, 100)),
        entry("one", *runs(1, 100)),
        entry("bad but whole", *runs(3, 0)),
        entry("ann", *runs(2, 0)),
    ]
    rows = entries_rank(schedule, entries)
    assert table(rows) == [(1, "bad but whole"), (None, "ann"), (None, "zac"), (None, "one")]
    assert [(row.slots_done, row.slot_count) for row in rows[1:]] == [(2, 3), (2, 3), (1, 3)]
    assert all(row.scores is None for row in rows[1:])


def test_the_best_run_of_a_slot_counts_and_of_equal_ones_the_earliest():
    runs = [score(5, minute=0), score(9, minute=3), score(9, minute=2), score(9, 1, minute=1)]
    assert runs_best(runs)[SLOT].run_id == "run2-9"
    [row] = entries_rank(ONE_SLOT, [entry("a", *runs)])
    assert row.attempt_count == 4
    assert row.finished_at == START + timedelta(minutes=2)


def test_a_scenario_with_many_seeds_weighs_as_much_as_one_with_a_single_seed():
    single, double = SlotKey("a" * 64, "0"), [SlotKey("b" * 64, seed) for seed in ("1", "2")]
    schedule = Schedule([SlotSpec(single, 1), *(SlotSpec(key, 4) for key in double)])
    best = {
        single: score(1, slot=single),
        double[0]: score(1, slot=double[0]),
        double[1]: score(2, slot=double[1]),
    }
    assert schedule.scores(best).evacuation_rate == (1 + (Fraction(1, 4) + Fraction(2, 4)) / 2) / 2


def test_runs_outside_the_schedule_do_not_count():
    stray = score(100, slot=SlotKey("f" * 64, "0"))
    other_seed = score(100, slot=SLOT._replace(seed="1"))
    assert entries_rank(ONE_SLOT, [entry("stray", stray, other_seed)]) == []


def test_an_empty_schedule_ranks_nobody():
    assert entries_rank(Schedule([]), [entry("a", score(5))]) == []


def test_a_schedule_with_a_slot_twice_or_without_people_is_refused():
    with pytest.raises(ValueError, match="twice"):
        Schedule([SlotSpec(SLOT, 1), SlotSpec(SLOT, 1)])
    with pytest.raises(ValueError, match="population"):
        Schedule([SlotSpec(SLOT, 0)])


@st.composite
def evaluations(draw: st.DrawFn) -> tuple[Schedule, list[EntryRuns]]:
    """A few scenarios with one to three seeds, and entries with any number of runs on them."""
    slots = [
        SlotSpec(SlotKey(f"scenario{number}", str(seed)), population)
        for number, population in enumerate(draw(st.lists(st.integers(1, 7), min_size=1, max_size=3)))
        for seed in range(draw(st.integers(1, 3)))
    ]

    def run(slot: SlotSpec, number: int) -> RunScore:
        evacuated = draw(st.integers(0, slot.population))
        return RunScore(
            run_id=number,
            slot=slot.key,
            evacuated=evacuated,
            casualties=draw(st.integers(0, slot.population - evacuated)),
            exit_step_total=draw(st.integers(0, 3)),
            finished_at=START + timedelta(minutes=draw(st.integers(0, 2))),
        )

    entries = []
    for number in range(draw(st.integers(0, 5))):
        chosen = draw(st.lists(st.sampled_from(slots), max_size=8))
        if draw(st.booleans()):
            chosen += slots
        entries.append(
            EntryRuns(number, draw(st.sampled_from("abc")), [run(s, i) for i, s in enumerate(chosen)])
        )
    return Schedule(slots), entries


def plain_scores(schedule: Schedule, row: RankedEntry) -> tuple[Fraction, Fraction, Fraction]:
    """The definition, word for word: mean over scenarios of the mean over seeds."""
    means = []
    for attribute in ("evacuated", "casualties", "exit_step_total"):
        by_scenario: dict[str, list[Fraction]] = defaultdict(list)
        for slot in schedule.slots:
            value = getattr(row.best[slot.key], attribute)
            by_scenario[slot.key.scenario_hash].append(Fraction(value, slot.population))
        means.append(sum(sum(rates) / len(rates) for rates in by_scenario.values()) / len(by_scenario))
    return -means[0], means[1], means[2]


@given(evaluations())
def test_ranks_follow_the_plain_definition(case: tuple[Schedule, list[EntryRuns]]):
    schedule, entries = case
    rows = entries_rank(schedule, entries)
    ranked = [row for row in rows if row.rank is not None]
    assert rows[: len(ranked)] == ranked, "an entry without a score stands above one with a score"
    keys = [plain_scores(schedule, row) for row in ranked]
    assert keys == sorted(keys)
    assert [row.rank for row in ranked] == [1 + sum(other < key for other in keys) for key in keys]
    for row, key in zip(ranked, keys, strict=True):
        assert row.scores is not None
        assert row.scores.values == (-key[0], key[1], key[2])


@given(evaluations(), st.randoms(use_true_random=False))
def test_the_order_does_not_depend_on_the_order_of_input(case, shuffle):
    schedule, entries = case
    rows = entries_rank(schedule, entries)
    mixed = [
        EntryRuns(entry.key, entry.name, shuffle.sample(list(entry.runs), len(entry.runs)))
        for entry in shuffle.sample(entries, len(entries))
    ]
    assert entries_rank(schedule, mixed) == rows


@given(evaluations())
def test_every_entry_with_a_run_has_one_row(case):
    schedule, entries = case
    rows = entries_rank(schedule, entries)
    assert sorted(row.key for row in rows) == sorted(entry.key for entry in entries if entry.runs)


@given(evaluations())
def test_withdrawing_a_run_that_does_not_count_changes_no_score(case):
    schedule, entries = case
    before = {row.key: (row.rank, row.scores) for row in entries_rank(schedule, entries)}
    kept = []
    for item in entries:
        best = set(map(id, runs_best(item.runs).values()))
        kept.append(EntryRuns(item.key, item.name, [run for run in item.runs if id(run) in best]))
    after = {row.key: (row.rank, row.scores) for row in entries_rank(schedule, kept)}
    assert before == after
