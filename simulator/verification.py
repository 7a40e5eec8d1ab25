"""Replay check: is a record exactly what its scenario, seed and actions give?

Two ways to the same verdict. The quick one reads only header, seed and actions, replays
them step by step, and compares bytes: equal bytes are equal canonical forms. Whatever does not
come out equal goes the strict way, which reads the record with every check and walks it beside
the replay to the first difference. Neither makes a tree of a whole large record.

Source: simulation contract, section 5.
"""

import json
import re
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Final

import msgspec

from simulator.checks import MAX_SEED, shown
from simulator.errors import RecordFormatError, RecordLimitError, SimulationError, child, item
from simulator.metrics import Metrics
from simulator.observation import ALLOWED_ACTIONS
from simulator.record_form import (
    CASUALTY_KEYS,
    HEADER_KEYS,
    PERSON_KEYS,
    STATE_KEYS,
    STEP_KEYS,
    TERMINATION_KEYS,
)
from simulator.record_reader import RecordPieces, record_pieces
from simulator.record_text import header_of
from simulator.scenario import Scenario
from simulator.simulation import Simulator


class VerdictCode(StrEnum):
    """Codes of the replay check, the same on command line, page, API and socket."""

    VERIFIED = "verified"
    RECORD_FORMAT = "record_format"
    REPLAY_MISMATCH = "replay_mismatch"
    SCENARIO_UNKNOWN = "scenario_unknown"
    RECORD_INCOMPLETE = "record_incomplete"
    LIMIT_EXCEEDED = "limit_exceeded"
    INTERNAL = "internal"


@dataclass(frozen=True, slots=True)
class Verdict:
    """The judgement over one record.

    ``expected`` is the replay's value and ``actual`` the record's, as short text; both are
    None unless the code is ``replay_mismatch`` or, for the two hashes, ``scenario_unknown``.
    ``metrics`` and ``digest`` are those of the replay and present when the canonical forms are
    identical, the unfinished run included.
    """

    code: VerdictCode
    message: str
    place: str | None = None
    expected: str | None = None
    actual: str | None = None
    metrics: Metrics | None = None
    digest: str | None = None

    @property
    def verified(self) -> bool:
        """Whether the record may be scored: byte-identical and ended."""
        return self.code is VerdictCode.VERIFIED

    def to_dict(self) -> dict[str, Any]:
        """JSON-ready form."""
        return {
            "verified": self.verified,
            "code": str(self.code),
            "message": self.message,
            "place": self.place,
            "expected": self.expected,
            "actual": self.actual,
            "digest": self.digest,
            "metrics": None if self.metrics is None else self.metrics.to_dict(),
        }


def replay(record_text: str | bytes, scenario: Scenario) -> Verdict:
    """Judge a record against its scenario by replaying its actions from its seed.

    Args:
        record_text: One record; white space and key order do not matter.
        scenario: The scenario that the record should be of.

    Returns:
        The verdict. Never raises for anything in ``record_text``.
    """
    simulator = _replay_quickly(record_text, scenario)
    if simulator is not None:
        return _identical(simulator)
    try:
        record = record_pieces(record_text)
    except RecordFormatError as problem:
        return record_refused(problem)
    simulator, difference = _Comparison(record, scenario).run()
    if difference is not None:
        return difference.verdict()
    assert simulator is not None
    if record.digest() != simulator.record_digest():  # the walk must have missed something: our fault
        message = "the record differs from its replay, but the comparison does not find where"
        return Verdict(VerdictCode.INTERNAL, message)
    return _identical(simulator)


def is_canonical_replay(record_text: str | bytes, scenario: Scenario) -> bool:
    """Whether the text is, to the byte, the canonical record of its own replay, ended or not.

    Much quicker than :func:`replay` where it is not, since nothing tells why.
    """
    return _replay_quickly(record_text, scenario) is not None


def record_unknown(scenario_hash: str, *, here: str | None = None) -> Verdict:
    """The verdict over a record whose scenario is not here.

    Args:
        scenario_hash: What the record's header says.
        here: Content hash of the scenario of the same ID that is here, if there is one; then the
            sentence shows both, since the scenario probably changed between two suite versions.
    """
    place = "header.scenario_hash"
    expected = "the hash of a scenario known here"
    if here is not None:
        expected = f"{here}, the hash of the scenario of that ID here"
    message = f"{place}: expected {expected}, got {scenario_hash}"
    return Verdict(VerdictCode.SCENARIO_UNKNOWN, message, place, expected=here, actual=scenario_hash)


def record_refused(problem: RecordFormatError) -> Verdict:
    """The verdict over a record that the strict reader refuses."""
    too_large = isinstance(problem, RecordLimitError)
    code = VerdictCode.LIMIT_EXCEEDED if too_large else VerdictCode.RECORD_FORMAT
    return Verdict(code, str(problem), problem.place)


