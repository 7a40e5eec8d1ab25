"""Reads of boards. A board is the same for everybody: it holds what every visitor may see.

Private and unlisted agents and runs are not on it, whoever looks; so ranks, counts and exports
agree between visitors.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable

from django.db.models import QuerySet

from ember_site.boards.models import Evaluation, EvaluationKind, EvaluationState
from ember_site.boards.ranking import (
    EntryRuns,
    RunScore,
    Schedule,
    SlotKey,
    SlotSpec,
    entries_rank,
)
from ember_site.boards.rows import (
    KINDS,
    RUN_VALUES,
    AgentFacts,
    Board,
    BoardFilters,
    BoardRow,
    SlotFacts,
    rows_filter,
    rows_of_kind,
    rows_sort,
    run_score,
)
from ember_site.catalog.selectors import Viewer
from ember_site.core.errors import NotFound
from ember_site.runs.models import Agent, Run, RunState
from ember_site.runs.selectors import runs_for_slots

_AGENT_VALUES = ("agent_id", "agent__slug", "agent__name", "agent__kind")
_OWNER_VALUES = ("agent__owner__display_name", "agent__owner__username")


def evaluation_list(*, viewer: Viewer) -> QuerySet[Evaluation]:
    """Evaluations that the viewer may see, newest first; drafts are for organisers. Paginate it."""
    evaluations = Evaluation.objects.select_related("suite").order_by("-created_at", "slug")
    if getattr(viewer, "is_organiser", False):
        return evaluations
    return evaluations.exclude(state=EvaluationState.DRAFT)


def evaluation_get(*, viewer: Viewer, slug: str) -> Evaluation:
    """One evaluation with its suite.

    Raises:
        NotFound: there is none, or the viewer may not see it.
    """
    evaluation = evaluation_list(viewer=viewer).filter(slug=slug).first()
    if evaluation is None:
        raise NotFound(f"No board {slug} is known here.")
    return evaluation


def evaluation_main(*, viewer: Viewer) -> Evaluation | None:
    """The board that the site puts first: the newest open evaluation that is not closed."""
    return evaluation_list(viewer=viewer).filter(kind=EvaluationKind.OPEN, state=EvaluationState.OPEN).first()


def board_rows(*, evaluation: Evaluation, filters: BoardFilters | None = None) -> Board:
    """
    The board of an evaluation: every matching row in the order asked for. Two queries, whatever its size.

    Ranks are those of the whole evaluation; filters hide rows and change no rank.
    """
    filters = filters or BoardFilters()
    slots = _slots(evaluation)
    schedule = Schedule(SlotSpec(slot.key, slot.population) for slot in slots)
    agents, entries = _entries(evaluation, schedule)
    ranked = entries_rank(schedule, entries)
    rows = [BoardRow(entry, agents[entry.key], schedule, slots) for entry in ranked]
    matching = rows_filter(rows, filters)
    counts = {kind: len(rows_of_kind(matching, kind)) for kind in ("", *KINDS)}
    return Board(
        evaluation=evaluation,
        schedule=schedule,
        slots=slots,
        filters=filters,
        rows=rows_sort(rows_of_kind(matching, filters.kind), filters.sort),
        counts=counts,
        ranked=[row for row in rows if row.entry.complete],
        entry_count=len(rows),
    )


def entries_of_agent(*, agent: Agent, viewer: Viewer) -> list[tuple[Evaluation, BoardRow]]:
    """The agent's rows on the boards where it stands, newest evaluation first."""
    found: list[tuple[Evaluation, BoardRow]] = []
    for evaluation in evaluation_list(viewer=viewer).filter(pk__in=_evaluations_met(agent)):
        row = next((row for row in board_rows(evaluation=evaluation).rows if row.entry.key == agent.pk), None)
        if row is not None:
            found.append((evaluation, row))
    return found


def _evaluations_met(agent: Agent) -> QuerySet[Evaluation, int]:
    """Evaluations with a scenario that the agent has run."""
    scenarios = Run.objects.filter(agent=agent, state=RunState.VERIFIED).values("scenario_id")
    return Evaluation.objects.filter(slots__scenario__in=scenarios).values_list("pk", flat=True)


def _slots(evaluation: Evaluation) -> list[SlotFacts]:
    """The schedule with its scenarios, in order. One query."""
    values = evaluation.slots.order_by("position").values_list(
        "scenario_id", "seed", "position", "scenario__scenario_id", "scenario__population"
    )
    slots: list[SlotFacts] = []
    numbers: dict[str, str] = {}
    for scenario_hash, seed, position, scenario_id, population in values:
        number = numbers.setdefault(scenario_hash, f"{len(numbers) + 1:02d}")
        slots.append(SlotFacts(SlotKey(scenario_hash, seed), position, number, scenario_id, population))
    return slots


def _entries(
    evaluation: Evaluation, schedule: Schedule
) -> tuple[dict[Hashable, AgentFacts], Iterable[EntryRuns]]:
    """Agents and their runs that may count, read in one query."""
    runs = runs_for_slots(slots=schedule.keys).filter(
        simulator_version=evaluation.simulator_version,
        observation_version=evaluation.observation_version,
    )
    agents: dict[Hashable, AgentFacts] = {}
    scores: dict[int, list[RunScore]] = {}
    for agent_id, slug, name, kind, display_name, username, *values in runs.order_by().values_list(
        *_AGENT_VALUES, *_OWNER_VALUES, *RUN_VALUES
    ):
        agents.setdefault(agent_id, AgentFacts(slug, name, kind, display_name or username or ""))
        scores.setdefault(agent_id, []).append(run_score(tuple(values)))
    return agents, [EntryRuns(agent_id, agents[agent_id].name, runs) for agent_id, runs in scores.items()]
