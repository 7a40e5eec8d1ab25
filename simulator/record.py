"""Run record: strict loader, canonical form and digest.

The loader judges form only: keys, JSON types, the ID pattern and ranges. What the values
say is judged by the replay (:mod:`simulator.verification`).

Source: simulation contract, sections 4 and 5.
"""

import hashlib
import json
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import msgspec

from simulator.record_form import check_header
from simulator.record_reader import encoded, piece_parse, record_pieces


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
    header: msgspec.Raw


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
        pieces = record_pieces(text)
        end = pieces.termination
        return cls(
            header=RecordHeader(**pieces.header),
            termination=None if end is None else Termination(**end),
            text=pieces.canonical_text(),
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
    raw = encoded(text)
    try:
        header = bytes(msgspec.json.decode(raw, type=_HeaderOnly).header)
    except (msgspec.MsgspecError, RecursionError, UnicodeError):
        return RecordHeader(**record_pieces(raw).header)  # the strict reader says what is wrong
    return RecordHeader(**check_header(piece_parse(header, "header")))