def _identical(simulator: Simulator) -> Verdict:
    """The verdict over a record whose canonical form is that of the replay."""
    metrics = simulator.metrics
    digest = simulator.record_digest()
    if not simulator.done:
        message = (
            f"replayed without a difference, but the run has not ended after step {simulator.step_count}"
        )
        return Verdict(VerdictCode.RECORD_INCOMPLETE, message, metrics=metrics, digest=digest)
    message = f"{metrics.evacuated} of {metrics.population} evacuated, {metrics.steps} steps"
    return Verdict(VerdictCode.VERIFIED, message, metrics=metrics, digest=digest)


# The quick way


_decode_actions = msgspec.json.Decoder(dict[str, str]).decode
_CODE_OF = {str(action): code for code, action in enumerate(ALLOWED_ACTIONS)}
_SEED = re.compile(rb'"seed":([0-9]{1,20}),')
_HEADER_BYTES: Final = 4096
_ACTION_BYTES: Final = 80
"""More than the longest ID and action take, with their quotes."""
_STEP_OPENING: Final = b'{"actions":'


def _replay_quickly(record_text: str | bytes, scenario: Scenario) -> Simulator | None:
    """The run at its last step, if the text is the canonical text of its own replay; else None."""
    try:
        raw = record_text.encode("ascii") if isinstance(record_text, str) else bytes(record_text)
    except UnicodeError:
        return None
    raw = raw.strip(b" \t\r\n")
    seed = _SEED.search(raw, 0, _HEADER_BYTES)
    if seed is None or int(seed[1]) > MAX_SEED:
        return None
    simulator = Simulator(scenario, int(seed[1]))
    opening = simulator.opening_text().encode("ascii")
    if not raw.startswith(opening):
        return None
    at = _replay_steps(raw, len(opening), simulator)
    closing = simulator.closing_text().encode("ascii")
    return simulator if len(raw) == at + len(closing) and raw.endswith(closing) else None


def _replay_steps(raw: bytes, at: int, simulator: Simulator) -> int:
    """Replay the steps that stand from ``at`` on, as far as they come out equal; where they end."""
    code_of = _CODE_OF.__getitem__
    active = simulator.active_ids
    first = True
    while not simulator.done:
        start = at if first else at + 1
        if not raw.startswith(_STEP_OPENING, start):
            return at
        opened = start + len(_STEP_OPENING)
        closed = raw.find(b"}", opened, opened + len(active) * _ACTION_BYTES + 2)
        try:
            actions = _decode_actions(raw[opened : closed + 1])
            codes = list(map(code_of, actions.values()))
        except (msgspec.MsgspecError, RecursionError, UnicodeError, KeyError):
            return at
        if list(actions) != active:
            return at
        simulator.advance(codes)
        text = simulator.last_step_text().encode("ascii")
        if not raw.startswith(text if first else b"," + text, at):
            return at
        at, first = start + len(text), False
        if simulator.active_count != len(active):
            active = simulator.active_ids
    return at


# The strict way

_NOTHING: Final = object()
_STEP_PLACE = re.compile(r"steps\[(\d+)\]")
_AN_ACTION: Final = "one of " + ", ".join(ALLOWED_ACTIONS)


@dataclass(frozen=True, slots=True)
class _Difference:
    place: str
    record: str
    replay: str

    def verdict(self) -> Verdict:
        match = _STEP_PLACE.match(self.place)
        where = f"{self.place} (step {int(match[1]) + 1})" if match else self.place
        message = f"{where}: record says {self.record}, replay says {self.replay}"
        return Verdict(VerdictCode.REPLAY_MISMATCH, message, self.place, self.replay, self.record)


def _said(value: Any) -> str:
    """A value as the two sides of a mismatch show it; words stand without quotes."""
    if value is _NOTHING:
        return "nothing"
    return value if isinstance(value, str) and re.fullmatch(r"[A-Za-z0-9_.-]{1,80}", value) else shown(value)


def _compare(record: Any, replayed: Any, place: str) -> _Difference | None:
    """One value, compared whole."""
    if record == replayed:
        return None
    return _Difference(place, _said(record), _said(replayed))


def _compare_keys(
    record: dict[str, Any], replayed: dict[str, Any], place: str, keys: tuple[str, ...]
) -> _Difference | None:
    """Values of the given keys, in that order; both sides have them all."""
    for key in keys:
        difference = _compare(record[key], replayed[key], child(place, key))
        if difference is not None:
            return difference
    return None


