"""A complete agent: everybody walks to the nearest exit that can still be reached before the fire.

Try it from the folder of this file:

    ember run v1-pub-05-central-ignition --policy nearest_exit:decide
    ember run --suite ../../scenarios/public/v1 --policy nearest_exit:decide -o runs.jsonl

An agent is a function from an observation to one action for each active person. This one looks
one thing further ahead than `greedy`: it forecasts the fire as if it always spread, and takes no way
on which the fire would be first.
"""

from collections import deque

NEVER = 10**9
MOVES = {"north": (-1, 0), "south": (1, 0), "east": (0, 1), "west": (0, -1)}


def decide(observation):
    """One action for each active person."""
    plan = observation.map
    cells = {(row, col) for row in range(plan.height) for col in range(plan.width)}
    free = cells - set(plan.obstacles)
    exits = {spot.position for spot in plan.exits}
    burns = forecast(observation, free, exits)
    return {
        person.id: first_move(person.position, free, exits, burns)
        for person in observation.people
        if person.status == "active"
    }


def neighbours(cell):
    """(action, cell) for each of the four directions."""
    return [(action, (cell[0] + down, cell[1] + right)) for action, (down, right) in MOVES.items()]


def forecast(observation, free, exits):
    """In how many steps each cell burns at the earliest; cells that never burn are absent."""
    rules = observation.rules
    burnable = free if rules.exits_flammable else free - exits
    to_first_spread = rules.spread_interval - observation.step % rules.spread_interval
    burns = dict.fromkeys(observation.burning, 0)
    queue = deque(observation.burning)
    while queue:
        cell = queue.popleft()
        soon = burns[cell] + rules.spread_interval if burns[cell] else to_first_spread
        for _, near in neighbours(cell):
            if near in burnable and near not in burns:
                burns[near] = soon
                queue.append(near)
    return burns


def first_move(start, free, exits, burns):
    """The first action of a shortest way out that stays ahead of the fire; else stay."""
    queue, seen = deque([(start, 0, "stay")]), {start}
    while queue:
        cell, steps, first = queue.popleft()
        if cell in exits:
            return first
        for action, near in neighbours(cell):
            arrival, limit = steps + 1, burns.get(near, NEVER)
            # Whoever enters an exit together with the fire is out; anywhere else that is too late.
            in_time = arrival <= limit if near in exits else arrival < limit
            if in_time and near in free and near not in seen:
                seen.add(near)
                queue.append((near, arrival, action if first == "stay" else first))
    return "stay"
