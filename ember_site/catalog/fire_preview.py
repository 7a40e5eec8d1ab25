"""
What can be said of a scenario's fire before the first step.

Only for the deterministic model: there the seed changes nothing, so the whole course follows
from the published rules. Of a stochastic fire nothing but the step 0 is ever given out here.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

from ember_site.catalog.scenario_cache import scenario_load
from simulator.fire import fire_trajectory
from simulator.scenario import FireModelName, Scenario

Cell = tuple[int, int]

FRAMES = 8
"""Small plans in the film strip."""


@dataclass(frozen=True, slots=True)
class ExitLoss:
    """An exit and the step after which it burns, None if it never does within the step limit."""

    exit_id: str
    step: int | None


@dataclass(frozen=True, slots=True)
class FirePreview:
    """The course of a deterministic fire within the step limit."""

    arrivals: tuple[tuple[int, int, int], ...]
    """(row, col, step after which the cell burns), row-major; 0 for ignitions."""
    last_step: int
    """The last step in which anything ignites."""
    spread_interval: int
    floor_cells: int
    exits: tuple[ExitLoss, ...]

    def burning(self, step: int) -> list[Cell]:
        """Cells that burn after a step, row-major."""
        return [(row, col) for row, col, since in self.arrivals if since <= step]

    def share(self, step: int) -> float:
        """Share of the floor, exits included, that burns after a step."""
        return sum(since <= step for _, _, since in self.arrivals) / self.floor_cells

    @property
    def frame_steps(self) -> list[int]:
        """Steps for a film strip: from 0 to the last spread, evenly, on steps in which fire spreads."""
        spreads = self.last_step // self.spread_interval
        picked = {round(spreads * index / (FRAMES - 1)) for index in range(FRAMES)}
        return [spread * self.spread_interval for spread in sorted(picked)]


@lru_cache(maxsize=64)
def fire_preview(content_hash: str) -> FirePreview | None:
    """
    The course of the fire, or None where it depends on the seed or nothing burns.

    Raises:
        NotFound: no such scenario was imported.
    """
    scenario = scenario_load(content_hash)
    if scenario.fire.model is not FireModelName.DETERMINISTIC or not scenario.ignitions:
        return None
    return preview_of(scenario)


def preview_of(scenario: Scenario) -> FirePreview:
    """The course of a deterministic scenario's fire, from the simulator's own trajectory."""
    burn = fire_trajectory(scenario, 0).arrivals()
    return FirePreview(
        arrivals=tuple((cell.row, cell.col, step) for cell, step in sorted(burn.items())),
        last_step=max(burn.values()),
        spread_interval=scenario.fire.spread_interval,
        floor_cells=scenario.width * scenario.height - len(scenario.obstacles),
        exits=tuple(ExitLoss(door.id, burn.get(door.position)) for door in scenario.exits),
    )