def _compare_by_id(record: dict[str, Any], replayed: dict[str, Any], place: str) -> _Difference | None:
    """Values by person ID, in ID order; a key that one side lacks is the difference."""
    if record == replayed:
        return None
    for key in sorted({*record, *replayed}):
        left, right = record.get(key, _NOTHING), replayed.get(key, _NOTHING)
        at = child(place, key)
        if isinstance(left, dict) and isinstance(right, dict):
            difference = _compare_keys(left, right, at, PERSON_KEYS)
        else:
            difference = _compare(left, right, at)
        if difference is not None:
            return difference
    return None


def _compare_lists(record: list[Any], replayed: list[Any], place: str) -> _Difference | None:
    """Elements in order; where one list begins the other, the first surplus index."""
    for index, (left, right) in enumerate(zip(record, replayed, strict=False)):
        at = item(place, index)
        if isinstance(left, dict):
            difference = _compare_keys(left, right, at, CASUALTY_KEYS)
        else:
            difference = _compare(left, right, at)
        if difference is not None:
            return difference
    shorter = min(len(record), len(replayed))
    if len(record) == len(replayed):
        return None
    left = record[shorter] if shorter < len(record) else _NOTHING
    right = replayed[shorter] if shorter < len(replayed) else _NOTHING
    return _Difference(item(place, shorter), _said_element(left), _said_element(right))


def _said_element(value: Any) -> str:
    if isinstance(value, dict):
        return f"{_said(value['id'])} ({_said(value['cause'])})"
    return _said(value)


class _Comparison:
    """A loaded record beside its replay, in the order in which the contract prints the places."""

    def __init__(self, record: RecordPieces, scenario: Scenario) -> None:
        self.record = record
        self.scenario = scenario

    def run(self) -> tuple[Simulator | None, _Difference | None]:
        """The replay, or the first difference."""
        header = self.record.header
        difference = _compare_keys(header, header_of(self.scenario, header["seed"]), "header", HEADER_KEYS)
        if difference is not None:
            return None, difference
        simulator = Simulator(self.scenario, header["seed"])
        difference = self.state(self.record.initial, json.loads(simulator.state_text()), "initial")
        for index, step in enumerate(self.record.steps()):
            if difference is not None:
                break
            difference = self.step(step, simulator, item("steps", index))
        return simulator, difference or self.termination(simulator)

    def step(self, step: dict[str, Any], simulator: Simulator, place: str) -> _Difference | None:
        if simulator.done:
            return _Difference(place, "a step", "the run has ended")
        difference = _compare(step["step"], simulator.step_count + 1, child(place, "step"))
        difference = difference or self.actions(step["actions"], simulator, child(place, "actions"))
        if difference is not None:
            return difference
        try:
            simulator.step(step["actions"])
        except SimulationError as problem:  # cannot happen after self.actions; never a crash
            return _Difference(child(place, "actions"), "other actions", problem.message)
        replayed = json.loads(simulator.last_step_text())
        for key in STEP_KEYS[2:]:
            at = child(place, key)
            if key == "movements":
                difference = _compare_by_id(step[key], replayed[key], at)
            elif key == "state":
                difference = self.state(step[key], replayed[key], at)
            else:
                difference = _compare_lists(step[key], replayed[key], at)
            if difference is not None:
                return difference
        return None

    def actions(self, actions: dict[str, str], simulator: Simulator, place: str) -> _Difference | None:
        """A missing, surplus or unknown action, the lowest ID first."""
        active = set(simulator.active_ids)
        for identity in sorted({*actions, *active}):
            at = child(place, identity)
            if identity not in active:
                return _Difference(at, _said(actions[identity]), "nothing, nobody active has this ID")
            if identity not in actions:
                return _Difference(at, "nothing", _AN_ACTION)
            if actions[identity] not in ALLOWED_ACTIONS:
                return _Difference(at, _said(actions[identity]), _AN_ACTION)
        return None

    def state(self, record: dict[str, Any], replayed: dict[str, Any], place: str) -> _Difference | None:
        if record == replayed:
            return None
        people, burning, draws, cut_off = STATE_KEYS
        return (
            _compare_by_id(record[people], replayed[people], child(place, people))
            or _compare_keys(record, replayed, place, (burning, draws))
            or _compare_lists(record[cut_off], replayed[cut_off], child(place, cut_off))
        )

    def termination(self, simulator: Simulator) -> _Difference | None:
        record, end = self.record.termination, simulator.termination
        replayed = None if end is None else {"reason": end.reason, "step": end.step}
        if record is not None and replayed is not None:
            return _compare_keys(record, replayed, "termination", TERMINATION_KEYS)
        if record is None and replayed is None:
            return None
        words = [
            "the run goes on" if value is None else f"{_said(value['reason'])} after step {value['step']}"
            for value in (record, replayed)
        ]
        return _Difference("termination", *words)
