"""The three simple baselines, callables from an observation to one action for each active person.

Source: simulation contract, section 5 (``random``) and section 7 (``greedy``).
"""

from collections import deque
from collections.abc import Callable, Mapping
from typing import Final, TypeAlias

from simulator.observation import Action, Observation, PersonStatus
from simulator.rng import SplitMix64
from simulator.scenario import Position

Policy: TypeAlias = Callable[[Observation], Mapping[str, "Action | str"]]

_MOVES: Final = (
    (Action.NORTH, -1, 0),
    (Action.SOUTH, 1, 0),
    (Action.EAST, 0, 1),
    (Action.WEST, 0, -1),
)


def stay(observation: Observation) -> dict[str, Action]:
    """Everybody stays."""
    return {person.id: Action.STAY for person in observation.people if person.status is PersonStatus.ACTIVE}


def greedy(observation: Observation) -> dict[str, Action]:
    """Everybody walks to the nearest exit that does not burn now, other people ignored.

    One breadth-first search a step from those exits, over cells that are neither wall nor
    burning. Each person takes the first of north, south, east, west that is nearer than
    every one before it and than the present cell; else stays. O(cells).
    """
    distance = exit_distances(observation)
    actions: dict[str, Action] = {}
    for person in observation.people:
        if person.status is not PersonStatus.ACTIVE:
            continue
        row, col = person.position
        best = distance.get(person.position)
        choice = Action.STAY
        for action, d_row, d_col in _MOVES:
            there = distance.get(Position(row + d_row, col + d_col))
            if there is not None and (best is None or there < best):
                best, choice = there, action
        actions[person.id] = choice
    return actions


def exit_distances(observation: Observation) -> dict[Position, int]:
    """Steps from each cell to the nearest exit that does not burn; cells cut off are absent."""
    plan, burning = observation.map, observation.burning
    closed = burning.union(plan.obstacles)
    distance = {spec.position: 0 for spec in plan.exits if spec.position not in burning}
    queue = deque(distance)
    while queue:
        cell = queue.popleft()
        row, col = cell
        steps = distance[cell] + 1
        for _, d_row, d_col in _MOVES:
            near = Position(row + d_row, col + d_col)
            if (
                0 <= near.row < plan.height
                and 0 <= near.col < plan.width
                and near not in distance
                and near not in closed
            ):
                distance[near] = steps
                queue.append(near)
    return distance


class RandomPolicy:
    """Uniform random actions from a policy seed of its own; it never sees the run seed.

    Stream label ``policy/random``; one draw for each active person in ID order, the action
    being output mod 5 of the allowed ones. Observation 0 starts the stream anew.
    """

    def __init__(self, seed: int = 0) -> None:
        self.seed = seed
        self._stream = SplitMix64.stream(seed, "policy/random")

    def __call__(self, observation: Observation) -> dict[str, Action]:
        if observation.step == 0:
            self._stream = SplitMix64.stream(self.seed, "policy/random")
        allowed = observation.allowed_actions
        return {
            person.id: allowed[self._stream.next_output() % len(allowed)]
            for person in observation.people
            if person.status is PersonStatus.ACTIVE
        }

    def for_episode(self) -> "RandomPolicy":
        """An independent policy at the start of its stream; the episode runner asks for it."""
        return RandomPolicy(self.seed)


random = RandomPolicy()
"""The ``random`` baseline with policy seed 0."""


def make_random(seed: int = 0) -> RandomPolicy:
    """A random policy with a policy seed of its own."""
    return RandomPolicy(seed)
