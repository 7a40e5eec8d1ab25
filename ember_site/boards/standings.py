"""
The standings of an evaluation: read once, kept in the memory of the process, always up to date.

A board of ten thousand entries takes seconds to read and rank. So a process keeps the ranked rows, and
each request asks the database what changed since (`boards.changes`, one query). Where nothing did, the
kept rows are the answer; otherwise the runs of the agents concerned are read again, and all are ranked
anew with the same pure function. Nothing is kept that a rollback could take back, and nothing at all
where the database does not note its changes.
"""

from __future__ import annotations

import logging
from collections import OrderedDict
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from threading import Lock
from typing import Any

from django.db import connection

from ember_site.boards.changes import changes_since, changes_watched
from ember_site.boards.models import Evaluation
from ember_site.boards.ranking import EntryRuns, RankedEntry, RunScore, SlotKey, entry_row, rows_rank
from ember_site.boards.rows import KINDS, AgentFacts, BoardRow, Course, SlotFacts, rows_of_kind
from ember_site.core import clock
from ember_site.runs.selectors import runs_for_slots, runs_reveal_at

logger = logging.getLogger(__name__)

KEPT_BOARDS = 8
"""About 60 MB each at ten thousand entries of ten slots."""

REFRESHED_AGENTS = 500
"""With more agents changed than this the whole board is read again."""

_AGENT_VALUES = ("agent__slug", "agent__name", "agent__kind")
_OWNER_VALUES = ("agent__owner__display_name", "agent__owner__username")
_RUN_VALUES = ("pk", "scenario_id", "seed", "evacuated", "casualties", "exit_step_total", "created_at")


@dataclass(frozen=True)
class Standings:
    """Every entry of an evaluation in the order of the ranking. Shared between requests: change nothing."""

    course: Course
    rows: Sequence[BoardRow]
    ranked: Sequence[BoardRow]
    """The complete entries."""
    counts: Mapping[str, int]
    """Rows of each kind; the empty kind counts all."""
    by_agent: Mapping[Hashable, BoardRow]


@dataclass
class _Kept:
    """What a process knows of one evaluation."""

    lock: Lock = field(default_factory=Lock)
    standings: Standings | None = None
    since: int = 0
    seen: frozenset[int] = frozenset()
    reveal_at: datetime | None = None
    agents: dict[int, AgentFacts] = field(default_factory=dict)
    entries: dict[int, RankedEntry] = field(default_factory=dict)


_kept: OrderedDict[Hashable, _Kept] = OrderedDict()
_kept_lock = Lock()


def standings_get(*, evaluation: Evaluation) -> Standings:
    """The standings as they are now. Two queries where nothing changed, at most six otherwise."""
    slots = evaluation_slots(evaluation=evaluation)
    if connection.in_atomic_block:  # what is seen here may never come true
        course = Course(slots)
        agents, entries = _entries(evaluation, course, None)
        return _standings(course, agents, entries.values())
    kept = _kept_of(evaluation)
    with kept.lock:
        return _up_to_date(kept, evaluation, slots)


def standings_forget() -> None:
    """Forget every board, as in a fresh process."""
    with _kept_lock:
        _kept.clear()


def _kept_of(evaluation: Evaluation) -> _Kept:
    """What is kept of the evaluation; the boards asked for least recently are forgotten."""
    key = (
        connection.settings_dict["NAME"], evaluation.pk,
        evaluation.simulator_version, evaluation.observation_version,
    )  # fmt: skip
    with _kept_lock:
        kept = _kept.setdefault(key, _Kept())
        _kept.move_to_end(key)
        while len(_kept) > KEPT_BOARDS:
            _kept.popitem(last=False)
    return kept


