"""Real runs of policies on the slots of open evaluations: made, stored and verified like any other."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from ember_site.boards.models import Evaluation, EvaluationKind, EvaluationState, Slot
from ember_site.catalog.scenario_cache import scenario_load
from ember_site.runs.models import Agent, Run, RunSource, RunState
from ember_site.runs.services import run_store, run_verify
from simulator import Policy, run_episode


@dataclass(frozen=True, slots=True)
class PolicyRuns:
    """How many slots a policy was run on, and how many had its verified run already."""

    made: int
    known: int


def open_slots() -> list[Slot]:
    """The slots of every open evaluation that takes runs, in order."""
    open_evaluations = Evaluation.objects.filter(kind=EvaluationKind.OPEN, state=EvaluationState.OPEN)
    return list(
        Slot.objects.filter(evaluation__in=open_evaluations)
        .select_related("evaluation")
        .order_by("evaluation__created_at", "position")
    )


def policy_runs_make(
    *, agent: Agent, make_policy: Callable[[], Policy], source: RunSource, slots: Iterable[Slot]
) -> PolicyRuns:
    """
    Give the agent a verified ranked run on each slot; slots that have one are left alone.

    `make_policy` gives a fresh policy for each run. A run that another process verifies, or did when it
    was killed, is left to that one or to the queue, which puts back what nobody works on.

    Raises:
        RuntimeError: the replay did not confirm a run of our own making, which is a fault of ours.
    """
    made = known = 0
    for slot in slots:
        if _has_run(agent, slot):
            known += 1
            continue
        record = run_episode(scenario_load(slot.scenario_id), make_policy(), int(slot.seed))
        run = run_store(agent=agent, record_text=record.to_json(), source=source, ranked=True, enqueue=False)
        run = run_verify(run_id=run.pk)
        if run.state in (RunState.REJECTED, RunState.FAILED):
            raise RuntimeError(f"run {run.pk} of {agent.slug} is {run.state}: {run.code} {run.message}")
        made += 1
    return PolicyRuns(made, known)


def _has_run(agent: Agent, slot: Slot) -> bool:
    return Run.objects.filter(
        agent=agent,
        scenario_id=slot.scenario_id,
        seed=slot.seed,
        ranked=True,
        state=RunState.VERIFIED,
        simulator_version=slot.evaluation.simulator_version,
        observation_version=slot.evaluation.observation_version,
    ).exists()
