"""Scenario schema 1.0: strict parser, canonical form and content hash.

Source: scenario schema document; simulation contract, section 0.
"""

import hashlib
from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property
from typing import Any, NamedTuple

from simulator.checks import MAX_SEED, MAX_SIDE, Checker
from simulator.errors import ScenarioError, item
from simulator.strict_json import canonical_json, indented_json, parse_json
from simulator.versions import SCHEMA_VERSION

MAX_STEPS = 100_000
"""Largest ``termination.max_steps`` (scenario schema, table)."""


class FireModelName(StrEnum):
    """How fire spreads (``fire.model``)."""

    DETERMINISTIC = "deterministic"
    STOCHASTIC = "stochastic"


class EnterFirePolicy(StrEnum):
    """What happens to a person who moves into a burning cell (R6)."""

    BLOCKED = "blocked"
    CASUALTY = "casualty"


class ConflictResolution(StrEnum):
    """Who wins a contested cell (R1). V1 knows one rule."""

    LOWEST_ID_WINS = "lowest_id_wins"


class Position(NamedTuple):
    """A cell, zero-based, row 0 at the top."""

    row: int
    col: int


@dataclass(frozen=True, slots=True)
class ExitSpec:
    """An exit: ID and cell."""

    id: str
    position: Position


@dataclass(frozen=True, slots=True)
class PersonSpec:
    """A person at the start: ID and cell."""

    id: str
    position: Position


@dataclass(frozen=True, slots=True)
class FireConfig:
    """The hazard. ``spread_probability`` is None unless the model is stochastic."""

    model: FireModelName
    spread_interval: int
    exits_flammable: bool
    spread_probability: float | None


@dataclass(frozen=True, slots=True)
class MovementConfig:
    """The movement rules that a scenario can vary."""

    conflict_resolution: ConflictResolution = ConflictResolution.LOWEST_ID_WINS
    enter_fire: EnterFirePolicy = EnterFirePolicy.CASUALTY


@dataclass(frozen=True)
class Scenario:
    """One scenario in canonical order: cells row-major, exits and people by ID.

    Build it with :meth:`from_json`, which checks every rule of the schema. Evaluator-private
    (fairness spec 1.2): a policy never holds a scenario.
    """

    scenario_id: str
    description: str | None
    width: int
    height: int
    obstacles: tuple[Position, ...]
    exits: tuple[ExitSpec, ...]
    people: tuple[PersonSpec, ...]
    ignitions: tuple[Position, ...]
    fire: FireConfig
    movement: MovementConfig
    max_steps: int
    seed: int

    @classmethod
    def from_json(cls, text: str | bytes) -> "Scenario":
        """Parse a scenario document.

        Raises:
            ScenarioError: The first fault, with its place, as in
                ``people[3].position[1]: expected 0 to 18, got 19``.
        """
        return cls.from_dict(parse_json(text, ScenarioError))

    @classmethod
    def from_dict(cls, document: Any) -> "Scenario":
        """As :meth:`from_json`, from an already parsed document."""
        return _ScenarioReader().read(document)

    def to_dict(self) -> dict[str, Any]:
        """The document, JSON-ready; ``description`` only when the scenario has one."""
        fire: dict[str, Any] = {
            "model": str(self.fire.model),
            "spread_interval": self.fire.spread_interval,
            "exits_flammable": self.fire.exits_flammable,
        }
        if self.fire.spread_probability is not None:
            fire["spread_probability"] = self.fire.spread_probability
        document: dict[str, Any] = {
            "schema_version": SCHEMA_VERSION,
            "scenario_id": self.scenario_id,
            "grid": {"width": self.width, "height": self.height},
            "obstacles": [list(p) for p in self.obstacles],
            "exits": [{"id": e.id, "position": list(e.position)} for e in self.exits],
            "people": [{"id": p.id, "position": list(p.position)} for p in self.people],
            "ignitions": [list(p) for p in self.ignitions],
            "fire": fire,
            "movement": {
                "conflict_resolution": str(self.movement.conflict_resolution),
                "enter_fire": str(self.movement.enter_fire),
            },
            "termination": {"max_steps": self.max_steps},
            "seed": self.seed,
        }
        if self.description is not None:
            document["description"] = self.description
        return document

    def to_json(self) -> str:
        """Canonical text."""
        return canonical_json(self.to_dict())

    def to_indented_json(self) -> str:
        """File form: two-space indent, final newline."""
        return indented_json(self.to_dict())

    @cached_property
    def content_hash(self) -> str:
        """SHA-256 of the canonical text, 64 hex digits."""
        return hashlib.sha256(self.to_json().encode("ascii")).hexdigest()

    @property
    def hazard(self) -> str:
        """Short form of the fire: ``det/3`` or ``sto/1 p=0.5`` (interval, probability)."""
        if self.fire.model is FireModelName.DETERMINISTIC:
            return f"det/{self.fire.spread_interval}"
        return f"sto/{self.fire.spread_interval} p={self.fire.spread_probability!r}"

    def ascii_layout(self) -> list[str]:
        """The map at step 0, one string a row: # wall, E exit, F fire, P person, . floor."""
        rows = [["."] * self.width for _ in range(self.height)]
        marks = [
            ("#", self.obstacles),
            ("E", [e.position for e in self.exits]),
            ("P", [p.position for p in self.people]),
            ("F", self.ignitions),
        ]
        for mark, cells in marks:
            for row, col in cells:
                rows[row][col] = mark
        return ["".join(row) for row in rows]


_KEYS = (
    "schema_version", "scenario_id", "grid", "obstacles", "exits", "people",
    "ignitions", "fire", "movement", "termination", "seed",
)  # fmt: skip