def _up_to_date(kept: _Kept, evaluation: Evaluation, slots: tuple[SlotFacts, ...]) -> Standings:
    known = (
        kept.standings is not None
        and kept.standings.course.slots == slots
        and (kept.reveal_at is None or clock.now() < kept.reveal_at)
    )
    changes = changes_since(kept.since if known else None)
    known = known and changes.whole
    news = {agent for note, agent in changes.agents.items() if note not in kept.seen}
    if kept.standings is not None and known and not news:
        kept.since, kept.seen = changes.since, frozenset(changes.agents)
        return kept.standings
    changed = news if known and len(news) <= REFRESHED_AGENTS else None
    course = kept.standings.course if kept.standings is not None and known else Course(slots)
    reveal_at = runs_reveal_at(slots=course.schedule.keys)
    agents, entries = _entries(evaluation, course, changed)
    if changed is not None:
        agents = {key: facts for key, facts in kept.agents.items() if key not in changed} | agents
        entries = {key: entry for key, entry in kept.entries.items() if key not in changed} | entries
    standings = _standings(course, agents, entries.values())
    if changed is None and not changes_watched():
        logger.warning("The database does not note changes of boards; run `migrate`. Nothing is kept.")
        return standings
    kept.agents, kept.entries, kept.standings = agents, entries, standings
    kept.since, kept.seen, kept.reveal_at = changes.since, frozenset(changes.agents), reveal_at
    return standings


def _standings(course: Course, agents: Mapping[int, AgentFacts], entries: Iterable[RankedEntry]) -> Standings:
    rows = [BoardRow(entry, agents[entry.key], course) for entry in rows_rank(entries)]  # type: ignore[index]
    return Standings(
        course=course,
        rows=rows,
        ranked=[row for row in rows if row.entry.complete],
        counts={kind: len(rows_of_kind(rows, kind)) for kind in ("", *KINDS)},
        by_agent={row.entry.key: row for row in rows},
    )


def evaluation_slots(*, evaluation: Evaluation) -> tuple[SlotFacts, ...]:
    """The schedule with its scenarios, in order. One query."""
    values = evaluation.slots.order_by("position").values_list(
        "scenario_id", "seed", "position", "scenario__scenario_id", "scenario__population"
    )
    slots: list[SlotFacts] = []
    numbers: dict[str, str] = {}
    for scenario_hash, seed, position, scenario_id, population in values:
        number = numbers.setdefault(scenario_hash, f"{len(numbers) + 1:02d}")
        slots.append(SlotFacts(SlotKey(scenario_hash, seed), position, number, scenario_id, population))
    return tuple(slots)


def _entries(
    evaluation: Evaluation, course: Course, agent_ids: Iterable[int] | None
) -> tuple[dict[int, AgentFacts], dict[int, RankedEntry]]:
    """Agents with their rows, still without ranks: of all agents or of the given ones. One query."""
    runs = runs_for_slots(
        slots=course.schedule.keys, agent_ids=None if agent_ids is None else sorted(agent_ids)
    ).filter(
        simulator_version=evaluation.simulator_version, observation_version=evaluation.observation_version
    )
    agents: dict[int, AgentFacts] = {}
    scores: dict[int, list[RunScore]] = {}
    values = runs.order_by().values_list("agent_id", *_RUN_VALUES, *_AGENT_VALUES, *_OWNER_VALUES)
    for agent_id, run_id, scenario_hash, seed, evacuated, casualties, exit_steps, made_at, *facts in values:
        key = SlotKey(scenario_hash, seed)
        score = RunScore(run_id, key, evacuated, casualties, exit_steps, made_at)
        if agent_id in scores:
            scores[agent_id].append(score)
        else:
            scores[agent_id] = [score]
            agents[agent_id] = _facts(*facts)
    rows = {
        agent_id: entry_row(course.schedule, EntryRuns(agent_id, agents[agent_id].name, own))
        for agent_id, own in scores.items()
    }
    return agents, {agent_id: row for agent_id, row in rows.items() if row is not None}


def _facts(slug: Any, name: Any, kind: Any, display_name: Any, username: Any) -> AgentFacts:
    return AgentFacts(slug, name, kind, display_name or username or "")
