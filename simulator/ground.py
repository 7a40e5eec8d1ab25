"""The static side of a scenario on flat integer cells.

A cell is one integer in a grid padded by a rim, ``(row + 1) * (width + 2) + col + 1``, so
that a step to a neighbour is one addition and never needs a bounds check. Ascending cells
are row-major.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

from simulator.kept import Kept
from simulator.scenario import Position, Scenario

FLOOR: Final = 0
WALL: Final = 1
OUTSIDE: Final = 2
EXIT: Final = 3


@dataclass(frozen=True, slots=True)
class Ground:
    """Terrain and lookup tables of one scenario; lists are indexed by cell."""

    stride: int
    terrain: list[int]
    """FLOOR, WALL, OUTSIDE or EXIT."""
    positions: list[Position]
    texts: list[str]
    """Canonical JSON of the position, ``[row,col]``."""
    exits: list[int]
    people: list[int]
    """Start cell of each person, in ID order."""
    ignitions: list[int]

    def cell(self, position: tuple[int, int]) -> int:
        """Flat cell of (row, col)."""
        return (position[0] + 1) * self.stride + position[1] + 1

    def neighbours(self, cell: int) -> tuple[int, int, int, int]:
        """North, south, east and west of a cell."""
        return cell - self.stride, cell + self.stride, cell + 1, cell - 1


_grounds: Kept[str, Ground] = Kept(64)


def ground_of(scenario: Scenario) -> Ground:
    """The ground of a scenario; the last few are kept, by content hash."""
    return _grounds.get(scenario.content_hash, lambda: _make_ground(scenario))


def _make_ground(scenario: Scenario) -> Ground:
    ground = plain_ground(
        scenario.width, scenario.height, scenario.obstacles, [spec.position for spec in scenario.exits]
    )
    ground.people.extend(ground.cell(person.position) for person in scenario.people)
    ground.ignitions.extend(ground.cell(position) for position in scenario.ignitions)
    return ground


def plain_ground(width: int, height: int, obstacles: Iterable[Position], exits: Iterable[Position]) -> Ground:
    """The ground of a map without people and fire. O(cells)."""
    stride = width + 2
    terrain = [OUTSIDE] * (stride * (height + 2))
    positions = [Position(i // stride - 1, i % stride - 1) for i in range(len(terrain))]
    for row in range(height):
        start = (row + 1) * stride + 1
        terrain[start : start + width] = [FLOOR] * width
    texts = [f"[{row},{col}]" for row, col in positions]
    ground = Ground(stride, terrain, positions, texts, [], [], [])
    for position in obstacles:
        terrain[ground.cell(position)] = WALL
    for position in exits:
        terrain[ground.cell(position)] = EXIT
        ground.exits.append(ground.cell(position))
    return ground
