"""The ``cautious`` baseline: foresees the fire, then sends everybody out by one joint plan.

It sees observations only. From the burning cells and the published rules it computes when
each cell burns if the fire spreads wherever it may (exact for deterministic fire, the worst
case for stochastic fire), plans with :class:`EvacuationFlow`, and plans again when people
or fire are not where the plan has them.

Source: simulation contract, section 6 (flow bound); fairness spec, section 4 (all inputs).
"""

from simulator.evacuation_flow import EvacuationFlow
from simulator.fire import NEVER
from simulator.ground import EXIT, FLOOR, Ground, plain_ground
from simulator.observation import Action, MapView, Observation, PersonState, PersonStatus, RulesView
from simulator.policies.simple import greedy


def fire_forecast(ground: Ground, burning: set[int], rules: RulesView, step: int) -> list[int]:
    """Steps from now until each cell burns if fire takes every cell that it may; 0 for burning cells.

    Flat cells as in :mod:`simulator.ground`. Cells that are never reached get ``NEVER``.
    """
    burn = [NEVER] * len(ground.terrain)
    for cell in burning:
        burn[cell] = 0
    if rules.spread_probability == 0:
        return burn
    burnable = (FLOOR, EXIT) if rules.exits_flammable else (FLOOR,)
    frontier, interval = burning, rules.spread_interval
    spread = (step // interval + 1) * interval
    while frontier:
        near = {n for cell in frontier for n in ground.neighbours(cell)}
        frontier = {n for n in near if burn[n] == NEVER and ground.terrain[n] in burnable}
        for cell in frontier:
            burn[cell] = spread - step
        spread += interval
    return burn


class CautiousPolicy:
    """One episode of the baseline; holds the map, the plan and what it foresees."""

    def __init__(self) -> None:
        self._map: MapView | None = None
        self._planned_at = 0
        self._paths: dict[str, list[int]] = {}
        self._burn: list[int] = []

    def for_episode(self) -> "CautiousPolicy":
        """A policy without memory of another episode; the episode runner asks for it."""
        return CautiousPolicy()

    def __call__(self, observation: Observation) -> dict[str, Action]:
        if observation.map is not self._map and observation.map != self._map:
            plan = observation.map
            exits = [spec.position for spec in plan.exits]
            self._ground = plain_ground(plan.width, plan.height, plan.obstacles, exits)
            self._paths = {}
        self._map = observation.map
        active = [p for p in observation.people if p.status is PersonStatus.ACTIVE]
        burning = {self._ground.cell(position) for position in observation.burning}
        if not self._still_holds(observation.step, active, burning):
            self._plan(observation, active, burning)
        return self._actions(observation, active)

    def _still_holds(self, step: int, active: list[PersonState], burning: set[int]) -> bool:
        """Whether everybody planned for and every flame is where the plan has it."""
        since = step - self._planned_at
        if since <= 0 or not self._paths:
            return False
        if {cell for cell, burns in enumerate(self._burn) if burns <= since} != burning:
            return False
        cell_of = self._ground.cell
        return all(
            person.id not in self._paths or self._paths[person.id][since] == cell_of(person.position)
            for person in active
        )

    def _plan(self, observation: Observation, active: list[PersonState], burning: set[int]) -> None:
        ground, rules = self._ground, observation.rules
        self._planned_at = observation.step
        self._burn = fire_forecast(ground, burning, rules, observation.step)
        start_of = {ground.cell(person.position): person.id for person in active}
        flow = EvacuationFlow(ground, self._burn, list(start_of), rules.max_steps - observation.step)
        self._paths = {start_of[start]: cells for start, cells in flow.paths().items()}

    def _actions(self, observation: Observation, active: list[PersonState]) -> dict[str, Action]:
        """The next move of each path; whom no plan can save walks as ``greedy``, out of the others' way."""
        ground = self._ground
        since = observation.step - self._planned_at
        word = dict(zip((0, -ground.stride, ground.stride, 1, -1), observation.allowed_actions, strict=True))
        actions: dict[str, Action] = {}
        wanted = set()
        for person in active:
            path = self._paths.get(person.id)
            if path is not None:
                actions[person.id] = word[path[since + 1] - path[since]]
                wanted.add(path[since + 1])
        if len(actions) < len(active):
            offset = {action: step for step, action in word.items()}
            for identity, action in greedy(observation).items():
                if identity not in actions:
                    person = next(p for p in active if p.id == identity)
                    target = ground.cell(person.position) + offset[action]
                    actions[identity] = Action.STAY if target in wanted else action
        return actions


cautious = CautiousPolicy()
"""The ``cautious`` baseline; the episode runner takes a fresh one for each episode."""
