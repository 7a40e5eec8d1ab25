"""The most people that can get out, and the least total step, when the fire is known.

A plan is a flow through the time-expanded grid: one person for each cell and step. Taking
the (step, exit) sinks in order of step and finding one augmenting path for each gives the
largest number and, among those, the least total step, because the sets of sinks that can
be served together form a matroid.

Source: simulation contract, sections 6 and 7; Ford and Fulkerson, "Constructing Maximal
Dynamic Flows from Static Flows", Operations Research 6, 1958.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from simulator.fire import NEVER, fire_trajectory
from simulator.ground import EXIT, FLOOR, Ground, ground_of
from simulator.scenario import Scenario


@dataclass(frozen=True, slots=True)
class Optimum:
    """The clairvoyant bound of a scenario and seed: nobody can do better.

    ``total`` is the least sum of evacuation steps among the plans that save ``evacuated``.
    """

    evacuated: int
    total: int
    last_step: int


def optimum(scenario: Scenario, seed: int) -> Optimum:
    """The optimum with the whole fire known. Evaluator-private for a sealed seed.

    About a second for a hundred people; O(people x cells x steps).
    """
    trajectory = fire_trajectory(scenario, seed)
    trajectory.reach(scenario.max_steps)
    ground = ground_of(scenario)
    flow = EvacuationFlow(ground, trajectory.burn, ground.people, scenario.max_steps)
    return Optimum(len(flow.served), sum(flow.served), max(flow.served, default=0))


class EvacuationFlow:
    """A largest flow from start cells to exits, earliest exits first.

    ``burn`` gives for each cell the step after which it burns, counted as the flow counts
    (0 is now). ``served`` lists the step of each evacuation, ascending.
    """

    def __init__(self, ground: Ground, burn: Sequence[int], starts: Sequence[int], max_steps: int) -> None:
        self._ground = ground
        self._burn = burn
        self._size = len(ground.terrain)
        self._starts = list(starts)
        self._waiting = set(starts)
        self._next: dict[int, int] = {}
        self._previous: dict[int, int] = {}
        self.served: list[int] = []
        self._earliest = self._first_arrivals(max_steps)
        self._solve(max_steps)

    def paths(self) -> dict[int, list[int]]:
        """For each served start cell the cells of its path, one a step, the exit last.

        Nobody swaps or rotates on them: people are interchangeable, so where a set of them
        would trade cells in a step, each stays instead.
        """
        size, paths = self._size, {}
        follow = dict(self._next)
        for step in range(max(self.served, default=0)):
            self._untangle(follow, step)
        for start in self._starts:
            if start in self._waiting:
                continue
            node, cells = start, [start]
            while node in follow:
                node = follow[node]
                cells.append(node % size)
            paths[start] = cells
        return paths

    def _untangle(self, follow: dict[int, int], step: int) -> None:
        """Turn every closed chain of moves within one step into staying."""
        size = self._size
        moves = {
            node % size: target % size
            for node, target in follow.items()
            if node // size == step and node % size != target % size
        }
        while moves:
            start = next(iter(moves))
            chain = [start]
            while (cell := moves.get(chain[-1])) is not None and cell not in chain:
                chain.append(cell)
            if cell is not None:
                for member in chain[chain.index(cell) :]:
                    follow[step * size + member] = (step + 1) * size + member
            for member in chain:
                moves.pop(member, None)

    def _first_arrivals(self, max_steps: int) -> list[int]:
        """Earliest step at which anybody could stand on each cell, people ignored."""
        earliest = [NEVER] * self._size
        frontier = set(self._starts)
        for cell in frontier:
            earliest[cell] = 0
        step = 0
        while frontier and step < max_steps:
            step += 1
            reached: set[int] = set()
            for cell in frontier:
                if self._ground.terrain[cell] != EXIT:
                    reached.update(n for n in self._ground.neighbours(cell) if earliest[n] == NEVER)
            frontier = {cell for cell in reached if self._enterable(cell, step)}
            for cell in frontier:
                earliest[cell] = step
        return earliest

    def _enterable(self, cell: int, step: int) -> bool:
        """Whether a person may stand on a floor cell after a step, or leave by an exit in it (R5)."""
        kind = self._ground.terrain[cell]
        if kind == FLOOR:
            return self._burn[cell] > step
        return kind == EXIT and self._burn[cell] > step - 1

    def _solve(self, max_steps: int) -> None:
        lasting = max((step for step in self._burn if step < NEVER), default=0) + self._size
        idle_since = 0
        for step in range(1, max_steps + 1):
            for cell in self._ground.exits:
                if not self._waiting:
                    return
                if self._earliest[cell] <= step and self._burn[cell] > step - 1:
                    path = self._augmenting_path(step * self._size + cell)
                    if path:
                        self._augment(path)
                        self.served.append(step)
                        idle_since = step
            if step > max(lasting, idle_since + self._size):
                return  # the fire stands still and nobody came out for as long as any walk takes

    def _augmenting_path(self, sink: int) -> list[int]:
        """Search back from a sink to a waiting person through the residual network.

        A state is ``2 * node + side``: side 0 where a node is entered, 1 where it is left.
        Returns the states from start to sink, empty when there is none. Depth first with
        the straight way back preferred.
        """
        size, stride = self._size, self._ground.stride
        used_next, used_previous, earliest = self._next, self._previous, self._earliest
        came_from: dict[int, int] = {2 * sink: -1}
        stack = [2 * sink]
        while stack:
            state = stack.pop()
            node, side = state >> 1, state & 1
            if side:  # left side: through the node when it is free, or undo the move that leaves it
                follower = used_next.get(node)
                before = [2 * node] if follower is None else [2 * follower]
            else:
                if node < size:
                    if node in self._waiting:
                        return self._trace(state, came_from)
                    before = []
                else:
                    last = node - size
                    cell, step = last % size, last // size
                    origin = used_previous.get(node)
                    before = [
                        2 * (last + offset) + 1
                        for offset in (0, stride, -stride, 1, -1)
                        if earliest[cell + offset] <= step
                        and last + offset != origin
                        and self._standable(cell + offset, step)
                    ]
                if node in used_next:  # undo the way through the node
                    before.append(2 * node + 1)
            for earlier in before:
                if earlier not in came_from:
                    came_from[earlier] = state
                    stack.append(earlier)
        return []

    def _standable(self, cell: int, step: int) -> bool:
        return self._ground.terrain[cell] == FLOOR and self._burn[cell] > step

    def _trace(self, state: int, came_from: dict[int, int]) -> list[int]:
        states = []
        while state != -1:
            states.append(state)
            state = came_from[state]
        return states

    def _augment(self, states: list[int]) -> None:
        """Apply a path: moves that it undoes go first, then those that it adds."""
        added: list[tuple[int, int]] = []
        for state, after in pairwise(states):
            node, other = state >> 1, after >> 1
            if node == other:
                continue
            if state & 1:
                added.append((node, other))
            else:
                del self._next[other]
                del self._previous[node]
        for node, other in added:
            self._next[node] = other
            self._previous[other] = node
        self._waiting.discard(states[0] >> 1)
