"""The model-visible observation, version 1.0: frozen values, nothing evaluator-private.

Its object graph holds only the types that the fairness spec names; it refers to no
scenario, simulator or stream.

Source: fairness spec, section 4; simulation contract, section 4b.
"""

from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Final

from simulator.scenario import (
    ConflictResolution,
    EnterFirePolicy,
    ExitSpec,
    FireModelName,
    Position,
    Scenario,
)
from simulator.versions import OBSERVATION_VERSION


class Action(StrEnum):
    """What an active person may do in a step."""

    STAY = "stay"
    NORTH = "north"
    SOUTH = "south"
    EAST = "east"
    WEST = "west"


ALLOWED_ACTIONS: Final = tuple(Action)
"""Every action, in the published order; all are allowed to everybody in every step."""


class PersonStatus(StrEnum):
    """Where a person stands: still inside, out, or lost."""

    ACTIVE = "active"
    EVACUATED = "evacuated"
    CASUALTY = "casualty"


@dataclass(frozen=True, slots=True)
class MapView:
    """Static map: size, walls row-major, exits by ID."""

    width: int
    height: int
    obstacles: tuple[Position, ...]
    exits: tuple[ExitSpec, ...]


@dataclass(frozen=True, slots=True)
class RulesView:
    """Every action-relevant rule that a scenario can vary."""

    fire_model: FireModelName
    spread_interval: int
    spread_probability: float | None
    exits_flammable: bool
    enter_fire: EnterFirePolicy
    conflict_resolution: ConflictResolution
    max_steps: int


@dataclass(frozen=True, slots=True)
class PersonState:
    """One person now. After evacuation or loss the position stays where it happened."""

    id: str
    position: Position
    status: PersonStatus


@dataclass(frozen=True, slots=True)
class Observation:
    """The full current state and the known rules, as a model sees them before a step."""

    step: int
    map: MapView
    rules: RulesView
    people: tuple[PersonState, ...]
    burning: frozenset[Position]
    allowed_actions: tuple[Action, ...]

    def to_dict(self) -> dict[str, Any]:
        """The published dictionary form, JSON-ready; burning cells row-major."""
        rules, plan = self.rules, self.map
        return {
            "observation_version": OBSERVATION_VERSION,
            "step": self.step,
            "map": {
                "width": plan.width,
                "height": plan.height,
                "obstacles": [list(p) for p in plan.obstacles],
                "exits": [{"id": e.id, "position": list(e.position)} for e in plan.exits],
            },
            "rules": {
                "fire_model": str(rules.fire_model),
                "spread_interval": rules.spread_interval,
                "spread_probability": rules.spread_probability,
                "exits_flammable": rules.exits_flammable,
                "enter_fire": str(rules.enter_fire),
                "conflict_resolution": str(rules.conflict_resolution),
                "max_steps": rules.max_steps,
            },
            "people": [
                {"id": p.id, "position": list(p.position), "status": str(p.status)} for p in self.people
            ],
            "burning": [list(p) for p in sorted(self.burning)],
            "allowed_actions": [str(a) for a in self.allowed_actions],
        }


def map_view(scenario: Scenario) -> MapView:
    """The map of a scenario, copied."""
    return MapView(scenario.width, scenario.height, scenario.obstacles, scenario.exits)


def rules_view(scenario: Scenario) -> RulesView:
    """The rules of a scenario, copied."""
    return RulesView(
        fire_model=scenario.fire.model,
        spread_interval=scenario.fire.spread_interval,
        spread_probability=scenario.fire.spread_probability,
        exits_flammable=scenario.fire.exits_flammable,
        enter_fire=scenario.movement.enter_fire,
        conflict_resolution=scenario.movement.conflict_resolution,
        max_steps=scenario.max_steps,
    )
