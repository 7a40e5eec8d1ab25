"""Runs beside scenarios: the standings of one scenario and two figures for each card of a suite."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass

from django.contrib.auth.models import AnonymousUser

from ember_site.accounts.models import User
from ember_site.boards.ranking import (
    EntryRuns,
    RunScore,
    Schedule,
    SlotKey,
    SlotSpec,
    entries_rank,
    runs_best,
)
from ember_site.catalog.models import Scenario
from ember_site.catalog.scenario_cache import scenario_load
from ember_site.runs.models import AgentKind, Run
from ember_site.runs.selectors.runs import runs_for_slots

Viewer = User | AnonymousUser

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
    """The best run of each agent with the public seed, in ranking order. One query."""
    slot = scenario_slot(scenario)
    runs = {run.pk: run for run in runs_for_slots(slots=[slot], viewer=viewer)}
    by_agent: dict[int, list[Run]] = defaultdict(list)
    for run in runs.values():
        if run.agent is not None:
            by_agent[run.agent.pk].append(run)
    entries = [
        EntryRuns(key=agent, name=str(own[0].agent), runs=[_score(run) for run in own])
        for agent, own in by_agent.items()
    ]
    ranked = entries_rank(Schedule([SlotSpec(slot, scenario.population)]), entries)
    return [
        Standing(row.rank or 0, runs[row.best[slot].run_id], row.attempt_count)  # type: ignore[index]
        for row in ranked[:STANDINGS]
    ]


def card_figures(scenarios: Iterable[Scenario], *, viewer: Viewer) -> dict[str, CardFigures]:
    """Greedy's and the best result on each scenario with its public seed, by content hash. One query."""
    slots = [scenario_slot(scenario) for scenario in scenarios]
    runs = list(runs_for_slots(slots=slots, viewer=viewer))
    best = runs_best(_score(run) for run in runs)
    greedy = runs_best(
        _score(run)
        for run in runs
        if run.agent is not None and run.agent.kind == AgentKind.BASELINE and run.agent.name == GREEDY
    )
    return {
        slot.scenario_hash: CardFigures(
            greedy=greedy[slot].evacuated if slot in greedy else None,
            best=best[slot].evacuated if slot in best else None,
        )
        for slot in slots
    }


def _score(run: Run) -> RunScore:
    # A counted run is verified, so its metrics are there (a constraint of the table).
    assert run.evacuated is not None
    assert run.casualties is not None
    assert run.exit_step_total is not None
    return RunScore(
        run_id=run.pk,
        slot=SlotKey(run.scenario_hash, run.seed),
        evacuated=run.evacuated,
        casualties=run.casualties,
        exit_step_total=run.exit_step_total,
        finished_at=run.created_at,
    )
