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
    fire = forecast(observation)
    active = [person for person in observation.people if person.status == "active"]
    return {person.id: first_move(observation, fire, person.position) for person in active}


def inside(plan, cell):
    """Whether a cell is on the map and no wall."""
    return 0 <= cell[0] < plan.height and 0 <= cell[1] < plan.width and cell not in plan.obstacles


def neighbours(cell):
    """(action, cell) for each of the four directions."""
    return [(action, (cell[0] + down, cell[1] + right)) for action, (down, right) in MOVES.items()]


def forecast(observation):
    """In how many steps each cell burns at the earliest; cells that never burn are absent."""
    rules, plan = observation.rules, observation.map
    fireproof = set() if rules.exits_flammable else {spot.position for spot in plan.exits}
    to_first_spread = rules.spread_interval - observation.step % rules.spread_interval
    burns_in = dict.fromkeys(observation.burning, 0)
    queue = deque(observation.burning)
    while queue:
        cell = queue.popleft()
        soon = burns_in[cell] + rules.spread_interval if burns_in[cell] else to_first_spread
        for _, near in neighbours(cell):
            if inside(plan, near) and near not in burns_in and near not in fireproof:
                burns_in[near] = soon
                queue.append(near)
    return burns_in


def first_move(observation, fire, start):
    """The first action of a shortest way out that stays ahead of the fire; else stay."""
    plan = observation.map
    exits = {spot.position for spot in plan.exits}
    queue, seen = deque([(start, 0, "stay")]), {start}
    while queue:
        cell, steps, first = queue.popleft()
        if cell in exits:
            return first
        for action, near in neighbours(cell):
            arrival, burns = steps + 1, fire.get(near, NEVER)
            # Whoever enters an exit together with the fire is out; anywhere else that is too late.
            in_time = arrival <= burns if near in exits else arrival < burns
            if in_time and near not in seen and inside(plan, near):
                seen.add(near)
                queue.append((near, arrival, action if first == "stay" else first))
    return "stay"
