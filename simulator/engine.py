"""The eight phases of a step, rules R1 to R10, on flat integer cells.

People are numbered in ID order, so that a smaller number is a lower ID (R1). The functions
stand in the order of the contract and can be read beside it. Nobody here knows about
records, text or observations.

Source: simulation contract, section 3; fairness spec, section 3.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from simulator.fire import FireTrajectory
from simulator.ground import EXIT, OUTSIDE, WALL, Ground
from simulator.observation import Action, PersonStatus


class Outcome(StrEnum):
    """What became of an action."""

    STAYED = "stayed"
    MOVED = "moved"
    BLOCKED_BOUNDS = "blocked_bounds"
    BLOCKED_WALL = "blocked_wall"
    BLOCKED_FIRE = "blocked_fire"
    BLOCKED_CONFLICT = "blocked_conflict"
    BLOCKED_CYCLE = "blocked_cycle"
    BLOCKED_OCCUPIED = "blocked_occupied"


class Cause(StrEnum):
    """What cost a casualty."""

    ENTERED_FIRE = "entered_fire"
    FIRE_SPREAD = "fire_spread"


class EndReason(StrEnum):
    """Why a run ended (R10)."""

    ALL_RESOLVED = "all_resolved"
    MAX_STEPS = "max_steps"


STAY, NORTH, SOUTH, EAST, WEST = range(5)
ACTIONS: Final = (Action.STAY, Action.NORTH, Action.SOUTH, Action.EAST, Action.WEST)
"""Action of each action code."""

(
    STAYED, MOVED, BLOCKED_BOUNDS, BLOCKED_WALL, BLOCKED_FIRE,
    BLOCKED_CONFLICT, BLOCKED_CYCLE, BLOCKED_OCCUPIED, UNDECIDED,
) = range(9)  # fmt: skip
OUTCOMES: Final = tuple(Outcome)
"""Outcome of each outcome code; UNDECIDED never leaves a step."""

ACTIVE, EVACUATED, CASUALTY = range(3)
STATUSES: Final = (PersonStatus.ACTIVE, PersonStatus.EVACUATED, PersonStatus.CASUALTY)
"""Status of each status code."""

NOBODY: Final = -1


@dataclass(slots=True)
class World:
    """The present state of a run. ``occupant`` gives the active person on each cell."""

    ground: Ground
    fire: FireTrajectory
    entering_fire_kills: bool
    step: int
    active: list[int]
    cells: list[int]
    statuses: list[int]
    occupant: list[int]

    @classmethod
    def start(cls, fire: FireTrajectory, *, entering_fire_kills: bool) -> "World":
        """The state at step 0."""
        ground = fire.ground
        occupant = [NOBODY] * len(ground.terrain)
        for person, cell in enumerate(ground.people):
            occupant[cell] = person
        count = len(ground.people)
        return cls(
            ground,
            fire,
            entering_fire_kills,
            0,
            list(range(count)),
            list(ground.people),
            [ACTIVE] * count,
            occupant,
        )


@dataclass(frozen=True, slots=True)
class StepEvents:
    """What one step did; people are numbers in ID order, cells are flat.

    ``actors`` were active at the start of the step; ``actions`` and ``outcomes`` stand
    beside them. ``casualties`` are (person, cause), in ID order.
    """

    step: int
    actors: list[int]
    actions: Sequence[int]
    outcomes: list[int]
    ignitions: list[int]
    evacuations: list[int]
    casualties: list[tuple[int, Cause]]


def advance(world: World, actions: Sequence[int]) -> StepEvents:
    """Make one step: phases 2 to 8. ``actions`` stand beside ``world.active`` (phase 1 is the caller's)."""
    actors = world.active
    step = world.step + 1
    world.fire.reach(step)
    outcomes, targets = aim_and_refuse(world, actions)
    claims = resolve_conflicts(outcomes, targets)
    resolve_chains(world, claims, outcomes)
    casualties = move(world, outcomes, targets)
    evacuations = evacuate(world, outcomes, targets)
    ignitions = world.fire.ignitions[step]
    casualties += count_casualties(world, ignitions)
    world.step = step
    if evacuations or casualties:
        statuses = world.statuses
        world.active = [person for person in actors if statuses[person] == ACTIVE]
        casualties.sort()
    return StepEvents(step, actors, actions, outcomes, ignitions, evacuations, casualties)


def aim_and_refuse(world: World, actions: Sequence[int]) -> tuple[list[int], list[int]]:
    """
    Phases 2 and 3: each mover's target, and what the ground forbids before people speak.

    Returns:
        Outcomes and targets beside ``world.active``: a mover is UNDECIDED and has its
        target cell, a non-mover has its outcome and target 0.
    """
    stride = world.ground.stride
    offsets = (0, -stride, stride, 1, -1)
    terrain, burn, cells = world.ground.terrain, world.fire.burn, world.cells
    blocked_by_fire = not world.entering_fire_kills  # R6
    now = world.step
    outcomes: list[int] = []
    targets: list[int] = []
    for person, action in zip(world.active, actions, strict=True):
        target = 0
        if action == STAY:
            outcome = STAYED
        else:
            target = cells[person] + offsets[action]
            kind = terrain[target]
            if kind == WALL:
                outcome = BLOCKED_WALL
            elif kind == OUTSIDE:
                outcome = BLOCKED_BOUNDS
            elif blocked_by_fire and burn[target] <= now:
                outcome = BLOCKED_FIRE
            else:
                outcome = UNDECIDED
        outcomes.append(outcome)
        targets.append(target)
    return outcomes, targets


def resolve_conflicts(outcomes: list[int], targets: Sequence[int]) -> dict[int, int]:
    """
    Phase 4a (R1): of several movers with one target the lowest ID stays a mover.

    The decision uses intent only: a loser is not re-awarded the cell if the winner fails
    later.

    Args:
        outcomes: Beside the active people, who stand in ID order; a loser's is set here.
        targets: Their target cells, beside them.

    Returns:
        For each claimed cell the index, beside the active people, of the mover that claims it.
    """
    claims: dict[int, int] = {}
    for index, outcome in enumerate(outcomes):
        if outcome == UNDECIDED:
            if targets[index] in claims:  # in ID order, so the first is the lowest
                outcomes[index] = BLOCKED_CONFLICT
            else:
                claims[targets[index]] = index
    return claims


def resolve_chains(world: World, claims: dict[int, int], outcomes: list[int]) -> None:
    """
    Phases 4b and 4c: cycles (R2, R3), then movers behind a non-mover.

    After 4a every cell has at most one mover that wants it, so movers form simple chains
    and closed ones. A chain whose head finds its cell empty moves as a whole; one whose
    head finds a non-mover is blocked as a whole, which is where the repetition of 4c
    ends; what is left has no head: the cycles. The tests compare this with the plain
    repetition.
    """
    active, cells, occupant = world.active, world.cells, world.occupant
    place_of = {person: index for index, person in enumerate(active)} if claims else {}
    for target, head in claims.items():
        holder = occupant[target]
        if holder == NOBODY:
            result = MOVED
        elif outcomes[place_of[holder]] not in (UNDECIDED, MOVED):
            result = BLOCKED_OCCUPIED
        else:
            continue  # decided together with the holder, or part of a cycle
        index: int | None = head
        while index is not None and outcomes[index] == UNDECIDED:
            outcomes[index] = result
            index = claims.get(cells[active[index]])
    for index in claims.values():
        if outcomes[index] == UNDECIDED:
            outcomes[index] = BLOCKED_CYCLE


def move(world: World, outcomes: Sequence[int], targets: Sequence[int]) -> list[tuple[int, Cause]]:
    """Phase 5: move; who moved onto a cell that burned at the start of the step is a casualty (R6)."""
    cells, occupant, burn, statuses = world.cells, world.occupant, world.fire.burn, world.statuses
    now = world.step
    lost: list[tuple[int, Cause]] = []
    movers = [index for index, outcome in enumerate(outcomes) if outcome == MOVED]
    for index in movers:
        occupant[cells[world.active[index]]] = NOBODY
    for index in movers:
        person, target = world.active[index], targets[index]
        cells[person] = target
        if burn[target] <= now:
            statuses[person] = CASUALTY
            lost.append((person, Cause.ENTERED_FIRE))
        else:
            occupant[target] = person
    return lost


def evacuate(world: World, outcomes: Sequence[int], targets: Sequence[int]) -> list[int]:
    """
    Phase 6 (R4, R5): everybody on an exit that did not burn at the start of the step is out.

    Nobody starts on an exit and whoever enters one leaves in the same step, evacuated or
    as a casualty, so only this step's movers can stand on one.
    """
    terrain, statuses, occupant = world.ground.terrain, world.statuses, world.occupant
    out: list[int] = []
    for index, target in enumerate(targets):
        if terrain[target] == EXIT and outcomes[index] == MOVED:
            person = world.active[index]
            if statuses[person] == ACTIVE:
                statuses[person] = EVACUATED
                occupant[target] = NOBODY
                out.append(person)
    return out


def count_casualties(world: World, ignitions: Sequence[int]) -> list[tuple[int, Cause]]:
    """
    Phase 8: every person still active on a burning cell; those of phase 5 are counted already.

    Nobody active stands on a cell that burned before, so only this step's ignitions
    (phase 7) can hold one.
    """
    lost: list[tuple[int, Cause]] = []
    for cell in ignitions:
        person = world.occupant[cell]
        if person != NOBODY:
            world.statuses[person] = CASUALTY
            world.occupant[cell] = NOBODY
            lost.append((person, Cause.FIRE_SPREAD))
    return lost


def trapped(world: World) -> list[int]:
    """R9: active people without a path to an exit that does not burn, in ID order."""
    deadline, cells, now = world.fire.deadline, world.cells, world.step
    return [person for person in world.active if deadline[cells[person]] <= now]


def end_reason(world: World, max_steps: int) -> EndReason | None:
    """R10: why the run ends after the present step, or None. Never at step 0."""
    if not world.active:
        return EndReason.ALL_RESOLVED
    if world.step >= max_steps:
        return EndReason.MAX_STEPS
    return None
