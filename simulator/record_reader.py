"""Strict reading of a run record in bounded memory, whatever the text is.

A tree of Python values takes up to thirty times the memory of its text. So a large text is never made one
tree: its values are found in the bytes, and one *piece* at a time is parsed, checked and dropped: the header,
the initial state, each step, the termination. A piece has a limit of its own; no record of up to
30,000 people comes near it. A small text is one piece as a whole.

With several faults in a large record, the first in the text is named; in a small one, what is no strict JSON
speaks first, then what has the wrong form, in the order of the contract.
"""

import codecs
import hashlib
import json
import re
from array import array
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final

import msgspec

from simulator.errors import RecordFormatError, RecordLimitError, child, item
from simulator.limits import MIB, size_text
from simulator.record_form import (
    RECORD_KEYS,
    check_header,
    check_record,
    check_state,
    check_step,
    check_steps_list,
    check_termination,
    check_top,
)
from simulator.strict_json import canonical_json, decoded, parse_json

MAX_PIECE_VALUES: Final = 250_000
"""Values of one piece: one person of a step has eight."""

MAX_PIECE_BYTES: Final = 8 * MIB
"""Bytes of one piece, white space included."""

_SMALL_VALUES = MAX_PIECE_VALUES
"""A text of at most so many values is one piece as a whole."""

_CHUNK_BYTES: Final = MIB
_DEPTH: Final = 8
"""Levels below a piece; a step has four."""

_STRING: Final = rb'"(?:[^"\\]++|\\.)*+"'
_BARE: Final = rb'[^\[\]{}"]++'


def _inside(depth: int) -> bytes:
    """Pattern of everything between a pair of brackets, so many levels deep. Never goes back."""
    nested = rb"|[\[{]" + _inside(depth - 1) + rb"[\]}]" if depth else b""
    return rb"(?:" + _BARE + rb"|" + _STRING + nested + rb")*+"


_CONTAINER: Final = re.compile(rb"[\[{]" + _inside(_DEPTH) + rb"[\]}]", re.DOTALL)
_SCALAR: Final = re.compile(_STRING + rb"|[^\[\]{}\",:\s]++", re.DOTALL)
_KEY: Final = re.compile(rb"\s*+(" + _STRING + rb")\s*+:\s*+", re.DOTALL)
_SPACE: Final = re.compile(rb"\s*+")
_NESTED: Final = "expected a document of a few levels, got one nested far deeper"


@dataclass(frozen=True)
class RecordPieces:
    """A record whose form is good. Its steps are parsed again at each walk where the text is large."""

    header: dict[str, Any]
    initial: dict[str, Any]
    termination: dict[str, Any] | None
    _steps: "list[dict[str, Any]] | _StepTexts"

    def steps(self) -> Iterator[dict[str, Any]]:
        """The steps in order, a new walk at each call."""
        return iter(self._steps)

    def canonical_text(self) -> str:
        """The whole record in canonical form."""
        return "".join(self._canonical_parts())

    def digest(self) -> str:
        """SHA-256 of the canonical form, without making all of it."""
        digest = hashlib.sha256()
        for part in self._canonical_parts():
            digest.update(part.encode("ascii"))
        return digest.hexdigest()

    def _canonical_parts(self) -> Iterator[str]:
        initial = canonical_json(self.initial)
        yield f'{{"header":{canonical_json(self.header)},"initial":{initial},"steps":['
        for number, step in enumerate(self.steps()):
            yield f",{canonical_json(step)}" if number else canonical_json(step)
        yield f'],"termination":{canonical_json(self.termination)}}}'


def record_pieces(text: str | bytes) -> RecordPieces:
    """Read a record strictly; white space and key order of the text do not matter.

    Raises:
        RecordFormatError: The first fault, with its place.
        RecordLimitError: The same, where a piece is larger than any record needs.
    """
    raw = encoded(text)
    if _values(raw, 0, len(raw)) <= _SMALL_VALUES and len(raw) <= MAX_PIECE_BYTES:
        top = check_record(parse_json(text, RecordFormatError))
        return RecordPieces(top["header"], top["initial"], top["termination"], top["steps"])
    broken = _syntax_problem(raw)
    if raw.lstrip()[:1] != b"{":
        raise broken or _not_an_object(raw)
    return _LargeRecord(raw, broken).read()


def encoded(text: str | bytes) -> bytes:
    """The bytes of a text.

    Raises:
        RecordFormatError: It holds a lone surrogate.
    """
    if isinstance(text, str):
        return decoded(text, RecordFormatError).encode("utf-8")
    return bytes(text)


def piece_parse(raw: bytes, place: str, start: int = 0, end: int | None = None) -> Any:
    """Parse one piece, from ``start`` to ``end`` of the bytes; ``place`` is where it stands in the record.

    Raises:
        RecordFormatError: It is no strict JSON; or too large, as RecordLimitError.
    """
    end = len(raw) if end is None else end
    _check_size(raw, start, end, place)
    try:
        return parse_json(raw[start:end], RecordFormatError)
    except RecordFormatError as problem:
        joint = "." if place and problem.place and not problem.place.startswith("[") else ""
        raise RecordFormatError(problem.message, f"{place}{joint}{problem.place}") from problem


