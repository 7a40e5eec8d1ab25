"""Reading and writing JSON the one way that hashes allow.

Reading refuses what two readers could understand differently: repeated keys, NaN and
Infinity, numbers that overflow, lone surrogates, a byte order mark, bytes that are not
UTF-8, and nesting or integers far beyond any format here. Writing has one canonical form
and one indented form for files.

Source: simulation contract, section 0.
"""

import json
import math
import re
from collections.abc import Iterator
from typing import Any

from simulator.errors import EmberError, child, item

MAX_INTEGER_CHARACTERS = 20
"""Digits of 2**64 - 1, the largest integer of any format here. A sign is not counted."""

_SURROGATE_ESCAPE = re.compile(r"\\u[dD][89a-fA-F]")
_BOM = "\ufeff"


class _Refused:
    """Stands in the parsed tree for a value that must be refused, until its place is known."""

    __slots__ = ("key", "message")

    def __init__(self, message: str, key: str | None = None) -> None:
        self.message = message
        self.key = key


class _Hooks:
    """What the parser asks of each value; what it may not be stands in the tree as refused."""

    def __init__(self) -> None:
        self.refused_any = False

    def pairs(self, members: list[tuple[str, Any]]) -> dict[str, Any] | _Refused:
        value = dict(members)
        if len(value) == len(members):
            return value
        seen: set[str] = set()
        for key, _ in members:
            if key in seen:
                return self._refuse("expected each key once, got it repeatedly", key)
            seen.add(key)
        raise AssertionError("unreachable: fewer keys than members without a repeated key")

    def integer(self, digits: str) -> int | _Refused:
        if len(digits.lstrip("-")) > MAX_INTEGER_CHARACTERS:
            return self._refuse(
                f"expected an integer of at most {MAX_INTEGER_CHARACTERS} digits, got {len(digits)}"
            )
        return int(digits)

    def number(self, digits: str) -> float | _Refused:
        value = float(digits)
        if math.isinf(value):
            return self._refuse(f"expected a finite number, got {digits[:40]}")
        return value + 0.0  # -0.0 + 0.0 is 0.0

    def constant(self, name: str) -> _Refused:
        return self._refuse(f"expected a finite number, got {name}")

    def _refuse(self, message: str, key: str | None = None) -> _Refused:
        self.refused_any = True
        return _Refused(message, key)


def parse_json(text: str | bytes, error: type[EmberError] = EmberError) -> Any:
    """Parse one JSON document strictly.

    Args:
        text: The document; bytes must be UTF-8 without a byte order mark.
        error: The class to raise.

    Returns:
        dict, list, str, int, float, bool or None. ``-0.0`` is read as ``0.0``.

    Raises:
        error: With the place of the value at fault; the place is empty when the text is
            not JSON at all.
    """
    source = decoded(text, error)
    hooks = _Hooks()
    try:
        value = json.loads(
            source,
            object_pairs_hook=hooks.pairs,
            parse_int=hooks.integer,
            parse_float=hooks.number,
            parse_constant=hooks.constant,
        )
    except json.JSONDecodeError as problem:
        fault = _trailing_comma(problem) or problem
        where = f"line {fault.lineno}, column {fault.colno}"
        raise error(f"expected JSON, got something else at {where} ({fault.msg})") from problem
    except RecursionError as problem:
        raise error("expected a document of a few levels, got one nested far deeper") from problem
    if hooks.refused_any:
        _raise_first_refused(value, error)
    if _SURROGATE_ESCAPE.search(source):
        _raise_first_surrogate(value, error)
    return value


def _trailing_comma(problem: json.JSONDecodeError) -> json.JSONDecodeError | None:
    """The fault as Python 3.13 tells it, so that a verdict has the same words under every version."""
    told = (problem.msg, problem.doc[problem.pos : problem.pos + 1])
    if told == ("Expecting property name enclosed in double quotes", "}"):
        kind = "object"
    elif told == ("Expecting value", "]"):
        kind = "array"
    else:
        return None
    before = problem.doc[: problem.pos].rstrip(" \t\n\r")
    if not before.endswith(","):
        return None
    return json.JSONDecodeError(f"Illegal trailing comma before end of {kind}", problem.doc, len(before) - 1)


def decoded(text: str | bytes, error: type[EmberError]) -> str:
    """The text of a document.

    Raises:
        error: Bytes that are not UTF-8, a lone surrogate, or a byte order mark.
    """
    if isinstance(text, str):
        if not text.isascii():
            try:
                text.encode("utf-8")
            except UnicodeEncodeError as problem:
                raise error(
                    f"expected Unicode text, got a lone surrogate at character {problem.start}"
                ) from problem
        source = text
    else:
        try:
            source = bytes(text).decode("utf-8")
        except UnicodeDecodeError as problem:
            raise error(f"expected UTF-8, got another byte at offset {problem.start}") from problem
    if source.startswith(_BOM):
        raise error("expected UTF-8 without a byte order mark, got one at the start")
    return source


def canonical_json(value: Any) -> str:
    """Canonical text: keys sorted by code point, no white space, ASCII with ``\\uXXXX`` escapes.

    Floats are written as Python's ``repr``. Hashes and digests are taken over this form.
    """
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=True, allow_nan=False)


def indented_json(value: Any) -> str:
    """File form: as the canonical one, with a two-space indent and a final newline. Never hashed."""
    return json.dumps(value, sort_keys=True, indent=2, ensure_ascii=True, allow_nan=False) + "\n"


def _walk(value: Any) -> Iterator[tuple[str, str | None, Any]]:
    """Yield (place, key, value) of every node in document order, without recursion."""
    stack: list[tuple[str, str | None, Any]] = [("", None, value)]
    while stack:
        place, key, node = stack.pop()
        yield place, key, node
        if isinstance(node, dict):
            stack.extend((child(place, k), k, v) for k, v in reversed(node.items()))
        elif isinstance(node, list):
            stack.extend((item(place, i), None, node[i]) for i in range(len(node) - 1, -1, -1))


def _raise_first_refused(value: Any, error: type[EmberError]) -> None:
    for place, _, node in _walk(value):
        if isinstance(node, _Refused):
            raise error(node.message, place if node.key is None else child(place, node.key))
    # A refused value that a repeated key dropped: its object was replaced, hence found above.
    raise AssertionError("unreachable: a refused value left the tree")


def _raise_first_surrogate(value: Any, error: type[EmberError]) -> None:
    for place, key, node in _walk(value):
        for text in (key, node):
            if isinstance(text, str):
                try:
                    text.encode("utf-8")
                except UnicodeEncodeError as problem:
                    raise error("expected Unicode text, got a lone surrogate", place) from problem