class _ScenarioReader:
    """Reads one document in the order of the published table; the first fault is raised."""

    def __init__(self) -> None:
        self.check = Checker(ScenarioError)
        self.width = self.height = 0

    def read(self, document: Any) -> Scenario:
        check = self.check
        top = check.object(document, "", _KEYS, ("description",))
        check.choice(top["schema_version"], "schema_version", [SCHEMA_VERSION])
        scenario_id = check.identifier(top["scenario_id"], "scenario_id")
        description = check.string(top["description"], "description") if "description" in top else None
        grid = check.object(top["grid"], "grid", ("width", "height"))
        self.width = check.integer(grid["width"], "grid.width", 1, MAX_SIDE)
        self.height = check.integer(grid["height"], "grid.height", 1, MAX_SIDE)
        obstacles = self.cells(top["obstacles"], "obstacles", {})
        walls = dict.fromkeys(obstacles, "an obstacle")
        exits = [ExitSpec(i, p) for i, p in self.placed(top["exits"], "exits", walls)]
        exit_cells = {e.position: "an exit" for e in exits}
        ignitions = self.cells(top["ignitions"], "ignitions", walls)
        taken = {**walls, **exit_cells, **dict.fromkeys(ignitions, "an ignition point")}
        people = [PersonSpec(i, p) for i, p in self.placed(top["people"], "people", taken)]
        fire = self.fire(top["fire"])
        if not fire.exits_flammable:
            self.refuse_ignited_exits(top["ignitions"], exit_cells)
        movement = self.movement(top["movement"])
        termination = check.object(top["termination"], "termination", ("max_steps",))
        return Scenario(
            scenario_id=scenario_id,
            description=description,
            width=self.width,
            height=self.height,
            obstacles=tuple(sorted(obstacles)),
            exits=tuple(sorted(exits, key=lambda e: e.id)),
            people=tuple(sorted(people, key=lambda p: p.id)),
            ignitions=tuple(sorted(ignitions)),
            fire=fire,
            movement=movement,
            max_steps=check.integer(termination["max_steps"], "termination.max_steps", 1, MAX_STEPS),
            seed=check.integer(top["seed"], "seed", 0, MAX_SEED),
        )

    def position(self, value: Any, place: str) -> Position:
        return Position(*self.check.position(value, place, self.height, self.width))

    def cells(self, value: Any, place: str, taken: dict[Position, str]) -> list[Position]:
        """A list of distinct cells, none of them in ``taken``."""
        seen: dict[Position, str] = {}
        for index, cell in enumerate(self.check.list(value, place)):
            at = item(place, index)
            position = self.position(cell, at)
            self.check.unique(position, seen, at, "each cell")
            self.refuse_taken(position, taken, at)
            seen[position] = at
        return list(seen)

    def placed(self, value: Any, place: str, taken: dict[Position, str]) -> list[tuple[str, Position]]:
        """A list of ``{id, position}`` with distinct IDs on distinct cells, none of them in ``taken``."""
        ids: dict[str, str] = {}
        cells: dict[Position, str] = {}
        for index, entry in enumerate(self.check.list(value, place, at_least=1)):
            at = item(place, index)
            members = self.check.object(entry, at, ("id", "position"))
            identity = self.check.identifier(members["id"], f"{at}.id")
            self.check.unique(identity, ids, f"{at}.id", "each ID")
            position = self.position(members["position"], f"{at}.position")
            self.check.unique(position, cells, f"{at}.position", "each cell")
            self.refuse_taken(position, taken, f"{at}.position")
            ids[identity] = f"{at}.id"
            cells[position] = f"{at}.position"
        return list(zip(ids, cells, strict=True))

    def refuse_taken(self, position: Position, taken: dict[Position, str], place: str) -> None:
        if position in taken:
            raise ScenarioError(
                f"expected a free cell, got {list(position)}, which is {taken[position]}", place
            )

    def refuse_ignited_exits(self, ignitions: list[Any], exit_cells: dict[Position, str]) -> None:
        for index, cell in enumerate(ignitions):
            if tuple(cell) in exit_cells:
                raise ScenarioError(
                    f"expected no exit, since fire.exits_flammable is false, got {cell}, which is an exit",
                    item("ignitions", index),
                )

    def fire(self, value: Any) -> FireConfig:
        check = self.check
        keys = ("model", "spread_interval", "exits_flammable")
        members = check.object(value, "fire", keys, ("spread_probability",))
        model = FireModelName(check.choice(members["model"], "fire.model", list(FireModelName)))
        interval = check.integer(members["spread_interval"], "fire.spread_interval", 1)
        flammable = check.boolean(members["exits_flammable"], "fire.exits_flammable")
        probability: float | None = None
        if model is FireModelName.STOCHASTIC:
            check.object(value, "fire", (*keys, "spread_probability"))
            probability = self.probability(members["spread_probability"], "fire.spread_probability")
        elif "spread_probability" in members:
            raise ScenarioError("expected no such key for the deterministic model", "fire.spread_probability")
        return FireConfig(model, interval, flammable, probability)

    def probability(self, value: Any, place: str) -> float:
        """A number in [0, 1]; ``1`` and ``1.0`` are one scenario."""
        if isinstance(value, bool) or not isinstance(value, (int, float)) or not 0 <= value <= 1:
            self.check.fail(place, "a number in 0 to 1", value)
        return float(value)

    def movement(self, value: Any) -> MovementConfig:
        members = self.check.object(value, "movement", ("conflict_resolution", "enter_fire"))
        place = "movement.conflict_resolution"
        rule = self.check.choice(members["conflict_resolution"], place, list(ConflictResolution))
        enter = self.check.choice(members["enter_fire"], "movement.enter_fire", list(EnterFirePolicy))
        return MovementConfig(ConflictResolution(rule), EnterFirePolicy(enter))
