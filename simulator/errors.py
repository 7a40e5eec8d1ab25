"""Errors of the simulator. Each carries the place that it speaks of.

A *place* is a path into the document: keys joined by dots, list indexes from 0 in
brackets, no leading sign, as in ``people[3].position[1]``. The empty place is the whole
document.

Source: simulation contract, section 5 (one grammar for places everywhere).
"""

import json
import re
from typing import Any

_PLAIN_KEY = re.compile(r"[A-Za-z0-9_-]{1,64}")


class EmberError(Exception):
    """Base of all simulator errors: a sentence and the place that it is about."""

    def __init__(self, message: str, place: str = "") -> None:
        super().__init__(f"{place}: {message}" if place else message)
        self.message = message
        self.place = place

    def __reduce__(self) -> tuple[type["EmberError"], tuple[Any, ...]]:
        return type(self), (self.message, self.place)


class ScenarioError(EmberError):
    """A scenario document breaks the published schema."""


class SuiteError(EmberError):
    """A suite directory or its manifest is not what the manifest format asks for."""


class SimulationError(EmberError):
    """An action set that does not fit the present state, or a step after the end."""


class RecordFormatError(EmberError):
    """A run record that the loader refuses: keys, types, IDs, ranges or limits."""


class RecordLimitError(RecordFormatError):
    """A part of a record that is larger than ``limit``, and than any record needs."""

    def __init__(self, message: str, place: str = "", limit: int = 0) -> None:
        super().__init__(message, place)
        self.limit = limit

    def __reduce__(self) -> tuple[type["RecordLimitError"], tuple[Any, ...]]:
        return type(self), (self.message, self.place, self.limit)


def child(place: str, key: str) -> str:
    """Place of ``key`` inside the object at ``place``; odd keys are shown as short JSON text."""
    shown = key if _PLAIN_KEY.fullmatch(key) else json.dumps(key[:40])
    return f"{place}.{shown}" if place else shown


def item(place: str, index: int) -> str:
    """Place of element ``index`` (from 0) of the list at ``place``."""
    return f"{place}[{index}]"
