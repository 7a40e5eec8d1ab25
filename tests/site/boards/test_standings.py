"""Kept boards are always those that a fresh reading would give, whoever changes what and however."""

from __future__ import annotations

import random
import threading
import uuid
from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from django.db import connection, connections, transaction
from django.test.utils import CaptureQueriesContext

from ember_site.accounts.models import User
from ember_site.boards import changes, standings
from ember_site.boards.models import Change, Evaluation, Slot
from ember_site.boards.standings import standings_forget, standings_get
from ember_site.core import clock
from ember_site.runs.models import Agent, Run, RunState
from ember_site.runs.services import run_withdraw
from tests.patience import PATIENCE_S
from tests.site.boards.crowded import board_fill

pytestmark = pytest.mark.django_db(transaction=True)

FAR = timedelta(days=3650)


@pytest.fixture(autouse=True)
def _forget() -> None:
    standings_forget()


def table(evaluation: Evaluation) -> list[tuple[Any, ...]]:
    """What the board shows, as comparable values."""
    return [
        (row.entry.rank, row.agent, row.entry.scores, row.entry.attempts, row.entry.finished_at,
         sorted(str(run.run_id) for run in row.entry.best.values()))
        for row in standings_get(evaluation=evaluation).rows
    ]  # fmt: skip


def fresh(evaluation: Evaluation) -> list[tuple[Any, ...]]:
    """The same, read from the start: in a transaction nothing is kept."""
    with transaction.atomic():
        return table(evaluation)


@pytest.fixture
def board(evaluation: Evaluation) -> Evaluation:
    """
    Twelve entries, all complete, kept in memory.

    One note is older than every transaction, as on a site that has been up for long: else a transaction that
    others have open on the same PostgreSQL may stand before all notes, and the board is read once more.
    """
    Change.objects.create(agent_id=0, mark=0)
    board_fill(evaluation, entries=12, owners=3)
    assert table(evaluation) == fresh(evaluation)
    return evaluation


def _spare_run(run: Run, **fields: Any) -> Run:
    """A further run like the given one, not saved."""
    values = {field.attname: getattr(run, field.attname) for field in Run._meta.concrete_fields}
    return Run(**values | {"id": uuid.uuid4(), "digest": uuid.uuid4().hex * 2} | fields)


def _flip(run: Run) -> None:
    with transaction.atomic():
        Run.objects.filter(pk=run.pk).update(state=RunState.REJECTED, code="replay_mismatch")


CHANGES: dict[str, Callable[[Run], object]] = {
    "a verdict flips": _flip,
    "a run is withdrawn": lambda run: run_withdraw(viewer=run.agent.owner, run=run),
    "a run is put back": lambda run: Run.objects.filter(pk=run.pk).update(state=RunState.QUEUED),
    "a run becomes private": lambda run: Run.objects.filter(pk=run.pk).update(visibility="private"),
    "a run is hidden": lambda run: Run.objects.filter(pk=run.pk).update(hidden_until=clock.now() + FAR),
    "a run is no longer ranked": lambda run: Run.objects.filter(pk=run.pk).update(ranked=False),
    "a score changes": lambda run: Run.objects.filter(pk=run.pk).update(evacuated=0, casualties=1),
    "an exit step changes": lambda run: Run.objects.filter(pk=run.pk).update(exit_step_total=1),
    "a run is deleted": lambda run: run.delete(),
    "runs are deleted in bulk": lambda run: Run.objects.filter(agent=run.agent)._raw_delete("default"),
    "a run changes hands": lambda run: Run.objects.filter(pk=run.pk).update(
        agent=Agent.objects.exclude(pk=run.agent_id).first()
    ),
    "a better run comes": lambda run: _spare_run(run, evacuated=run.population, exit_step_total=0).save(),
    "runs come in bulk": lambda run: Run.objects.bulk_create([_spare_run(run), _spare_run(run)]),
    "an agent becomes unlisted": lambda run: Agent.objects.filter(pk=run.agent_id).update(
        visibility="unlisted"
    ),
    "an agent is renamed": lambda run: Agent.objects.filter(pk=run.agent_id).update(name="Renamed"),
    "an agent is deleted": lambda run: run.agent.delete(),
    "an owner is renamed": lambda run: User.objects.filter(pk=run.agent.owner_id).update(display_name="Ada"),
    "an account is deleted": lambda run: run.agent.owner.delete(),
    "plain SQL": lambda run: connection.cursor().execute("UPDATE runs_run SET casualties = casualties + 1"),
}


