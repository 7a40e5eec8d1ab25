"""The form of a run record: keys, JSON types, the ID pattern and ranges, part by part.

Form only; what the values say is judged by the replay (:mod:`simulator.verification`).

Source: simulation contract, sections 4 and 5.
"""

from typing import Any, Final

from simulator.checks import MAX_SEED, Checker
from simulator.errors import RecordFormatError, child, item

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


def check_record(document: Any) -> dict[str, Any]:
    """Check a parsed record, in the order in which the contract prints it, and return it.

    Raises:
        RecordFormatError: The first fault, with its place.
    """
    top = _check.object(document, "", RECORD_KEYS)
    check_header(top["header"])
    check_state(top["initial"], "initial")
    for index, step in enumerate(_check.list(top["steps"], "steps")):
        check_step(step, item("steps", index))
    check_termination(top["termination"])
    return top


def check_top(document: Any) -> None:
    """Check that it is an object with the keys of a record, whatever their values are."""
    _check.object(document, "", RECORD_KEYS)


def check_steps_list(value: Any) -> None:
    """Check that the value of ``steps`` is a list."""
    _check.list(value, "steps")


def check_header(value: Any) -> dict[str, Any]:
    """Check the header and return it."""
    header = _check.object(value, "header", HEADER_KEYS)
    for key in ("simulator_version", "observation_version", "schema_version"):
        _check.string(header[key], f"header.{key}")
    _check.identifier(header["scenario_id"], "header.scenario_id")
    _check.hash(header["scenario_hash"], "header.scenario_hash")
    _check.integer(header["seed"], "header.seed", 0, MAX_SEED)
    return header


def check_step(value: Any, place: str) -> None:
    """Check one element of ``steps``."""
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
    check_state(step["state"], f"{place}.state")


def check_state(value: Any, place: str) -> None:
    """Check a state: ``initial`` or that of a step."""
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


def check_termination(value: Any) -> None:
    """Check the termination; null where the run has not ended."""
    if value is None:
        return
    end = _check.object(value, "termination", TERMINATION_KEYS)
    _check.string(end["reason"], "termination.reason")
    _check.whole(end["step"], "termination.step")


def _identifiers(value: Any, place: str) -> None:
    for index, identity in enumerate(_check.list(value, place)):
        _check.identifier(identity, item(place, index))
