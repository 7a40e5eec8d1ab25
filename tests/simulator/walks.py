"""Plain walking distances and walks through a known fire, written without the simulator's engine."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator

from simulator import Scenario

Cell = tuple[int, int]


def neighbours(scenario: Scenario, cell: Cell) -> Iterator[Cell]:
    """The four neighbours on the grid that are no walls."""
    walls = set(scenario.obstacles)
    row, col = cell
    for near in ((row - 1, col), (row + 1, col), (row, col - 1), (row, col + 1)):
        if 0 <= near[0] < scenario.height and 0 <= near[1] < scenario.width and near not in walls:
            yield near


def distances(scenario: Scenario, start: Cell) -> dict[Cell, int]:
    """Steps on foot from a cell to every cell that can be reached, fire and people ignored."""
    found = {start: 0}
    queue = deque([start])
    while queue:
        cell = queue.popleft()
        for near in neighbours(scenario, cell):
            if near not in found:
                found[near] = found[cell] + 1
                queue.append(near)
    return found


def burning_by_step(scenario: Scenario) -> list[set[Cell]]:
    """The burning cells after each step of a deterministic fire, from 0 to the step limit."""
    exits = {tuple(door.position) for door in scenario.exits}
    burning = {tuple(cell) for cell in scenario.ignitions}
    states = [set(burning)]
    for step in range(1, scenario.max_steps + 1):
        if step % scenario.fire.spread_interval == 0:
            burning = burning | {
                near
                for cell in burning
                for near in neighbours(scenario, cell)
                if scenario.fire.exits_flammable or near not in exits
            }
        states.append(set(burning))
    return states


def first_way_out(scenario: Scenario, start: Cell) -> int | None:
    """The earliest step in which a person alone can be evacuated, or None. Search through time."""
    exits = {tuple(door.position) for door in scenario.exits}
    fire = burning_by_step(scenario)
    here = {start}
    for step in range(1, scenario.max_steps + 1):
        reached = here | {near for cell in here for near in neighbours(scenario, cell)}
        reached -= fire[step - 1]  # R6: nobody walks into what burns already
        if reached & exits:
            return step
        here = reached - fire[step]  # R7: who stands on a cell that ignites is lost
    return None
