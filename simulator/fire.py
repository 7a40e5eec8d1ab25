"""Fire: one trajectory for each scenario and seed, shared by every run matched on them.

Fire is exogenous (fairness spec, section 2): it sees terrain, burning set, step number and
its own stream, never people. So the whole trajectory can be computed once.

Source: simulation contract, sections 2 (phase 7) and 6 (``burn`` and ``deadline``).
"""

import math
from itertools import repeat
from threading import Lock
from typing import Final

from simulator.ground import EXIT, FLOOR, Ground, ground_of
from simulator.kept import Kept
from simulator.rng import GAMMA, MASK, UNIFORM_BITS, mix, stream_seed
from simulator.scenario import FireModelName, Position, Scenario

NEVER: Final = 1 << 62
"""``burn`` of a cell that has not burned within the horizon, ``deadline`` of one never cut off."""

_FIRST_HORIZON: Final = 64
_KEPT_TRAJECTORIES: Final = 64

_NO_CELLS: Final[list[int]] = []
"""The ignitions of every step of a fire that stands still: one list for all, which nobody changes."""


class FireTrajectory:
    """The fire of one scenario and seed, computed ahead as far as somebody asked.

    Lists are indexed by cell (see :mod:`simulator.ground`) or by step. All reads are valid
    up to ``horizon``; :meth:`reach` moves it. A fire that cannot grow any more has every
    later step known, and the horizon then is ``max_steps``.
    """

    def __init__(self, scenario: Scenario, seed: int) -> None:
        fire = scenario.fire
        self.ground: Ground = ground_of(scenario)
        self.max_steps = scenario.max_steps
        self.horizon = 0
        self.burn: list[int] = [NEVER] * len(self.ground.terrain)
        self.deadline: list[int] = []
        self.ignitions: list[list[int]] = [[]]
        """Cells that ignite in each step, row-major; step 0 holds none, see ``Scenario.ignitions``."""
        self.burning: list[int] = [0]
        """Number of burning cells after each step."""
        self.draws: list[int] = [0]
        """Position of the fire stream after each step."""
        self._interval = fire.spread_interval
        self._burnable = (FLOOR, EXIT) if fire.exits_flammable else (FLOOR,)
        self._lit_neighbours = [0] * len(self.burn)
        self._candidates: set[int] = set()
        self._lock = Lock()
        self._stream = stream_seed(seed, "fire")
        self._threshold: int | None = None
        if fire.model is FireModelName.STOCHASTIC:
            assert fire.spread_probability is not None
            # output >> 11 < p * 2**53 as integers; scaling p by a power of two is exact.
            self._threshold = math.ceil(fire.spread_probability * 2**UNIFORM_BITS)
        self._light(self.ground.ignitions, 0)
        self.burning[0] = len(self.ground.ignitions)
        self._extend(min(_FIRST_HORIZON, self.max_steps))

    def reach(self, step: int) -> None:
        """Make every list valid up to ``step`` (at most ``max_steps``)."""
        if step > self.horizon:
            with self._lock:
                if step > self.horizon:
                    self._extend(min(self.max_steps, max(step, 4 * self.horizon)))

    def arrivals(self) -> dict[Position, int]:
        """Step after which each cell burns, for the cells that burn within ``max_steps``; 0 for ignitions."""
        self.reach(self.max_steps)
        positions = self.ground.positions
        return {positions[cell]: step for cell, step in enumerate(self.burn) if step < NEVER}

    def _extend(self, horizon: int) -> None:
        for step in range(len(self.ignitions), horizon + 1):
            if not self._candidates:
                horizon = self.max_steps
                break
            self._spread(step)
        missing = horizon + 1 - len(self.ignitions)
        self.ignitions.extend(repeat(_NO_CELLS, missing))
        self.burning.extend(repeat(self.burning[-1], missing))
        self.draws.extend(repeat(self.draws[-1], missing))
        self.deadline = deadlines(self.ground, self.burn)
        self.horizon = horizon

    def _spread(self, step: int) -> None:
        """Phase 7 of one step."""
        lit: list[int] = []
        draws = self.draws[-1]
        if step % self._interval == 0:
            candidates = sorted(self._candidates)  # row-major
            if self._threshold is None:
                lit = candidates
            else:
                lit, draws = self._draw(candidates, draws, self._threshold)
            self._light(lit, step)
        self.ignitions.append(lit)
        self.burning.append(self.burning[-1] + len(lit))
        self.draws.append(draws)

    def _draw(self, candidates: list[int], draws: int, threshold: int) -> tuple[list[int], int]:
        """One draw for each (candidate, burning neighbour) edge, taken even when already lit."""
        lit = []
        for cell in candidates:
            ignites = False
            for _ in range(self._lit_neighbours[cell]):
                draws += 1
                output = mix((self._stream + draws * GAMMA) & MASK)
                if output >> (64 - UNIFORM_BITS) < threshold:
                    ignites = True
            if ignites:
                lit.append(cell)
        return lit, draws

    def _light(self, cells: list[int], step: int) -> None:
        """Set cells burning and note the candidates that they make for the next spread."""
        for cell in cells:
            self.burn[cell] = step
        self._candidates.difference_update(cells)
        terrain, burn = self.ground.terrain, self.burn
        for cell in cells:
            for near in self.ground.neighbours(cell):
                if burn[near] == NEVER and terrain[near] in self._burnable:
                    self._lit_neighbours[near] += 1
                    self._candidates.add(near)


def deadlines(ground: Ground, burn: list[int]) -> list[int]:
    """
    Widest path to an exit for every cell: an active person there is trapped after step t (R9)
    exactly if ``deadline <= t``.

    The deadline of a cell is the largest value, over its paths to an exit, of the smallest
    ``burn`` on the path, ends included; 0 where no exit can be reached. One flood from the
    exits in descending order of value. O(cells).

    Source: simulation contract, section 6; the plain search it replaces is compared with it
    at every step by the tests.
    """
    terrain = ground.terrain
    best = [0] * len(burn)
    buckets: dict[int, list[int]] = {}

    def offer(cell: int, value: int) -> None:
        if value > best[cell]:
            best[cell] = value
            buckets.setdefault(value, []).append(cell)

    for cell in ground.exits:
        offer(cell, burn[cell])
    while buckets:
        value = max(buckets)
        pending = buckets.pop(value)
        while pending:
            cell = pending.pop()
            if best[cell] != value:
                continue  # reached later by a wider path
            for near in ground.neighbours(cell):
                if terrain[near] in (FLOOR, EXIT) and best[near] < value:
                    width = min(value, burn[near])
                    if width == value:
                        best[near] = value
                        pending.append(near)
                    else:
                        offer(near, width)
    return best


_trajectories: Kept[tuple[str, int], FireTrajectory] = Kept(_KEPT_TRAJECTORIES)


def fire_trajectory(scenario: Scenario, seed: int) -> FireTrajectory:
    """The trajectory of a scenario and seed, shared by all runs matched on them."""
    stochastic = scenario.fire.model is FireModelName.STOCHASTIC
    key = (scenario.content_hash, seed if stochastic else 0)
    return _trajectories.get(key, lambda: FireTrajectory(scenario, key[1]))
