"""Metrics of one run. They are exact: integers and fractions; floats are for display only.

Source: product design, section 3; fairness spec, section 5.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

from simulator.engine import BLOCKED_BOUNDS, OUTCOMES, UNDECIDED, Cause, StepEvents


@dataclass(frozen=True, slots=True)
class Metrics:
    """What a run achieved. Steps count from 1; totals are sums over people.

    ``exit_step_total`` counts ``max_steps`` for everybody who was not evacuated.
    ``blocked`` counts refused moves by outcome, every kind present.
    """

    population: int
    evacuated: int
    casualties: int
    entered_fire: int
    fire_spread: int
    unresolved: int
    trapped_at_start: int
    steps: int
    last_evacuation_step: int | None
    evacuation_step_total: int
    exit_step_total: int
    blocked: dict[str, int]

    @property
    def evacuation_rate(self) -> Fraction:
        """Share of the people who got out."""
        return Fraction(self.evacuated, self.population)

    @property
    def casualty_rate(self) -> Fraction:
        """Share of the people who were lost."""
        return Fraction(self.casualties, self.population)

    @property
    def exit_step(self) -> Fraction:
        """Mean over all people of the step in which they got out, ``max_steps`` where they did not."""
        return Fraction(self.exit_step_total, self.population)

    @property
    def mean_evacuation_step(self) -> Fraction | None:
        """Mean over the evacuated of the step in which they got out; None when nobody did."""
        return Fraction(self.evacuation_step_total, self.evacuated) if self.evacuated else None

    def to_dict(self) -> dict[str, Any]:
        """JSON-ready: the exact integers, and the ratios as floats for display."""
        mean = self.mean_evacuation_step
        return {
            "population": self.population,
            "evacuated": self.evacuated,
            "casualties": self.casualties,
            "casualties_by_cause": {"entered_fire": self.entered_fire, "fire_spread": self.fire_spread},
            "unresolved": self.unresolved,
            "trapped_at_start": self.trapped_at_start,
            "steps": self.steps,
            "last_evacuation_step": self.last_evacuation_step,
            "evacuation_step_total": self.evacuation_step_total,
            "exit_step_total": self.exit_step_total,
            "blocked": dict(self.blocked),
            "evacuation_rate": float(self.evacuation_rate),
            "casualty_rate": float(self.casualty_rate),
            "exit_step": float(self.exit_step),
            "mean_evacuation_step": None if mean is None else float(mean),
        }


@dataclass(slots=True)
class Tally:
    """Collects metrics while a run goes on."""

    population: int
    max_steps: int
    trapped_at_start: int
    steps: int = 0
    evacuated: int = 0
    last_evacuation_step: int | None = None
    evacuation_step_total: int = 0
    causes: dict[Cause, int] = field(default_factory=lambda: dict.fromkeys(Cause, 0))
    outcomes: list[int] = field(default_factory=lambda: [0] * UNDECIDED)

    def add(self, events: StepEvents) -> None:
        """Count one step."""
        self.steps = events.step
        if events.evacuations:
            self.evacuated += len(events.evacuations)
            self.evacuation_step_total += len(events.evacuations) * events.step
            self.last_evacuation_step = events.step
        for _, cause in events.casualties:
            self.causes[cause] += 1
        self._count(events.outcomes)

    def _count(self, outcomes: Sequence[int]) -> None:
        for code in set(outcomes):
            self.outcomes[code] += outcomes.count(code)

    def metrics(self) -> Metrics:
        """The metrics so far."""
        casualties = sum(self.causes.values())
        missing = self.population - self.evacuated
        blocked = range(BLOCKED_BOUNDS, UNDECIDED)
        return Metrics(
            population=self.population,
            evacuated=self.evacuated,
            casualties=casualties,
            entered_fire=self.causes[Cause.ENTERED_FIRE],
            fire_spread=self.causes[Cause.FIRE_SPREAD],
            unresolved=missing - casualties,
            trapped_at_start=self.trapped_at_start,
            steps=self.steps,
            last_evacuation_step=self.last_evacuation_step,
            evacuation_step_total=self.evacuation_step_total,
            exit_step_total=self.evacuation_step_total + missing * self.max_steps,
            blocked={str(OUTCOMES[code]): self.outcomes[code] for code in blocked},
        )
