"""A deliberately naive second engine, written from the contract with dicts and sets.

It shares no code with `simulator` (standard library only) and makes no attempt to be fast:
every rule is spelled out where the contract states it, every search is a plain
breadth-first search, every random draw is taken one after the other. Tests compare its
records with the simulator's byte for byte.

Source: simulation contract, sections 0 to 4b.
"""

from __future__ import annotations

import copy
import hashlib
import json
from collections import deque
from typing import Any

Cell = tuple[int, int]

SIMULATOR_VERSION = "0.2.0"
OBSERVATION_VERSION = "1.0"
MASK = (1 << 64) - 1
DIRECTIONS: dict[str, Cell] = {"north": (-1, 0), "south": (1, 0), "east": (0, 1), "west": (0, -1)}
ACTIONS = ("stay", "north", "south", "east", "west")


def canonical(value: Any) -> str:
    """Canonical JSON text: sorted keys, no whitespace, ASCII."""
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=True, allow_nan=False)


def sha256(text: str) -> str:
    """SHA-256 of the UTF-8 bytes, 64 hex digits."""
    return hashlib.sha256(text.encode("utf-8")).hexdigest()


def canonical_scenario(document: dict[str, Any]) -> dict[str, Any]:
    """The scenario object as it is hashed: lists sorted, the probability a float."""
    result = copy.deepcopy(document)
    result["obstacles"].sort()
    result["ignitions"].sort()
    result["exits"].sort(key=lambda entry: entry["id"])
    result["people"].sort(key=lambda entry: entry["id"])
    if "spread_probability" in result["fire"]:
        result["fire"]["spread_probability"] = float(result["fire"]["spread_probability"]) + 0.0
    return result


class SplitMix:
    """SplitMix64, one draw after the other."""

    def __init__(self, seed: int, label: str) -> None:
        digest = hashlib.sha256(f"emberbench/stream/{label}/{seed}".encode()).digest()
        self.state = int.from_bytes(digest[:8], "big")
        self.drawn = 0

    def output(self) -> int:
        self.state = (self.state + 0x9E3779B97F4A7C15) & MASK
        value = self.state
        value = ((value ^ (value >> 30)) * 0xBF58476D1CE4E5B9) & MASK
        value = ((value ^ (value >> 27)) * 0x94D049BB133111EB) & MASK
        self.drawn += 1
        return value ^ (value >> 31)

    def uniform(self) -> float:
        return (self.output() >> 11) * 2.0**-53


