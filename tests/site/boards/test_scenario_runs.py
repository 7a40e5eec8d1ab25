"""The best runs beside a scenario are those that the ranking puts first, picked by the database."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

from django.contrib.auth.models import AnonymousUser
from hypothesis import given, settings
from hypothesis import strategies as st

from ember_site.boards.models import Evaluation
from ember_site.boards.ranking import (
    MERIT_ORDER,
    EntryRuns,
    RunScore,
    Schedule,
    SlotKey,
    SlotSpec,
    entries_rank,
)
from ember_site.boards.scenario_runs import STANDINGS, scenario_slot, scenario_standings
from ember_site.runs.models import Agent, Run
from tests.site.boards.conftest import START, AgentMaker, RunMaker

RESULTS = st.tuples(*[st.integers(0, 2)] * 4)
"""Evacuated, casualties, exit steps, minute: few values, so that ties of every depth are common."""

FIELDS = st.lists(st.tuples(st.integers(0, STANDINGS + 2), RESULTS), min_size=1, max_size=30)
"""Agent and result of each run; more agents than the table has rows."""


def score(run: Run) -> RunScore:
    assert run.evacuated is not None
    assert run.casualties is not None
    assert run.exit_step_total is not None
    slot = SlotKey(run.scenario_hash, run.seed)
    return RunScore(run.pk, slot, run.evacuated, run.casualties, run.exit_step_total, run.created_at)


def best_by_ranking(slot: SlotKey, runs: list[Run]) -> list[tuple[int | None, Any, int]]:
    """Rank, run and attempts of the first agents, from all of their runs by the pure function alone."""
    own: dict[Agent, list[RunScore]] = {}
    for run in runs:
        assert run.agent is not None
        own.setdefault(run.agent, []).append(score(run))
    entries = [EntryRuns(agent.pk, agent.name, scores) for agent, scores in own.items()]
    ranked = entries_rank(Schedule([SlotSpec(slot, 100)]), entries)
    return [(row.rank, row.best[slot].run_id, row.attempt_count) for row in ranked[:STANDINGS]]


def test_database_and_ranking_have_one_order(
    crowd: Evaluation, make_agent: AgentMaker, make_run: RunMaker
) -> None:
    slot = crowd.slots.select_related("scenario", "evaluation").get()
    key = scenario_slot(slot.scenario)
    slot.seed = key.seed
    agents = [make_agent(f"agent {letter}") for letter in "abcdefghijklm"]

    @settings(max_examples=60)
    @given(FIELDS)
    def check(drawn: list[tuple[int, tuple[int, int, int, int]]]) -> None:
        Run.objects.all().delete()
        runs = [
            make_run(
                agents[agent],
                slot,
                evacuated,
                casualties=casualties,
                exit_step_total=exit_steps,
                created_at=START + timedelta(minutes=minute),
            )
            for agent, (evacuated, casualties, exit_steps, minute) in drawn
        ]
        in_order = [score(run).merit for run in Run.objects.order_by(*MERIT_ORDER)]
        assert in_order == sorted(score(run).merit for run in runs)
        shown = scenario_standings(slot.scenario, viewer=AnonymousUser())
        assert [(row.rank, row.run.pk, row.attempts) for row in shown] == best_by_ranking(key, runs)

    check()
