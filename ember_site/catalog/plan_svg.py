"""The drawn plan of a scenario: inline SVG in the manner of an architect's drawing.

Walls are a grey mass with a dark edge where they meet floor, an exit is a door with its
swing, fire is hatched behind a hard front line, people are discs. The drawing carries
classes only; `static/css/plan.css` gives them colour, so it follows the theme.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass
from functools import lru_cache

from django.utils.html import escape
from django.utils.safestring import SafeString, mark_safe

from ember_site.catalog.plan_outline import (
    CELL,
    Cell,
    Segment,
    outline_path,
    segments_path,
    side_segments,
)
from ember_site.catalog.scenario_cache import scenario_load
from simulator import Scenario

MARGIN = 1
"""Room around the grid for strokes that lie on its border, in user units."""

QUARTER_TURNS = {"west": 0, "north": 90, "east": 180, "south": 270}
"""The door is drawn for a west exit; other sides turn it clockwise by so many degrees."""

HATCH = ((0, 5, 5, 0), (0, 10, 10, 0), (5, 10, 10, 5))
"""Hatch lines of one burning cell; they meet those of its neighbours."""


@dataclass(frozen=True, slots=True)
class PlanGround:
    """What stands still in a drawing: the grid, its walls and its exits."""

    width: int
    height: int
    walls: frozenset[Cell]
    exits: tuple[tuple[str, Cell], ...]

    def is_wall(self, cell: Cell) -> bool:
        """Whether nothing can stand here: a wall or off the grid."""
        row, col = cell
        return cell in self.walls or not (0 <= row < self.height and 0 <= col < self.width)

    def floor(self) -> list[Cell]:
        """Every cell of the grid that is no wall, row-major."""
        return [
            (row, col)
            for row in range(self.height)
            for col in range(self.width)
            if (row, col) not in self.walls
        ]

    def exit_side(self, cell: Cell) -> str:
        """The side an exit opens to: the border it lies on, else where a wall stands behind it."""
        row, col = cell
        borders = {
            "west": col == 0,
            "north": row == 0,
            "east": col == self.width - 1,
            "south": row == self.height - 1,
        }
        behind = {
            "west": ((row, col - 1), (row, col + 1)),
            "north": ((row - 1, col), (row + 1, col)),
            "east": ((row, col + 1), (row, col - 1)),
            "south": ((row + 1, col), (row - 1, col)),
        }
        open_to_room = [side for side, (_, front) in behind.items() if not self.is_wall(front)]
        for side in open_to_room or list(behind):
            if borders[side]:
                return side
        for side in open_to_room:
            if self.is_wall(behind[side][0]):
                return side
        return open_to_room[0] if open_to_room else "west"


@lru_cache(maxsize=256)
def scenario_plan(content_hash: str, uid: str = "") -> SafeString:
    """
    The plan of a scenario at step 0, with a title and a description for screen readers.

    Kept for each process, since a hash never changes its meaning.

    Args:
        uid: letters that tell two drawings of one scenario on one page apart.

    Raises:
        NotFound: no such scenario was imported.
    """
    scenario = scenario_load(content_hash)
    return plan_draw(
        ground_of(scenario),
        burning=scenario.ignitions,
        people=[person.position for person in scenario.people],
        title=f"Plan of {scenario.scenario_id} at step 0",
        description=plan_description(scenario),
        uid=f"{content_hash[:12]}{uid}",
    )


def fire_frame(scenario: Scenario, *, step: int, burning: Collection[Cell]) -> SafeString:
    """A small plan without people that shows which cells burn after a step."""
    share = f"{len(burning)} cells burn" if len(burning) != 1 else "1 cell burns"
    return plan_draw(
        ground_of(scenario),
        burning=burning,
        people=(),
        title=f"Fire after step {step}",
        description=f"{share}.",
        uid=f"{scenario.content_hash[:12]}f{step}",
    )


def ground_of(scenario: Scenario) -> PlanGround:
    """The still part of the drawing of a scenario."""
    return PlanGround(
        width=scenario.width,
        height=scenario.height,
        walls=frozenset(scenario.obstacles),
        exits=tuple((door.id, door.position) for door in scenario.exits),
    )


def plan_draw(
    ground: PlanGround,
    *,
    burning: Collection[Cell],
    people: Collection[Cell],
    title: str,
    description: str,
    uid: str,
) -> SafeString:
    """Draw a plan as one `<svg>` element. Cells are (row, col).

    Few elements whatever the size: one path for each kind of thing and two for each exit.
    """
    floor = ground.floor()
    hot = frozenset(burning)
    layers = [
        _path("plan-floor", outline_path(floor)),
        _path("plan-grid", segments_path(_grid_segments(ground, floor))),
        _path("plan-fire", outline_path(hot)),
        _path("plan-hatch", _hatch_path(hot)),
        _path("plan-wall", outline_path(ground.walls)),
        _path("plan-edge", segments_path(_edge_segments(ground, floor))),
        _path("plan-front", segments_path(_front_segments(ground, hot))),
        *(_door(ground, cell, lost=cell in hot) for _, cell in ground.exits),
        _path("plan-person", _disc_path(people)),
    ]
    width, height = ground.width * CELL + 2 * MARGIN, ground.height * CELL + 2 * MARGIN
    name = f"plan-{escape(uid)}"
    return mark_safe(  # noqa: S308 - every text is escaped, every number is an integer
        f'<svg class="plan" xmlns="http://www.w3.org/2000/svg" viewBox="{-MARGIN} {-MARGIN} {width} {height}"'
        f' width="{width}" height="{height}" role="img" aria-labelledby="{name}-t {name}-d">'
        f'<title id="{name}-t">{escape(title)}</title><desc id="{name}-d">{escape(description)}</desc>'
        f"{''.join(layers)}</svg>"
    )


def plan_description(scenario: Scenario) -> str:
    """What a plan shows, in words: size, people, exits with their sides, fires."""
    ground = ground_of(scenario)
    exits = ", ".join(f"{name} {_place(ground, cell)}" for name, cell in ground.exits)
    fires = ", ".join(f"row {cell[0]} column {cell[1]}" for cell in scenario.ignitions)
    people = len(scenario.people)
    return (
        f"{ground.width} by {ground.height} cells. {people} {'person' if people == 1 else 'people'}. "
        f"{'Exit' if len(ground.exits) == 1 else 'Exits'} {exits}. "
        f"{f'Burning at the start: {fires}.' if fires else 'Nothing burns at the start.'}"
    )


def _place(ground: PlanGround, cell: Cell) -> str:
    row, col = cell
    on_border = row in (0, ground.height - 1) or col in (0, ground.width - 1)
    where = f"in the {ground.exit_side(cell)} border, " if on_border else "at "
    return f"{where}row {row} column {col}"


def _path(css_class: str, data: str) -> str:
    return f'<path class="{css_class}" d="{data}"/>' if data else ""


def _grid_segments(ground: PlanGround, floor: Iterable[Cell]) -> list[Segment]:
    """Between two floor cells: the south and east side of each, so that none comes twice."""
    return [
        segment
        for cell in floor
        for neighbour, segment in side_segments(cell)[1::2]
        if not ground.is_wall(neighbour)
    ]


def _edge_segments(ground: PlanGround, floor: Iterable[Cell]) -> list[Segment]:
    """Where floor meets a wall or the border of the grid; an exit stays open to the outside."""
    doors = {cell: QUARTER_TURNS[ground.exit_side(cell)] for _, cell in ground.exits}
    by_turn = {0: 2, 90: 0, 180: 3, 270: 1}
    segments = []
    for cell in floor:
        outside = by_turn[doors[cell]] if cell in doors else None
        for index, (neighbour, segment) in enumerate(side_segments(cell)):
            if index != outside and ground.is_wall(neighbour):
                segments.append(segment)
    return segments


def _front_segments(ground: PlanGround, hot: Collection[Cell]) -> list[Segment]:
    """Where fire meets floor that does not burn."""
    return [
        segment
        for cell in hot
        for neighbour, segment in side_segments(cell)
        if neighbour not in hot and not ground.is_wall(neighbour)
    ]


def _hatch_path(hot: Iterable[Cell]) -> str:
    return "".join(
        f"M{col * CELL + x1} {row * CELL + y1}L{col * CELL + x2} {row * CELL + y2}"
        for row, col in sorted(hot)
        for x1, y1, x2, y2 in HATCH
    )


def _disc_path(people: Iterable[Cell]) -> str:
    """Lines of no length: their round caps are the discs, and a crowd stays one short path."""
    return "".join(f"M{col * CELL + 5} {row * CELL + 5}h.01" for row, col in sorted(people))


def _door(ground: PlanGround, cell: Cell, *, lost: bool) -> str:
    """Threshold, open leaf and swing, seen from above; a burning exit is crossed out."""
    row, col = cell
    turn = QUARTER_TURNS[ground.exit_side(cell)]
    place = f"translate({col * CELL + 5} {row * CELL + 5})" + (f" rotate({turn})" if turn else "")
    cross = '<path class="plan-cross" d="M-2.5-2.5 2.5 2.5M2.5-2.5-2.5 2.5"/>' if lost else ""
    ground_fill = "" if lost else '<path class="plan-door-floor" d="M-5-5H5V5H-5z"/>'
    return (
        f'<g class="plan-door{" plan-door-lost" if lost else ""}" transform="{place}">{ground_fill}'
        f'<path class="plan-threshold" d="M-4.3-5V5"/>'
        f'<path class="plan-swing" d="M-5-4.5H4.5A9.5 9.5 0 0 1-5 5"/>{cross}</g>'
    )
