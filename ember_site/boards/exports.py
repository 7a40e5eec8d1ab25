"""A board as JSON and as CSV. Both are made from the rows that the page shows."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import Any

import msgspec

from ember_site.boards.intervals import Interval
from ember_site.boards.models import Evaluation
from ember_site.boards.rows import Board, BoardRow, SlotFacts

_FORMULA_STARTS = tuple("=+-@＝＋－＠\t\r\n")
"""Full-width signs start formulas too, in some spreadsheets."""

CSV_HEAD = (
    "rank",
    "agent",
    "slug",
    "kind",
    "owner",
    "slots_done",
    "slot_count",
    "evacuation_rate",
    "casualty_rate",
    "exit_step",
    "attempts",
    "finished_at",
)


def evaluation_document(evaluation: Evaluation) -> dict[str, Any]:
    """What a program needs to know of an evaluation; never anything of its schedule."""
    return {
        "slug": evaluation.slug,
        "title": evaluation.title,
        "kind": evaluation.kind,
        "state": evaluation.state,
        "suite_id": evaluation.suite.suite_id,
        "suite_version": evaluation.suite.version,
        "suite_hash": evaluation.suite.suite_hash,
        "simulator_version": evaluation.simulator_version,
        "observation_version": evaluation.observation_version,
        "opens_at": _instant(evaluation.opens_at),
        "closes_at": _instant(evaluation.closes_at),
    }


def slots_document(evaluation: Evaluation, slots: Iterable[SlotFacts]) -> list[dict[str, Any]]:
    """The schedule, seeds as decimal strings; empty while it is sealed."""
    if not evaluation.shows_slots:
        return []
    return [
        {
            "position": slot.position,
            "scenario_id": slot.scenario_id,
            "scenario_hash": slot.key.scenario_hash,
            "seed": slot.key.seed,
            "population": slot.population,
        }
        for slot in slots
    ]


def row_document(row: BoardRow, *, with_slots: bool) -> dict[str, Any]:
    """One row. Rates are numbers for display; the `exact` ones are the fractions that rank."""
    scores, intervals = row.entry.scores, row.intervals
    return {
        "rank": row.entry.rank,
        "agent": {
            "name": row.agent.name,
            "slug": row.agent.slug,
            "kind": row.agent.kind,
            "owner": row.agent.owner_name,
        },
        "slots_done": row.entry.slots_done,
        "slot_count": row.entry.slot_count,
        "evacuation_rate": None if scores is None else float(scores.evacuation_rate),
        "casualty_rate": None if scores is None else float(scores.casualty_rate),
        "exit_step": None if scores is None else float(scores.exit_step),
        "exact": None
        if scores is None
        else {
            "evacuation_rate": str(scores.evacuation_rate),
            "casualty_rate": str(scores.casualty_rate),
            "exit_step": str(scores.exit_step),
        },
        "intervals": None
        if intervals is None
        else {
            "evacuation_rate": _interval(intervals.evacuation_rate),
            "casualty_rate": _interval(intervals.casualty_rate),
            "exit_step": _interval(intervals.exit_step),
        },
        "attempts": row.entry.attempt_count,
        "finished_at": _instant(row.entry.finished_at),
        "slots": _slot_documents(row) if with_slots else [],
    }


def board_document(board: Board, rows: Sequence[BoardRow] | None = None) -> dict[str, Any]:
    """The whole answer: evaluation, schedule, counts and `rows`, or those given of them."""
    with_slots = board.evaluation.shows_slots
    return {
        "evaluation": evaluation_document(board.evaluation),
        "slots": slots_document(board.evaluation, board.slots),
        "counts": {kind or "all": count for kind, count in board.counts.items()},
        "rows": [row_document(row, with_slots=with_slots) for row in (board.rows if rows is None else rows)],
    }


def board_json(board: Board) -> bytes:
    """The whole answer as JSON text, one line a value, in UTF-8."""
    return msgspec.json.format(msgspec.json.encode(board_document(board)), indent=1)


def board_csv(board: Board) -> str:
    """
    The rows as CSV (RFC 4180), one column `evacuated NN` for each scenario at the end.

    Text that a spreadsheet could run is preceded by an apostrophe, and so is text that starts
    with one: whoever removes one leading apostrophe has every text as it was.
    """
    text = io.StringIO()
    writer = csv.writer(text, quoting=csv.QUOTE_NONNUMERIC)
    heads = board.scenario_heads if board.evaluation.shows_slots else []
    writer.writerow([*CSV_HEAD, *(f"evacuated {head.number}" for head in heads)])
    for row in board.rows:
        writer.writerow([*_csv_values(row), *(_number(count) for count in row.evacuated if heads)])
    return text.getvalue()


def csv_text(value: str) -> str:
    """Text that no spreadsheet takes for a formula; reversible by removing one leading apostrophe."""
    risky = value.startswith("'") or value.lstrip(" \u00a0").startswith(_FORMULA_STARTS)
    return f"'{value}" if risky else value


def _csv_values(row: BoardRow) -> list[str | int | float]:
    scores = row.entry.scores
    return [
        _number(row.entry.rank),
        csv_text(row.agent.name),
        csv_text(row.agent.slug),
        row.agent.kind,
        csv_text(row.agent.owner_name),
        row.entry.slots_done,
        row.entry.slot_count,
        *(("", "", "") if scores is None else (float(score) for score in scores.values)),
        row.entry.attempt_count,
        _instant(row.entry.finished_at) or "",
    ]


def _number(value: int | None) -> int | str:
    """A number, or nothing."""
    return "" if value is None else value


def _slot_documents(row: BoardRow) -> list[dict[str, Any]]:
    """The counted run of each slot that has one, in the order of the schedule."""
    return [
        {
            "scenario_id": slot.scenario_id,
            "seed": slot.key.seed,
            "run": str(run.run_id),
            "population": slot.population,
            "evacuated": run.evacuated,
            "casualties": run.casualties,
            "exit_step_total": run.exit_step_total,
            "attempts": row.entry.attempts[slot.key],
        }
        for slot in row.course.slots
        if (run := row.entry.best.get(slot.key)) is not None
    ]


def _interval(interval: Interval) -> list[float]:
    return [float(interval.low), float(interval.high)]


def _instant(value: datetime | None) -> str | None:
    return None if value is None else value.isoformat().replace("+00:00", "Z")