class ReferenceEngine:
    """Plays one scenario with one seed and keeps the record as plain JSON values."""

    def __init__(self, document: dict[str, Any], seed: int | None = None) -> None:
        self.scenario = canonical_scenario(document)
        self.seed = self.scenario["seed"] if seed is None else seed
        self.walls = {(row, col) for row, col in self.scenario["obstacles"]}
        self.exits = {(entry["position"][0], entry["position"][1]) for entry in self.scenario["exits"]}
        self.position: dict[str, Cell] = {
            entry["id"]: (entry["position"][0], entry["position"][1]) for entry in self.scenario["people"]
        }
        self.status = dict.fromkeys(self.position, "active")
        self.burning = {(row, col) for row, col in self.scenario["ignitions"]}
        self.stream = SplitMix(self.seed, "fire")
        self.step_number = 0
        self.termination: dict[str, Any] | None = None
        self.initial = self._state()
        self.steps: list[dict[str, Any]] = []
        self.burning_history = [frozenset(self.burning)]

    # -- reading -------------------------------------------------------------------

    def active(self) -> list[str]:
        """IDs of the active people, in ID order."""
        return sorted(person for person, status in self.status.items() if status == "active")

    def on_grid(self, cell: Cell) -> bool:
        """Whether the cell lies on the grid."""
        grid = self.scenario["grid"]
        return 0 <= cell[0] < grid["height"] and 0 <= cell[1] < grid["width"]

    def trapped(self) -> list[str]:
        """Active people without a path to an exit that does not burn (R9), in ID order."""
        return [person for person in self.active() if not self.escape_exists(self.position[person])]

    def escape_exists(self, start: Cell) -> bool:
        if start in self.burning:
            return False
        seen, queue = {start}, deque([start])
        while queue:
            cell = queue.popleft()
            if cell in self.exits:
                return True
            for near in _neighbours(cell):
                if self.on_grid(near) and near not in self.walls | self.burning and near not in seen:
                    seen.add(near)
                    queue.append(near)
        return False

    def observation(self) -> dict[str, Any]:
        """The dictionary form of the observation."""
        fire, movement = self.scenario["fire"], self.scenario["movement"]
        return {
            "observation_version": OBSERVATION_VERSION,
            "step": self.step_number,
            "map": {
                "width": self.scenario["grid"]["width"],
                "height": self.scenario["grid"]["height"],
                "obstacles": self.scenario["obstacles"],
                "exits": self.scenario["exits"],
            },
            "rules": {
                "fire_model": fire["model"],
                "spread_interval": fire["spread_interval"],
                "spread_probability": fire.get("spread_probability"),
                "exits_flammable": fire["exits_flammable"],
                "enter_fire": movement["enter_fire"],
                "conflict_resolution": movement["conflict_resolution"],
                "max_steps": self.scenario["termination"]["max_steps"],
            },
            "people": [
                {"id": person, "position": list(self.position[person]), "status": self.status[person]}
                for person in sorted(self.position)
            ],
            "burning": [list(cell) for cell in sorted(self.burning)],
            "allowed_actions": list(ACTIONS),
        }

    def record(self) -> dict[str, Any]:
        """The run record as JSON values."""
        return {
            "header": {
                "simulator_version": SIMULATOR_VERSION,
                "observation_version": OBSERVATION_VERSION,
                "schema_version": self.scenario["schema_version"],
                "scenario_id": self.scenario["scenario_id"],
                "scenario_hash": sha256(canonical(self.scenario)),
                "seed": self.seed,
            },
            "initial": self.initial,
            "steps": list(self.steps),
            "termination": self.termination,
        }

    def record_text(self) -> str:
        """The canonical text of the record."""
        return canonical(self.record())

    def _state(self) -> dict[str, Any]:
        return {
            "people": {
                person: {"position": list(self.position[person]), "status": self.status[person]}
                for person in sorted(self.position)
            },
            "burning": len(self.burning),
            "fire_draws": self.stream.drawn,
            "trapped": self.trapped(),
        }

    # -- one step ------------------------------------------------------------------

    def step(self, actions: dict[str, str]) -> None:
        """Phases 1 to 8, then R9 and R10."""
        assert self.termination is None, "the run has ended"
        assert sorted(actions) == self.active(), "one action for each active person and no other"
        assert set(actions.values()) <= set(ACTIONS), "a known action"
        number = self.step_number + 1
        burning_before = set(self.burning)
        target, outcome = self._aim_and_refuse(actions, burning_before)
        self._resolve(target, outcome)
        entered_fire = []
        for person, cell in target.items():
            outcome[person] = "moved"
            self.position[person] = cell
            if cell in burning_before:
                entered_fire.append(person)
        evacuated = [
            person
            for person in sorted(actions)
            if person not in entered_fire
            and self.position[person] in self.exits
            and self.position[person] not in burning_before
        ]
        for person in evacuated:
            self.status[person] = "evacuated"
        ignited = self.spread(number)
        casualties = []
        for person in sorted(actions):
            if person in entered_fire:
                casualties.append({"id": person, "cause": "entered_fire"})
            elif self.status[person] == "active" and self.position[person] in self.burning:
                casualties.append({"id": person, "cause": "fire_spread"})
        for casualty in casualties:
            self.status[casualty["id"]] = "casualty"
        self.step_number = number
        self.burning_history.append(frozenset(self.burning))
        self.steps.append(
            {
                "step": number,
                "actions": {person: actions[person] for person in sorted(actions)},
                "movements": {person: outcome[person] for person in sorted(actions)},
                "ignitions": [list(cell) for cell in sorted(ignited)],
                "evacuations": evacuated,
                "casualties": casualties,
                "state": self._state(),
            }
        )
        if not self.active():
            self.termination = {"reason": "all_resolved", "step": number}
        elif number >= self.scenario["termination"]["max_steps"]:
            self.termination = {"reason": "max_steps", "step": number}

    def _aim_and_refuse(
        self, actions: dict[str, str], burning: set[Cell]
    ) -> tuple[dict[str, Cell], dict[str, str]]:
        """Phases 2 and 3: the movers that the ground lets through, and the outcomes so far."""
        target: dict[str, Cell] = {}
        outcome: dict[str, str] = {}
        blocked_by_fire = self.scenario["movement"]["enter_fire"] == "blocked"
        for person, action in actions.items():
            if action == "stay":
                outcome[person] = "stayed"
                continue
            row, col = self.position[person]
            cell = (row + DIRECTIONS[action][0], col + DIRECTIONS[action][1])
            if not self.on_grid(cell):
                outcome[person] = "blocked_bounds"
            elif cell in self.walls:
                outcome[person] = "blocked_wall"
            elif cell in burning and blocked_by_fire:
                outcome[person] = "blocked_fire"
            else:
                target[person] = cell
        return target, outcome

    def _resolve(self, target: dict[str, Cell], outcome: dict[str, str]) -> None:
        """Phase 4: conflict, cycle, occupied; removes the losers from `target`."""
        for cell in set(target.values()):
            rivals = sorted(person for person in target if target[person] == cell)
            for loser in rivals[1:]:
                del target[loser]
                outcome[loser] = "blocked_conflict"
        holder = {self.position[person]: person for person in self.active()}
        in_cycle = set()
        for person in target:
            walker: str | None = person
            for _ in range(len(target)):
                walker = holder.get(target[walker]) if walker in target else None
                if walker == person:
                    in_cycle.add(person)
                    break
        for person in in_cycle:
            del target[person]
            outcome[person] = "blocked_cycle"
        changed = True
        while changed:
            changed = False
            for person in list(target):
                other = holder.get(target[person])
                if other is not None and other not in target:
                    del target[person]
                    outcome[person] = "blocked_occupied"
                    changed = True

    def spread(self, number: int) -> set[Cell]:
        """Phase 7."""
        fire, grid = self.scenario["fire"], self.scenario["grid"]
        if number % fire["spread_interval"] != 0:
            return set()
        ignited = set()
        for row in range(grid["height"]):
            for col in range(grid["width"]):
                cell = (row, col)
                if cell in self.walls or cell in self.burning:
                    continue
                if cell in self.exits and not fire["exits_flammable"]:
                    continue
                edges = [near for near in _neighbours(cell) if near in self.burning]
                if not edges:
                    continue
                if fire["model"] == "deterministic":
                    ignited.add(cell)
                    continue
                draws = [self.stream.uniform() for _ in edges]
                if any(draw < fire["spread_probability"] for draw in draws):
                    ignited.add(cell)
        self.burning |= ignited
        return ignited


def _neighbours(cell: Cell) -> list[Cell]:
    """The four neighbours in the order north, south, east, west."""
    return [(cell[0] + row, cell[1] + col) for row, col in DIRECTIONS.values()]
