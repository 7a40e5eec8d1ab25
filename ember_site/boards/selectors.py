"""Reads of boards. A board is the same for everybody: it holds what every visitor may see.

Private and unlisted agents and runs are not on it, whoever looks; so ranks, counts and exports
agree between visitors.
"""

from __future__ import annotations

from django.db.models import QuerySet

from ember_site.accounts.visitors import Viewer, is_organiser
from ember_site.boards.models import Evaluation, EvaluationKind, EvaluationState
from ember_site.boards.rows import (
    KINDS,
    Board,
    BoardFilters,
    BoardRow,
    Course,
    rows_filter,
    rows_of_kind,
    rows_sort,
)
from ember_site.boards.standings import evaluation_slots, standings_get
from ember_site.core.errors import NotFound
from ember_site.runs.models import Agent, Run, RunState


def evaluation_list(*, viewer: Viewer) -> QuerySet[Evaluation]:
    """Evaluations that the viewer may see, newest first; drafts are for organisers. Paginate it."""
    evaluations = Evaluation.objects.select_related("suite").order_by("-created_at", "slug")
    if is_organiser(viewer):
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


def evaluation_course(*, evaluation: Evaluation) -> Course:
    """The slots of an evaluation, in order. Not for pages while it is sealed. One query."""
    return Course(evaluation_slots(evaluation=evaluation))


def board_rows(*, evaluation: Evaluation, filters: BoardFilters | None = None) -> Board:
    """
    The board of an evaluation: every matching row in the order asked for. Two queries, whatever its size.

    Ranks are those of the whole evaluation; filters hide rows and change no rank.
    """
    filters = filters or BoardFilters()
    standings = standings_get(evaluation=evaluation)
    rows, counts = standings.rows, standings.counts
    if filters.search or filters.complete is not None:
        rows = rows_filter(rows, filters)
        counts = {kind: len(rows_of_kind(rows, kind)) for kind in ("", *KINDS)}
    if filters.kind:
        rows = rows_of_kind(rows, filters.kind)
    if filters.sort != "rank":
        rows = rows_sort(rows, filters.sort)
    return Board(
        evaluation=evaluation,
        course=standings.course,
        filters=filters,
        rows=rows,
        counts=counts,
        ranked=standings.ranked,
        entry_count=len(standings.rows),
    )


def entries_of_agent(*, agent: Agent, viewer: Viewer) -> list[tuple[Evaluation, BoardRow]]:
    """The agent's rows on the boards where it stands, newest evaluation first."""
    found: list[tuple[Evaluation, BoardRow]] = []
    for evaluation in evaluation_list(viewer=viewer).filter(pk__in=_evaluations_met(agent)):
        row = standings_get(evaluation=evaluation).by_agent.get(agent.pk)
        if row is not None:
            found.append((evaluation, row))
    return found


def _evaluations_met(agent: Agent) -> QuerySet[Evaluation, int]:
    """Evaluations with a scenario that the agent has run."""
    scenarios = Run.objects.filter(agent=agent, state=RunState.VERIFIED).values("scenario_id")
    return Evaluation.objects.filter(slots__scenario__in=scenarios).values_list("pk", flat=True)
