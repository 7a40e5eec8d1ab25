"""Random changes to the text of a record, and a canonical form of its own to judge them by."""

from __future__ import annotations

import copy
import json
import random
import re
from collections.abc import Callable, Iterator
from typing import Any

Members = list[tuple[str, Any]]
Change = Callable[[random.Random, str], bytes]

WORDS = ("", "moved", "stayed", "active", "casualty", "east", "stay", "A", "B", "P2", "é", "\U0001f525", "\n")
VALUES: tuple[Any, ...] = (
    None, True, False, 0, 1, -1, 2**53, 2**64 - 1, 2**64, 10**25, 0.5, 1e300, [], {}, [0, 0], [[1, 2]],
    {"position": [0, 0], "status": "active"}, {"id": "A", "cause": "fire_spread"}, *WORDS,
)  # fmt: skip
NUMBER_FORMS = (
    "{0}.0", "{0}e0", "{0}E+0", "{0}0e-1", "0{0}", "-{0}", "+{0}", '"{0}"', "{0}.", "0x{0}", "{0}_0",
    "{0}.00", "{0}e400", "-0", "-0.0", "NaN", "Infinity", "0.{0}", "{0}" + "0" * 25, "٣",
)  # fmt: skip
NUMBER = re.compile(r"(?<=[:\[,\s])[0-9]+")
BLANKS = (" ", "\n", "\t", "\r\n", "   \n", "\x0b", "\x0c", "\u00a0", "\ufeff", "\u2028", "\x00", "/**/")
BYTES = b'{}[]",:\\ \n\x00\x1f\x7f\x80\xc3\xed\xf0\xff0123456789eE.+-AaPptfnu'


class NotCanonical(Exception):
    """The text is not one JSON document that every reader understands alike."""


def canonical(text: bytes) -> bytes:
    """
    Canonical form, by other means than the simulator's.

    Raises:
        NotCanonical: there is none.
    """

    def refuse(word: str) -> Any:
        raise NotCanonical(word)

    def members(pairs: Members) -> dict[str, Any]:
        if len({key for key, _ in pairs}) < len(pairs):
            raise NotCanonical("a repeated key")
        return dict(pairs)

    try:
        source = text.decode("utf-8")
        value = json.loads(source, object_pairs_hook=members, parse_constant=refuse)
        return written(value).encode("ascii")
    except (ValueError, RecursionError) as problem:
        raise NotCanonical from problem


def written(value: Any) -> str:
    """One JSON value: sorted keys, no white space, ASCII."""
    if isinstance(value, dict):
        return "{" + ",".join(f"{quoted(key)}:{written(value[key])}" for key in sorted(value)) + "}"
    if isinstance(value, list):
        return "[" + ",".join(map(written, value)) + "]"
    if isinstance(value, str):
        return quoted(value)
    if value is None or isinstance(value, bool):
        return {None: "null", True: "true", False: "false"}[value]
    return repr(value)


def quoted(text: str) -> str:
    """A JSON string in ASCII."""
    return json.dumps(text)


# --- on the tree ----------------------------------------------------------------------------------


def nodes(value: Any) -> Iterator[tuple[Any, str | int, Any]]:
    """(container, key or index, value) of every value below the top."""
    pairs = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, inner in list(pairs):
        yield value, key, inner
        yield from nodes(inner)


def picked(rng: random.Random, document: Any, *kinds: type) -> tuple[Any, Any, Any] | None:
    """One value below the top, at random; with `kinds` only of those."""
    found = [node for node in nodes(document) if not kinds or type(node[2]) in kinds]
    return rng.choice(found) if found else None


def dumped(rng: random.Random, document: Any) -> bytes:
    """The text, sometimes indented, sometimes canonical."""
    style = rng.choice([{"separators": (",", ":"), "sort_keys": True}, {}, {"indent": 2}])
    return json.dumps(document, **style).encode()


def change_value(rng: random.Random, text: str) -> bytes:
    """Put another value in the place of one."""
    document = json.loads(text)
    container, key, value = picked(rng, document) or (None, None, None)
    if isinstance(value, int) and rng.random() < 0.5:
        container[key] = value + rng.choice([-1, 1, 2**32, -(2**63)])
    elif isinstance(value, str) and rng.random() < 0.5:
        container[key] = rng.choice([value.upper(), value + " ", value[:-1], value + "\u0000", value * 2])
    elif rng.random() < 0.5:
        container[key] = copy.deepcopy(rng.choice([inner for _, _, inner in nodes(document)]))
    else:
        container[key] = rng.choice(VALUES)
    return dumped(rng, document)