def _values(raw: bytes, start: int, end: int) -> int:
    """At least the number of values: each follows a comma or an opening bracket, or is the first."""
    return 1 + raw.count(b",", start, end) + raw.count(b"[", start, end) + raw.count(b"{", start, end)


def _check_size(raw: bytes, start: int, end: int, place: str) -> None:
    if end - start > MAX_PIECE_BYTES:
        message = f"expected at most {size_text(MAX_PIECE_BYTES)} in one piece, got {end - start:,} bytes"
        raise RecordLimitError(message, place, limit=MAX_PIECE_BYTES)
    if _values(raw, start, end) > MAX_PIECE_VALUES:
        message = f"expected at most {MAX_PIECE_VALUES:,} values in one piece, got more"
        raise RecordLimitError(message, place, limit=MAX_PIECE_VALUES)


def _syntax_problem(raw: bytes) -> RecordFormatError | None:
    """What is wrong if a large text is not JSON, found without parsing it. Lone surrogates and NaN are."""
    decoder = codecs.getincrementaldecoder("utf-8")()
    try:
        for start in range(0, len(raw), _CHUNK_BYTES):
            decoder.decode(raw[start : start + _CHUNK_BYTES], final=start + _CHUNK_BYTES >= len(raw))
    except UnicodeDecodeError:
        return RecordFormatError("expected UTF-8, got another byte")
    try:
        msgspec.json.decode(raw, type=msgspec.Raw)
    except RecursionError:
        return RecordFormatError(_NESTED)
    except msgspec.MsgspecError as problem:
        return RecordFormatError(f"expected JSON, got something else ({problem})")
    return None


def _not_an_object(raw: bytes) -> RecordFormatError:
    kind = {b"[": "a list", b'"': "a string"}.get(raw.lstrip()[:1], "something else")
    return RecordFormatError(f"expected an object, got {kind}")


class _StepTexts:
    """The steps of a large record as places in its bytes; a walk parses one after the other."""

    def __init__(self, raw: bytes) -> None:
        self._raw = raw
        self._spans = array("Q")

    def add(self, start: int, end: int) -> None:
        """Note where the next step stands."""
        self._spans.extend((start, end))

    def __iter__(self) -> Iterator[dict[str, Any]]:
        for at in range(0, len(self._spans), 2):
            start, end = self._spans[at : at + 2]
            yield parse_json(self._raw[start:end], RecordFormatError)


class _LargeRecord:
    """
    Walks once through the bytes of a JSON object.

    If the text is ``broken`` somewhere, the walk ends there at the latest, and names the piece at fault where
    it can be told.
    """

    def __init__(self, raw: bytes, broken: RecordFormatError | None) -> None:
        self._raw = raw
        self._broken = broken
        self._at = raw.index(b"{") + 1

    def read(self) -> RecordPieces:
        """Check every piece and give the record."""
        parts: dict[str, Any] = {}
        more = True
        while more and (match := _KEY.match(self._raw, self._at)) is not None:
            self._at = match.end()
            key = self._key(*match.span(1))
            if key in parts:
                raise RecordFormatError("expected each key once, got it repeatedly", child("", key))
            if key not in RECORD_KEYS:
                check_top({key: None})
            parts[key] = self._steps() if key == "steps" else self._part(key)
            more = self._comma()
        if self._broken is not None:
            raise self._broken
        check_top(parts)
        return RecordPieces(parts["header"], parts["initial"], parts["termination"], parts["steps"])

    def _key(self, start: int, end: int) -> str:
        _check_size(self._raw, start, end, "")
        try:
            return str(json.loads(self._raw[start:end]))
        except ValueError as problem:
            raise self._broken or RecordFormatError("expected a key") from problem

    def _part(self, key: str) -> Any:
        value = piece_parse(self._raw, key, *self._extent(key))
        if key == "header":
            check_header(value)
        elif key == "initial":
            check_state(value, "initial")
        else:
            check_termination(value)
        return value

    def _steps(self) -> _StepTexts:
        steps = _StepTexts(self._raw)
        if not self._raw.startswith(b"[", self._at):
            check_steps_list(piece_parse(self._raw, "steps", *self._extent("steps")))
        self._at = _end(_SPACE, self._raw, self._at + 1)
        number, more = 0, not self._raw.startswith(b"]", self._at)
        if not more:
            self._at += 1
        while more:
            place = item("steps", number)
            start, end = self._extent(place)
            check_step(piece_parse(self._raw, place, start, end), place)
            steps.add(start, end)
            number, more = number + 1, self._comma()
        return steps

    def _extent(self, place: str) -> tuple[int, int]:
        """Where the value that begins here begins and ends; go behind it."""
        container = self._raw[self._at : self._at + 1] in (b"[", b"{")
        match = (_CONTAINER if container else _SCALAR).match(self._raw, self._at)
        if match is None:
            raise self._broken or RecordFormatError(_NESTED, place)
        self._at = match.end()
        return match.span()

    def _comma(self) -> bool:
        """Go behind the comma or bracket that comes next, and white space; whether it was a comma."""
        at = _end(_SPACE, self._raw, self._at)
        self._at = _end(_SPACE, self._raw, at + 1)
        return self._raw.startswith(b",", at)


def _end(pattern: re.Pattern[bytes], raw: bytes, at: int) -> int:
    """Where a match of a pattern that always matches ends."""
    match = pattern.match(raw, at)
    return at if match is None else match.end()
