"""Run record: strict loader, canonical form and digest.

The loader judges form only: keys, JSON types, the ID pattern and ranges. What the values
say is judged by the replay (:mod:`simulator.verification`).

Source: simulation contract, sections 4 and 5.
"""

import hashlib
import json
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Final

import msgspec

from simulator.checks import MAX_SEED, Checker
from simulator.errors import RecordFormatError, child, item
from simulator.strict_json import canonical_json, parse_json

HEADER_KEYS: Final = (
    "simulator_version", "observation_version", "schema_version", "scenario_id", "scenario_hash", "seed",
)  # fmt: skip
RECORD_KEYS: Final = ("header", "initial", "steps", "termination")
STEP_KEYS: Final = ("step", "actions", "movements", "ignitions", "evacuations", "casualties", "state")
STATE_KEYS: Final = ("people", "burning", "fire_draws", "trapped")
PERSON_KEYS: Final = ("position", "status")
CASUALTY_KEYS: Final = ("id", "cause")
TERMINATION_KEYS: Final = ("reason", "step")

_check = Checker(RecordFormatError)


@dataclass(frozen=True, slots=True)
class RecordHeader:
    """What a record says it is of. ``seed`` is evaluator-private."""

    simulator_version: str
    observation_version: str
    schema_version: str
    scenario_id: str
    scenario_hash: str
    seed: int


@dataclass(frozen=True, slots=True)
class Termination:
    """Why and after which step a run ended."""

    reason: str
    step: int


class _HeaderOnly(msgspec.Struct):
    header: Any


@dataclass(frozen=True)
class RunRecord:
    """A run record in canonical form. Evaluator-private until the evaluation is over."""

    header: RecordHeader
    termination: Termination | None
    text: str

    @classmethod
    def from_json(cls, text: str | bytes) -> "RunRecord":
        """Load a record; white space and key order of the text do not matter.

        Raises:
            RecordFormatError: The first fault, with its place.
        """
        document = parse_json(text, RecordFormatError)
        check_record(document)
        end = document["termination"]
        return cls(
            header=RecordHeader(**document["header"]),
            termination=None if end is None else Termination(**end),
            text=canonical_json(document),
        )

    def to_json(self) -> str:
        """Canonical text."""
        return self.text

    def to_dict(self) -> dict[str, Any]:
        """The document, JSON-ready; a new one at each call."""
        document: dict[str, Any] = json.loads(self.text)
        return document

    @cached_property
    def digest(self) -> str:
        """SHA-256 of the canonical text, 64 hex digits."""
        return hashlib.sha256(self.text.encode("ascii")).hexdigest()


def record_header(text: str | bytes) -> RecordHeader:
    """The header of a record, the rest of the document unchecked.

    A cheap look for choosing the scenario that a record is to be replayed on; the replay
    judges the whole text.

    Raises:
        RecordFormatError: The text is no JSON object or its header is malformed.
    """
    try:
        header: Any = msgspec.json.decode(text, type=_HeaderOnly).header
    except (msgspec.MsgspecError, RecursionError, UnicodeError):
        document = parse_json(text, RecordFormatError)  # the strict reader says what is wrong
        if not isinstance(document, dict) or "header" not in document:
            _check.object(document, "", RECORD_KEYS)
        header = document["header"]
    return RecordHeader(**_header(header))


def check_record(document: Any) -> None:
    """Check the form of a parsed record, in the order in which the contract prints it.

    Raises:
        RecordFormatError: The first fault, with its place.
    """
    top = _check.object(document, "", RECORD_KEYS)
    _header(top["header"])
    _state(top["initial"], "initial")
    for index, step in enumerate(_check.list(top["steps"], "steps")):
        _step(step, item("steps", index))
    if top["termination"] is not None:
        end = _check.object(top["termination"], "termination", TERMINATION_KEYS)
        _check.string(end["reason"], "termination.reason")
        _check.whole(end["step"], "termination.step")


def _header(value: Any) -> dict[str, Any]:
    header = _check.object(value, "header", HEADER_KEYS)
    for key in ("simulator_version", "observation_version", "schema_version"):
        _check.string(header[key], f"header.{key}")
    _check.identifier(header["scenario_id"], "header.scenario_id")
    _check.hash(header["scenario_hash"], "header.scenario_hash")
    _check.integer(header["seed"], "header.seed", 0, MAX_SEED)
    return header


def _step(value: Any, place: str) -> None:
    step = _check.object(value, place, STEP_KEYS)
    _check.whole(step["step"], f"{place}.step")
    for key in ("actions", "movements"):
        at = f"{place}.{key}"
        for person, word in _check.mapping(step[key], at).items():
            _check.string(word, child(at, person))
    for index, cell in enumerate(_check.list(step["ignitions"], f"{place}.ignitions")):
        _check.position(cell, item(f"{place}.ignitions", index))
    _identifiers(step["evacuations"], f"{place}.evacuations")
    for index, casualty in enumerate(_check.list(step["casualties"], f"{place}.casualties")):
        at = item(f"{place}.casualties", index)
        members = _check.object(casualty, at, CASUALTY_KEYS)
        _check.identifier(members["id"], f"{at}.id")
        _check.string(members["cause"], f"{at}.cause")
    _state(step["state"], f"{place}.state")


def _state(value: Any, place: str) -> None:
    state = _check.object(value, place, STATE_KEYS)
    people = f"{place}.people"
    for person, entry in _check.mapping(state["people"], people).items():
        at = child(people, person)
        members = _check.object(entry, at, PERSON_KEYS)
        _check.position(members["position"], f"{at}.position")
        _check.string(members["status"], f"{at}.status")
    _check.integer(state["burning"], f"{place}.burning", 0)
    _check.integer(state["fire_draws"], f"{place}.fire_draws", 0)
    _identifiers(state["trapped"], f"{place}.trapped")


def _identifiers(value: Any, place: str) -> None:
    for index, identity in enumerate(_check.list(value, place)):
        _check.identifier(identity, item(place, index))