@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES.keys())
def test_every_change_is_on_the_board_at_once(change: Callable[[Run], object], board: Evaluation):
    before = table(board)
    change(Run.objects.select_related("agent__owner").order_by("created_at", "seed", "pk").first())
    assert table(board) == fresh(board) != before


def test_what_changes_no_board_costs_nothing(board: Evaluation):
    held = standings_get(evaluation=board)
    Agent.objects.update(note="new")
    User.objects.update(last_login=clock.now(), email="a@example.org")
    Run.objects.update(message="other words", verified_at=clock.now())
    queued = _spare_run(Run.objects.first(), state=RunState.QUEUED)
    queued.save()
    queued.delete()
    assert not Change.objects.filter(pk__gt=Change.objects.latest("pk").pk).exists()
    with CaptureQueriesContext(connection) as captured:
        assert standings_get(evaluation=board) is held
    assert len(captured) == 2


NOTES: dict[str, tuple[dict[str, Any], dict[str, Any], int]] = {
    "another score": ({}, {"evacuated": 0, "casualties": 1}, 1),
    "a verdict comes": ({"state": RunState.RUNNING}, {"state": RunState.VERIFIED}, 1),
    "a verdict goes": ({}, {"state": RunState.QUEUED}, 1),
    "another agent": ({}, {"agent": "other"}, 2),
    "an agent comes": ({"agent": None}, {"agent": "other"}, 1),
    "an agent goes": ({}, {"agent": None}, 1),
    "nothing that counts": ({}, {"message": "other words"}, 0),
    "the same once more": ({}, {"ranked": True}, 0),
}
"""What a run is at first, apart from verified and with an agent, what becomes of it, and the notes of it."""


@pytest.mark.parametrize(("at_first", "update", "count"), NOTES.values(), ids=NOTES.keys())
def test_a_change_leaves_one_note_for_each_agent_that_it_concerns(
    at_first: dict[str, Any], update: dict[str, Any], count: int, board: Evaluation
):
    run = Run.objects.exclude(agent=None).order_by("pk")[0]
    other = Agent.objects.exclude(pk=run.agent_id).order_by("pk")[0]
    changed = Run.objects.filter(pk=run.pk)
    changed.update(**at_first)
    last = Change.objects.latest("pk").pk
    changed.update(**{field: other if value == "other" else value for field, value in update.items()})
    noted = list(Change.objects.filter(pk__gt=last).values_list("agent_id", flat=True))
    assert len(noted) == len(set(noted)) == count
    assert set(noted) <= {run.agent_id, other.pk}


def test_a_transaction_that_stays_open_elsewhere_costs_no_readings(evaluation: Evaluation, monkeypatch):
    """On PostgreSQL it is older than all notes here, so that each look starts from before them."""
    read: list[object] = []
    real = standings._entries
    elsewhere = connection.copy()
    with elsewhere.cursor() as cursor:
        cursor.execute("BEGIN")
        cursor.execute("SELECT txid_current()" if connection.vendor == "postgresql" else "SELECT 1")
        board_fill(evaluation, entries=12, owners=3)
        held = standings_get(evaluation=evaluation)
        monkeypatch.setattr(standings, "_entries", lambda *given: read.append(given[2]) or real(*given))
        assert standings_get(evaluation=evaluation) is held
        run = Run.objects.exclude(agent=None).order_by("pk")[0]
        Run.objects.filter(pk=run.pk).update(evacuated=0, casualties=1)
        changed = table(evaluation)
        assert table(evaluation) == changed
        cursor.execute("COMMIT")
    elsewhere.close()
    assert read == [{run.agent_id}]
    assert changed == fresh(evaluation)


def test_one_change_reads_one_agent_again(board: Evaluation, monkeypatch):
    ranked = []
    real = standings.entry_row
    monkeypatch.setattr(
        standings, "entry_row", lambda course, entry: ranked.append(entry.key) or real(course, entry)
    )
    run = Run.objects.first()
    Run.objects.filter(pk=run.pk).update(evacuated=0)
    with CaptureQueriesContext(connection) as captured:
        table(board)
    assert ranked == [run.agent_id]
    assert len(captured) == 4
    assert table(board) == fresh(board)


def test_a_change_that_is_rolled_back_never_was(board: Evaluation):
    before = table(board)
    with transaction.atomic():
        Run.objects.all().update(ranked=False)
        assert table(board) == []
        transaction.set_rollback(True)
    assert table(board) == fresh(board) == before


