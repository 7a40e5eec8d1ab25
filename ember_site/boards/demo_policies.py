"""Small, honest policies for the demo agents: they see observations and nothing else.

Each shows another way to think about the task, so that a fresh board has
something to compare. None is tuned to the public scenarios.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Mapping, Set
from itertools import pairwise

from simulator import Observation, PersonStatus

Cell = tuple[int, int]
Policy = Callable[[Observation], Mapping[str, str]]

_MOVES: tuple[tuple[str, int, int], ...] = (
    ("north", -1, 0),
    ("south", 1, 0),
    ("east", 0, 1),
    ("west", 0, -1),
)
_FAR = 1 << 30


def _neighbours(cell: Cell) -> Iterable[tuple[str, Cell]]:
    row, col = cell
    return ((name, (row + down, col + right)) for name, down, right in _MOVES)


def _floor(observation: Observation) -> set[Cell]:
    """Every cell that is not a wall."""
    walls = {tuple(cell) for cell in observation.map.obstacles}
    return {
        (row, col)
        for row in range(observation.map.height)
        for col in range(observation.map.width)
        if (row, col) not in walls
    }


def _exits(observation: Observation) -> list[Cell]:
    return [(exit_.position[0], exit_.position[1]) for exit_ in observation.map.exits]


def _active(observation: Observation) -> dict[str, Cell]:
    """Position of every active person, in ID order."""
    return {
        person.id: (person.position[0], person.position[1])
        for person in observation.people
        if person.status == PersonStatus.ACTIVE
    }


def _distances(sources: Iterable[Cell], passable: Set[Cell]) -> dict[Cell, int]:
    """Steps from the nearest source over passable cells. O(cells)."""
    reached = {cell: 0 for cell in sources if cell in passable}
    queue = deque(reached)
    while queue:
        cell = queue.popleft()
        for _, beside in _neighbours(cell):
            if beside in passable and beside not in reached:
                reached[beside] = reached[cell] + 1
                queue.append(beside)
    return reached


def _walk(people: Mapping[str, Cell], fields: Mapping[str, Mapping[Cell, int]]) -> dict[str, str]:
    """Move everyone down their own distance field, the front of each queue first.

    A cell that somebody has claimed, or still holds, is not entered; a person
    whose way is taken sidesteps to an equally near free cell or waits.
    """
    actions = dict.fromkeys(people, "stay")
    held = {cell: person for person, cell in people.items()}
    claimed: set[Cell] = set()
    for person in sorted(people, key=lambda who: (fields[who].get(people[who], _FAR), who)):
        cell, field = people[person], fields[person]
        here = field.get(cell, _FAR)
        options = sorted(
            (field[beside], index, name, beside)
            for index, (name, beside) in enumerate(_neighbours(cell))
            if field.get(beside, _FAR) <= here < _FAR
        )
        for distance, _, name, beside in options:
            if beside in claimed or beside in held or (distance == here and cell in claimed):
                continue
            actions[person] = name
            claimed.add(beside)
            del held[cell]
            break
    return actions


def straight_line(observation: Observation) -> dict[str, str]:
    """Go where the nearest exit lies as the crow flies, around nothing: a map is not consulted."""
    passable = _floor(observation) - {tuple(cell) for cell in observation.burning}
    exits = [cell for cell in _exits(observation) if cell in passable]
    fields: dict[str, dict[Cell, int]] = {}
    people = _active(observation)
    for person, (row, col) in people.items():
        near = min(exits, key=lambda e: (abs(e[0] - row) + abs(e[1] - col), e), default=None)
        around = [(row, col), *(beside for _, beside in _neighbours((row, col)) if beside in passable)]
        fields[person] = (
            {} if near is None else {cell: abs(near[0] - cell[0]) + abs(near[1] - cell[1]) for cell in around}
        )
    return _walk(people, fields)


def keep_distance(observation: Observation) -> dict[str, str]:
    """Shortest way out that keeps two cells from the fire while there is one, else any way out."""
    burning = {(cell[0], cell[1]) for cell in observation.burning}
    open_floor = _floor(observation) - burning
    beside_fire = {beside for cell in burning for _, beside in _neighbours(cell)}
    exits = _exits(observation)
    careful, any_way = _distances(exits, open_floor - beside_fire), _distances(exits, open_floor)
    people = _active(observation)
    return _walk(people, {who: careful if cell in careful else any_way for who, cell in people.items()})


def balance_exits(observation: Observation) -> dict[str, str]:
    """Share people among the exits by walking distance plus the queue that already forms there.

    An exit lets one person through per step, so the k-th person at an exit leaves at
    step k at the earliest. People are assigned nearest first, each to the exit where
    they would leave soonest.
    """
    open_floor = _floor(observation) - {(cell[0], cell[1]) for cell in observation.burning}
    fields = [_distances([cell], open_floor) for cell in _exits(observation)]
    people = _active(observation)
    next_free = [0] * len(fields)
    chosen: dict[str, Mapping[Cell, int]] = {}
    nearest = {who: min(field.get(cell, _FAR) for field in fields) for who, cell in people.items()}
    for who in sorted(people, key=lambda person: (nearest[person], person)):
        leave = [max(field.get(people[who], _FAR), next_free[i] + 1) for i, field in enumerate(fields)]
        best = min(range(len(fields)), key=lambda i: (leave[i], i))
        if leave[best] < _FAR:
            next_free[best] = leave[best]
        chosen[who] = fields[best]
    return _walk(people, chosen)


def _burn_forecast(observation: Observation, floor: Set[Cell]) -> dict[Cell, int]:
    """Step after which each cell is expected to burn; cells that never burn are absent.

    Exact for deterministic fire. For stochastic fire it assumes that the front always
    advances, which is the earliest that a cell can burn.
    """
    rules = observation.rules
    can_burn = floor if rules.exits_flammable else floor - set(_exits(observation))
    burns = {(cell[0], cell[1]): observation.step for cell in observation.burning}
    front = list(burns)
    step = observation.step
    while front:
        step += rules.spread_interval - step % rules.spread_interval
        ahead = {beside for cell in front for _, beside in _neighbours(cell)}
        front = sorted(cell for cell in ahead if cell in can_burn and cell not in burns)
        burns.update(dict.fromkeys(front, step))
    return burns


def _timed_route(
    start: Cell,
    step: int,
    exits: Set[Cell],
    floor: Set[Cell],
    burns: Mapping[Cell, int],
    taken: Set[tuple[Cell, int]],
    swaps: Set[tuple[Cell, Cell, int]],
    until: int,
) -> list[Cell]:
    """Earliest way out in space and time that never meets the forecast fire or a reserved cell.

    Returns the cells held after steps `step` + 1, `step` + 2, ...; empty where there is none.
    """
    came: dict[tuple[Cell, int], tuple[Cell, int] | None] = {(start, step): None}
    queue = deque([(start, step)])
    while queue:
        cell, now = node = queue.popleft()
        if cell in exits and now > step:
            route = []
            while node is not None and came[node] is not None:
                route.append(node[0])
                node = came[node]  # type: ignore[assignment]
            return route[::-1]
        if now >= until:
            continue
        later = now + 1
        for beside in (cell, *(to for _, to in _neighbours(cell))):
            after = (beside, later)
            if beside not in floor or after in came or after in taken or (beside, cell, later) in swaps:
                continue
            # An exit needs to be free of fire when it is entered; a floor cell also after the step.
            if burns.get(beside, _FAR) <= (now if beside in exits else later):
                continue
            came[after] = node
            queue.append(after)
    return []


class Foresee:
    """Forecast the fire and plan everybody's way in space and time, nearest to an exit first.

    Routes are reserved one after another, so nobody plans to stand where somebody
    else will. The plan is kept while the world follows it and made anew when it does not.
    """

    def __init__(self) -> None:
        self._routes: dict[str, list[Cell]] = {}
        self._expected: dict[str, Cell] = {}

    def __call__(self, observation: Observation) -> dict[str, str]:
        people = _active(observation)
        stochastic = observation.rules.spread_probability is not None
        if stochastic or people != {who: self._expected.get(who) for who in people}:
            self._plan(observation, people)
        actions: dict[str, str] = {}
        self._expected = {}
        for who, cell in people.items():
            route = self._routes.get(who) or []
            target = route.pop(0) if route else cell
            actions[who] = next((name for name, beside in _neighbours(cell) if beside == target), "stay")
            self._expected[who] = target
        return actions

    def _plan(self, observation: Observation, people: Mapping[str, Cell]) -> None:
        floor, exits = _floor(observation), set(_exits(observation))
        burns = _burn_forecast(observation, floor)
        until = observation.rules.max_steps
        distance = _distances(exits, floor - {(cell[0], cell[1]) for cell in observation.burning})
        taken: set[tuple[Cell, int]] = set()
        swaps: set[tuple[Cell, Cell, int]] = set()
        self._routes = {}
        waiting = dict(people)
        for who in sorted(people, key=lambda person: (distance.get(people[person], _FAR), person)):
            # Whoever has no plan yet is still standing there for the coming step.
            standing = {(cell, observation.step + 1) for other, cell in waiting.items() if other != who}
            route = _timed_route(
                people[who], observation.step, exits, floor, burns, taken | standing, swaps, until
            )
            self._routes[who] = route
            del waiting[who]
            if not route:
                taken.update((people[who], moment) for moment in range(observation.step + 1, until + 1))
            cells = [people[who], *route]
            for offset, (before, after) in enumerate(pairwise(cells), start=1):
                taken.add((after, observation.step + offset))
                swaps.add((before, after, observation.step + offset))


DEMO_POLICIES: Mapping[str, Callable[[], Policy]] = {
    "balance": lambda: balance_exits,
    "foresee": Foresee,
    "distance": lambda: keep_distance,
    "line": lambda: straight_line,
}
"""Each gives a fresh policy for one episode."""