def change_key(rng: random.Random, text: str) -> bytes:
    """Rename, drop, add or repeat a key."""
    document = json.loads(text)
    found = [node[2] for node in nodes(document) if isinstance(node[2], dict)]
    target: dict[str, Any] = rng.choice([document, *found])
    key = rng.choice(list(target) or ["A"])
    way = rng.randrange(4)
    if way == 0:
        value = target.pop(key, None)
        target[rng.choice([key.upper(), key + " ", "é" + key, key[1:], *WORDS])] = value
    elif way == 1:
        target.pop(key, None)
    elif way == 2:
        target[rng.choice([*WORDS, "score", "seed", "header"])] = rng.choice(VALUES)
    else:
        mark = f"again-{rng.random()}"
        target[mark] = rng.choice([target.get(key), rng.choice(VALUES)])
        return dumped(rng, document).replace(json.dumps(mark).encode(), json.dumps(key).encode())
    return dumped(rng, document)


def change_order(rng: random.Random, text: str) -> bytes:
    """Shuffle an object's keys, which means nothing, or a list, which means something; cut or double one."""
    document = json.loads(text)
    found = [node[2] for node in nodes(document) if isinstance(node[2], (dict, list))]
    target = rng.choice([document, *found])
    if isinstance(target, dict):
        pairs = list(target.items())
        rng.shuffle(pairs)
        target.clear()
        target.update(pairs)
        return json.dumps(document).encode()
    way = rng.randrange(4)
    if way == 0:
        rng.shuffle(target)
    elif way == 1 and target:
        del target[rng.randrange(len(target))]
    elif way == 2 and target:
        target.insert(rng.randrange(len(target) + 1), rng.choice(target))
    else:
        target.reverse()
    return dumped(rng, document)


# --- on the text ----------------------------------------------------------------------------------


def change_byte(rng: random.Random, text: str) -> bytes:
    """Flip, replace, insert, drop or move a few bytes, or cut the end."""
    data = bytearray(text.encode())
    at = rng.randrange(len(data))
    way = rng.randrange(6)
    if way == 0:
        data[at] ^= 1 << rng.randrange(8)
    elif way == 1:
        data[at] = rng.choice(BYTES)
    elif way == 2:
        data.insert(at, rng.choice(BYTES))
    elif way == 3:
        del data[at : at + rng.choice([1, 1, 1, 2, 10])]
    elif way == 4:
        piece = data[at : at + rng.randrange(1, 40)]
        where = rng.randrange(len(data))
        data[where:where] = piece
    else:
        del data[at:]
    return bytes(data)


def change_number(rng: random.Random, text: str) -> bytes:
    """Write a number in another form."""
    found = rng.choice(list(NUMBER.finditer(text)) or [None])
    if found is None:
        return change_byte(rng, text)
    form = rng.choice(NUMBER_FORMS).format(found[0])
    return (text[: found.start()] + form + text[found.end() :]).encode()


def change_blank(rng: random.Random, text: str) -> bytes:
    """Put white space, or what looks like it, beside a structural sign, at an end, or anywhere."""
    spots = [at for at, sign in enumerate(text) if sign in '{}[]",:']
    at = rng.choice([rng.choice(spots), rng.choice(spots), 0, len(text), rng.randrange(len(text))])
    return (text[:at] + rng.choice(BLANKS) * rng.choice([1, 1, 3]) + text[at:]).encode("utf-8")


def change_letter(rng: random.Random, text: str) -> bytes:
    """Write a letter of a string as an escape: the same one, another one, or half of one."""
    spots = [at for at, sign in enumerate(text) if sign.isalpha()]
    at = rng.choice(spots)
    escape = rng.choice(
        [f"\\u{ord(text[at]):04x}", f"\\u{ord(text[at]):04X}", "\\ud800", "\\n", "\\x41", "\\u00"]
    )
    return (text[:at] + escape + text[at + 1 :]).encode()


def change_twice(rng: random.Random, text: str) -> bytes:
    """One change to the text on top of another that left text."""
    once = rng.choice([change_value, change_key, change_order])(rng, text)
    return rng.choice([change_byte, change_number, change_blank, change_letter])(rng, once.decode())


CHANGES: dict[str, Change] = {
    "value": change_value,
    "key": change_key,
    "order": change_order,
    "byte": change_byte,
    "number": change_number,
    "white space": change_blank,
    "letter": change_letter,
    "two": change_twice,
}
