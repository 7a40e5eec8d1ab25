"""Reads of single slots, for those who play them."""

from __future__ import annotations

from ember_site.accounts.visitors import Viewer
from ember_site.boards.models import EvaluationKind, EvaluationState, Slot
from ember_site.boards.selectors import evaluation_get
from ember_site.catalog.models import Scenario
from ember_site.core.errors import BadInput, NotFound, WrongState
from simulator import OBSERVATION_VERSION, SIMULATOR_VERSION


def slot_open_of(*, scenario: Scenario) -> Slot | None:
    """The slot of a scenario in the newest open evaluation that still runs; None where there is none.

    Its seed is public.
    """
    return (
        Slot.objects.filter(
            scenario=scenario, evaluation__kind=EvaluationKind.OPEN, evaluation__state=EvaluationState.OPEN
        )
        .select_related("evaluation")
        .order_by("-evaluation__created_at", "position")
        .first()
    )


def slot_to_rank(*, scenario: Scenario) -> Slot:
    """The slot that a ranked game of a scenario counts for.

    Raises:
        BadInput: no open evaluation that still runs has the scenario.
    """
    slot = slot_open_of(scenario=scenario)
    if slot is None:
        raise BadInput("This scenario is in no open evaluation, so nothing can be ranked.", place="mode")
    return slot


def slot_to_play(*, viewer: Viewer, slug: str, position: int) -> Slot:
    """One slot of an open evaluation that still runs, by its place in the schedule, counted from 1.

    Raises:
        NotFound: there is no such evaluation or slot, or the viewer may not see it.
        WrongState: it is not open to play.
    """
    evaluation = evaluation_get(viewer=viewer, slug=slug)
    versions = (evaluation.simulator_version, evaluation.observation_version)
    going = evaluation.kind == EvaluationKind.OPEN and evaluation.state == EvaluationState.OPEN
    if not going or versions != (SIMULATOR_VERSION, OBSERVATION_VERSION):
        raise WrongState(f"The evaluation {slug} cannot be played now.", place="mode")
    slot = evaluation.slots.filter(position=position).select_related("evaluation", "scenario").first()
    if slot is None:
        raise NotFound(f"The evaluation {slug} has no slot {position}.", place="mode")
    return slot
