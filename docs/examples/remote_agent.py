"""A complete agent that plays over HTTP: python remote_agent.py SITE TOKEN AGENT SCENARIO [MODE]"""

import json
import sys
from urllib.error import HTTPError
from urllib.request import Request, urlopen

MOVES = {"stay": (0, 0), "north": (-1, 0), "south": (1, 0), "east": (0, 1), "west": (0, -1)}


def call(path, body):
    headers = {"Authorization": f"Token {token}", "Content-Type": "application/json"}
    try:
        return json.load(urlopen(Request(site + path, json.dumps(body).encode(), headers)))
    except HTTPError as error:
        if error.code == 409:  # too late, or sent before: go on from the state in the answer
            return json.load(error)
        sys.exit(error.read().decode())


def decide(observation):
    plan = observation["map"]
    free = {(row, col) for row in range(plan["height"]) for col in range(plan["width"])}
    free -= {tuple(cell) for cell in [*plan["obstacles"], *observation["burning"]]}
    way = {tuple(spot["position"]): 0 for spot in plan["exits"] if tuple(spot["position"]) in free}
    for row, col in (queue := list(way)):  # steps to the nearest exit, past walls and fire
        for near in {(row + down, col + right) for down, right in MOVES.values()} & free - way.keys():
            way[near] = way[row, col] + 1
            queue.append(near)
    actions = {}
    for person in (person for person in observation["people"] if person["status"] == "active"):
        row, col = person["position"]
        ahead = {move: way.get((row + d, col + r), len(free)) for move, (d, r) in MOVES.items()}
        actions[person["id"]] = min(ahead, key=ahead.get)
    return actions


if __name__ == "__main__":
    site, token, agent, scenario, mode = [*sys.argv[1:], "practice"][:5]
    now = call("/api/v1/episodes/", {"agent": agent, "scenario": scenario, "mode": mode})
    steps = f"/api/v1/episodes/{now['id']}/steps/"
    while not now["end"]:
        now = call(steps, {"step": now["step"] + 1, "actions": decide(now["observation"])})
    print(json.dumps(now["end"]))
