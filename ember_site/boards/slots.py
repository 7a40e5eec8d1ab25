"""Reads of single slots, for those who play them."""

from __future__ import annotations

from ember_site.boards.models import EvaluationKind, EvaluationState, Slot
from ember_site.catalog.models import Scenario


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
