"""What a request to make a step can come to. Expected answers are values, never exceptions."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from ember_site.episodes.deltas import Wire
from simulator import Observation


class StepResult(StrEnum):
    """The four answers to `act`."""

    APPLIED = "applied"
    DUPLICATE = "duplicate"
    STALE = "stale"
    REJECTED = "rejected"


@dataclass(frozen=True, slots=True)
class StepAnswer:
    """The answer to one request.

    `step` is the step asked for, `now` the last one made, `state` the episode's state after it.
    `observation` is the present one; `retryable` says that the same request may succeed later;
    `steps_per_second` is the speed asked of a baseline.
    """

    result: StepResult
    step: int
    now: int
    state: str
    observation: Observation | None = None
    code: str = ""
    place: str = ""
    message: str = ""
    retryable: bool = False
    steps_per_second: float | None = None


@dataclass(frozen=True, slots=True)
class EpisodeView:
    """What one process may publish of an episode: observations, and facts that they show.

    `deltas` leads from the step asked about to `observation`; None where a snapshot is needed.
    `storing` says that the episode ended a moment ago and its run is about to be stored.
    `remote` says that a program plays for an agent; `move_due_at` and `idle_due_at` are its deadlines.
    """

    step: int
    state: str
    observation: Observation
    deltas: list[Wire] | None = None
    reason: str = ""
    run: str | None = None
    storing: bool = False
    seed: str | None = None
    hidden: bool = False
    remote: bool = False
    move_due_at: datetime | None = None
    idle_due_at: datetime | None = None
    steps_per_second: float | None = None
