"""Reads of runs beside scenarios: the standings of one scenario and two figures for each card of a suite."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from django.db.models import Count, Max, Q, Window
from django.db.models.functions import RowNumber

from ember_site.accounts.visitors import Viewer
from ember_site.boards.ranking import (
    MERIT_ORDER,
    EntryRuns,
    RunScore,
    Schedule,
    SlotKey,
    SlotSpec,
    entries_rank,
)
from ember_site.catalog.models import Scenario
from ember_site.catalog.scenario_cache import scenario_load
from ember_site.runs.models import AgentKind, Run
from ember_site.runs.selectors import runs_for_slots

STANDINGS = 10
"""Rows of the table of best runs."""

GREEDY = "greedy"


@dataclass(frozen=True)
class Standing:
    """One agent's best run on a scenario."""

    rank: int
    run: Run
    attempts: int


@dataclass(frozen=True)
class CardFigures:
    """People evacuated by the greedy baseline and by the best run; None where there is no run."""

    greedy: int | None
    best: int | None


def scenario_slot(scenario: Scenario) -> SlotKey:
    """The scenario with the public seed of its file."""
    return SlotKey(scenario.content_hash, str(scenario_load(scenario.content_hash).seed))


def scenario_standings(scenario: Scenario, *, viewer: Viewer) -> list[Standing]:
    """
    The best run of each of the ten best agents with the public seed, in ranking order. One query.

    The database only picks the runs, in the words that it has for the order of the ranking; ranks are
    given by `entries_rank`, like everywhere.
    """
    slot = scenario_slot(scenario)
    preference = (*MERIT_ORDER, "created_at")
    best = (
        runs_for_slots(slots=[slot], viewer=viewer)
        .annotate(
            number=Window(RowNumber(), partition_by="agent_id", order_by=[*preference, "pk"]),
            attempts=Window(Count("pk"), partition_by="agent_id"),
        )
        .filter(number=1)
        .order_by(*preference, "agent__name", "pk")[:STANDINGS]
    )
    runs = {run.pk: run for run in best}
    entries = [EntryRuns(key=run.pk, name=str(run.agent), runs=[_score(run)]) for run in runs.values()]
    ranked = entries_rank(Schedule([SlotSpec(slot, scenario.population)]), entries)
    return [Standing(row.rank or 0, runs[row.key], runs[row.key].attempts) for row in ranked]  # type: ignore[index]


def card_figures(scenarios: Iterable[Scenario], *, viewer: Viewer) -> dict[str, CardFigures]:
    """Greedy's and the best result on each scenario with its public seed, by content hash. One query."""
    slots = [scenario_slot(scenario) for scenario in scenarios]
    greedy = Q(agent__kind=AgentKind.BASELINE, agent__name=GREEDY)
    counts = (
        runs_for_slots(slots=slots, viewer=viewer)
        .order_by()
        .values_list("scenario_hash")
        .annotate(greedy=Max("evacuated", filter=greedy), best=Max("evacuated"))
    )
    figures = {scenario_hash: CardFigures(*best) for scenario_hash, *best in counts}
    return {slot.scenario_hash: figures.get(slot.scenario_hash, CardFigures(None, None)) for slot in slots}


def _score(run: Run) -> RunScore:
    metrics = run.metrics
    assert metrics is not None  # a counted run is verified
    return RunScore(
        run_id=run.pk,
        slot=SlotKey(run.scenario_hash, run.seed),
        evacuated=metrics.evacuated,
        casualties=metrics.casualties,
        exit_step_total=metrics.exit_step_total,
        finished_at=run.created_at,
    )
