"""Checks shared by the strict parsers of scenarios, manifests and records.

Each check returns the value with its type known or raises the error class of its parser,
naming the place, what was expected and what came.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final, NoReturn

from simulator.errors import EmberError, child, item

ID_PATTERN: Final = r"[A-Za-z0-9_-]{1,64}"
_ID = re.compile(ID_PATTERN)
_HASH = re.compile(r"[0-9a-f]{64}")

MAX_SIDE: Final = 1024
"""Largest width and height of a grid (scenario schema, table)."""

MAX_SEED: Final = 2**64 - 1
"""Largest evaluator seed (scenario schema, table)."""

JsonObject = dict[str, Any]


def shown(value: Any) -> str:
    """A short description of a JSON value for an error message."""
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, (int, float)):
        return repr(value)
    if isinstance(value, str):
        text = value if len(value) <= 60 else value[:57] + "..."
        return '"' + text.encode("ascii", "backslashreplace").decode().replace("\n", "\\n") + '"'
    if isinstance(value, list):
        if len(value) <= 4 and all(isinstance(v, int) for v in value):
            return "[" + ", ".join(shown(v) for v in value) + "]"
        return f"a list of {len(value)}"
    return "an object" if isinstance(value, dict) else f"a Python {type(value).__name__}"


class Checker:
    """Checks of single values: each gives the value back, or raises ``error`` with the place at fault."""

    def __init__(self, error: type[EmberError]) -> None:
        self.error = error

    def fail(self, place: str, expected: str, got: Any) -> NoReturn:
        """Raise: the value at ``place`` is not what was expected."""
        raise self.error(f"expected {expected}, got {shown(got)}", place)

    def object(
        self, value: Any, place: str, required: Sequence[str], optional: Sequence[str] = ()
    ) -> JsonObject:
        """An object with exactly these keys; unknown keys are refused before missing ones."""
        if not isinstance(value, dict):
            self.fail(place, "an object", value)
        for key in value:
            if key not in required and key not in optional:
                expected = ", ".join([*required, *optional])
                raise self.error(f"unknown key, expected only {expected}", child(place, key))
        for key in required:
            if key not in value:
                raise self.error("expected this key, it is missing", child(place, key))
        return value

    def mapping(self, value: Any, place: str) -> JsonObject:
        """An object keyed by IDs."""
        if not isinstance(value, dict):
            self.fail(place, "an object", value)
        for key in value:
            if not _ID.fullmatch(key):
                raise self.error(f"expected an ID matching ^{ID_PATTERN}$ as key", child(place, key))
        return value

    def list(self, value: Any, place: str, at_least: int = 0) -> list[Any]:
        """A list of at least so many elements."""
        if not isinstance(value, list):
            self.fail(place, "a list", value)
        if len(value) < at_least:
            self.fail(place, f"at least {at_least}", value)
        return value

    def integer(self, value: Any, place: str, low: int, high: int | None = None) -> int:
        """A JSON integer in a closed range; ``1.0`` and ``true`` are none."""
        limits = f"{low} to {high}" if high is not None else f"an integer of at least {low}"
        if isinstance(value, bool) or not isinstance(value, int):
            self.fail(place, f"an integer, {limits}" if high is not None else limits, value)
        if value < low or (high is not None and value > high):
            self.fail(place, limits, value)
        return value

    def whole(self, value: Any, place: str) -> int:
        """A JSON integer of any size that the reader let through."""
        if isinstance(value, bool) or not isinstance(value, int):
            self.fail(place, "an integer", value)
        return value

    def boolean(self, value: Any, place: str) -> bool:
        """``true`` or ``false``."""
        if not isinstance(value, bool):
            self.fail(place, "true or false", value)
        return value

    def string(self, value: Any, place: str) -> str:
        """Any string."""
        if not isinstance(value, str):
            self.fail(place, "a string", value)
        return value

    def choice(self, value: Any, place: str, allowed: Iterable[str]) -> str:
        """One of a few strings."""
        options = list(allowed)
        if not isinstance(value, str) or value not in options:
            self.fail(place, " or ".join(f'"{o}"' for o in options), value)
        return value

    def identifier(self, value: Any, place: str) -> str:
        """A scenario, person or exit ID: the whole string matches the published pattern."""
        if not isinstance(value, str) or not _ID.fullmatch(value):
            self.fail(place, f"an ID matching ^{ID_PATTERN}$", value)
        return value

    def hash(self, value: Any, place: str) -> str:
        """64 lower-case hex digits."""
        if not isinstance(value, str) or not _HASH.fullmatch(value):
            self.fail(place, "64 lower-case hex digits", value)
        return value

    def position(
        self, value: Any, place: str, height: int = MAX_SIDE, width: int = MAX_SIDE
    ) -> tuple[int, int]:
        """A cell ``[row, col]`` inside a grid of that size."""
        if not isinstance(value, list) or len(value) != 2:
            self.fail(place, "[row, col]", value)
        return (
            self.integer(value[0], item(place, 0), 0, height - 1),
            self.integer(value[1], item(place, 1), 0, width - 1),
        )

    def unique(self, key: Any, seen: Mapping[Any, str], place: str, what: str) -> None:
        """Refuse ``key`` when ``seen`` already has it; ``seen`` maps keys to their places."""
        if key in seen:
            got = shown(list(key) if isinstance(key, tuple) else key)
            raise self.error(f"expected {what} only once, got {got} again, already at {seen[key]}", place)
