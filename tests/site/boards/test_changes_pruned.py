"""Old notes of changes go, and no board is ever wrong for it: not that of a reader who was away for long."""

from __future__ import annotations

import threading
from collections.abc import Callable

import pytest
from django.db import connection, connections, transaction

from ember_site.boards import changes, standings
from ember_site.boards.models import Change, Evaluation
from ember_site.boards.standings import standings_forget
from ember_site.runs.models import Run
from ember_site.runs.signals import queue_swept
from ember_site.runs.tasks import sweep_queue
from tests.patience import PATIENCE_S, wait_until
from tests.site.boards.crowded import board_fill
from tests.site.boards.test_standings import fresh, table

pytestmark = pytest.mark.django_db(transaction=True)

KEPT = 6


@pytest.fixture
def board(evaluation: Evaluation, monkeypatch) -> Evaluation:
    """Twelve entries kept in memory, where all but six notes are pruned."""
    monkeypatch.setattr(changes, "KEPT_NOTES", KEPT)
    standings_forget()
    board_fill(evaluation, entries=12, owners=3)
    assert table(evaluation) == fresh(evaluation)
    return evaluation


@pytest.fixture
def readings(monkeypatch) -> list[object]:
    """What was read again: a collection of agents, or None for a whole board."""
    found: list[object] = []
    real = standings._entries

    def noted(evaluation, course, agent_ids):
        if not connection.in_atomic_block:
            found.append(agent_ids)
        return real(evaluation, course, agent_ids)

    monkeypatch.setattr(standings, "_entries", noted)
    return found


def change(run: Run) -> None:
    """Another score, and so another note."""
    run.evacuated, run.exit_step_total = 0, (run.exit_step_total or 0) + 1
    run.save(update_fields=["evacuated", "exit_step_total"])


def runs(count: int) -> list[Run]:
    return list(Run.objects.exclude(agent=None).order_by("pk")[:count])


def until_pruned(prune: Callable[[], object]) -> None:
    """
    Prune until the newest notes alone are left.

    On PostgreSQL whoever has a transaction open on the same server, in whatever database, delays it.
    """

    def pruned() -> bool:
        prune()
        return Change.objects.count() == KEPT

    wait_until(pruned, "the old notes to go", pause_s=0.2)


def test_the_newest_notes_stay(board: Evaluation):
    for run in runs(12):
        change(run)
    newest = list(Change.objects.order_by("-pk").values_list("pk", flat=True)[:KEPT])
    until_pruned(changes.changes_prune)
    assert list(Change.objects.order_by("-pk").values_list("pk", flat=True)) == newest
    assert changes.changes_prune() == 0


def test_a_reader_in_step_reads_no_more_than_what_changed(board: Evaluation, readings: list[object]):
    for run in runs(12):
        change(run)
        assert table(board) == fresh(board)
        changes.changes_prune()
        assert table(board) == fresh(board)
    assert readings == [{run.agent_id} for run in runs(12)]


def test_a_reader_who_was_away_reads_the_whole_board_again(board: Evaluation, readings: list[object]):
    for run in runs(12):
        change(run)
    until_pruned(changes.changes_prune)
    assert table(board) == fresh(board)
    assert readings == [None]
    change(runs(1)[0])
    assert table(board) == fresh(board)
    assert readings == [None, {runs(1)[0].agent_id}]


def test_a_note_that_comes_late_hides_no_gap(board: Evaluation):
    """On PostgreSQL a transaction begins before the others and commits after the pruning."""
    overlap = connection.vendor == "postgresql"
    first, *others = runs(12)
    written, may_commit = threading.Event(), threading.Event()

    def slow() -> None:
        try:
            with transaction.atomic():
                change(first)
                written.set()
                assert not overlap or may_commit.wait(PATIENCE_S)
        finally:
            connections.close_all()

    thread = threading.Thread(target=slow)
    thread.start()
    assert written.wait(PATIENCE_S)
    if not overlap:
        thread.join()
    for run in others:
        change(run)
    changes.changes_prune()
    may_commit.set()
    thread.join()
    assert table(board) == fresh(board)
    changes.changes_prune()
    change(others[0])
    assert table(board) == fresh(board)


def test_the_workers_sweep_prunes_and_a_fault_there_stops_no_sweep(board: Evaluation, monkeypatch):
    for run in runs(12):
        change(run)
    until_pruned(sweep_queue.call)

    def broken(**_: object) -> None:
        raise RuntimeError("a tidier fails")

    queue_swept.connect(broken)
    try:
        change(runs(1)[0])
        until_pruned(sweep_queue.call)
    finally:
        queue_swept.disconnect(broken)