def test_a_hidden_run_counts_from_its_instant_on_without_any_write(board: Evaluation, monkeypatch):
    now = clock.now()
    run = Run.objects.select_related("agent").first()
    Run.objects.filter(pk=run.pk).update(hidden_until=now + timedelta(hours=1))
    hidden = table(board)
    monkeypatch.setattr(clock, "now", lambda: now + timedelta(hours=1, seconds=1))
    assert table(board) == fresh(board) != hidden


def test_another_schedule_is_another_board(board: Evaluation):
    assert {row[0] is None for row in table(board)} == {False}
    Slot.objects.filter(evaluation=board, position=3).update(seed="12345")
    assert table(board) == fresh(board)
    assert {row[0] for row in table(board)} == {None}


def test_many_changes_read_the_whole_board_again(board: Evaluation, monkeypatch):
    monkeypatch.setattr(standings, "REFRESHED_AGENTS", 3)
    Run.objects.update(exit_step_total=7)
    assert table(board) == fresh(board)


def test_without_the_triggers_nothing_is_kept(board: Evaluation):
    name, (where, _) = next(iter(changes._TRIGGERS[connection.vendor].items()))
    on_table = f" ON {where}" if connection.vendor == "postgresql" else ""
    standings_forget()
    with connection.cursor() as cursor:
        cursor.execute(f"DROP TRIGGER {name}{on_table}")
    try:
        table(board)
        _spare_run(Run.objects.first(), evacuated=0).save()
        assert table(board) == fresh(board)
    finally:
        changes.changes_watch()
    assert changes.changes_watched()


def test_a_long_random_history_never_parts_from_the_truth(board: Evaluation, monkeypatch):
    draw = random.Random(11)
    monkeypatch.setattr(changes, "KEPT_NOTES", 6)
    for _ in range(120):
        if draw.random() < 0.4:
            changes.changes_prune()
        runs = list(Run.objects.select_related("agent__owner").order_by("pk")[:40])
        with transaction.atomic():
            for run in draw.sample(runs, draw.randint(1, 3)):
                number = draw.randrange(6)
                if number == 0:
                    Run.objects.filter(pk=run.pk).update(state=draw.choice(["verified", "rejected"]))
                elif number == 1:
                    Run.objects.filter(pk=run.pk).update(evacuated=draw.randrange(run.population + 1))
                elif number == 2:
                    _spare_run(run, evacuated=draw.randrange(run.population + 1)).save()
                elif number == 3:
                    Agent.objects.filter(pk=run.agent_id).update(
                        visibility=draw.choice(["public", "public", "private"])
                    )
                elif number == 4:
                    User.objects.filter(pk=run.agent.owner_id).update(display_name=f"N{draw.random()}")
                else:
                    Run.objects.filter(pk=run.pk).update(ranked=draw.random() < 0.8)
        if draw.random() < 0.6:
            assert table(board) == fresh(board)
    assert table(board) == fresh(board)


def test_no_change_is_missed_whatever_the_order_of_commits(board: Evaluation):
    """On PostgreSQL the transaction that wrote first commits last; on SQLite there is only one writer."""
    overlap = connection.vendor == "postgresql"
    first, second = Run.objects.exclude(agent=None).order_by("pk")[:2]
    written, may_commit = threading.Event(), threading.Event()

    def slow() -> None:
        try:
            with transaction.atomic():
                Run.objects.filter(pk=first.pk).update(evacuated=0, casualties=0)
                written.set()
                assert not overlap or may_commit.wait(PATIENCE_S)
        finally:
            connections.close_all()

    thread = threading.Thread(target=slow)
    thread.start()
    assert written.wait(PATIENCE_S)
    if not overlap:
        thread.join()
    Run.objects.filter(pk=second.pk).update(evacuated=0, casualties=0)
    assert table(board) == fresh(board)
    may_commit.set()
    thread.join()
    assert table(board) == fresh(board)


def test_threads_that_ask_at_once_get_one_reading(board: Evaluation, monkeypatch):
    standings_forget()
    readings = []
    real = standings._entries
    monkeypatch.setattr(standings, "_entries", lambda *given: readings.append(1) or real(*given))
    found: list[int] = []
    gate = threading.Barrier(8)

    def ask() -> None:
        gate.wait(timeout=PATIENCE_S)
        try:
            found.append(len(standings_get(evaluation=board).rows))
        finally:
            connections.close_all()

    threads = [threading.Thread(target=ask) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == [12] * 8
    assert len(readings) == 1
