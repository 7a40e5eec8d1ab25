"""Seeds of episodes: their range, and how a chosen one is read."""

from __future__ import annotations

import re

from ember_site.core.errors import BadInput

SEED_BITS = 64

_SEED = re.compile(r"0|[1-9][0-9]{0,19}")
_EXPECTED = f"A seed is a whole number from 0 to {2**SEED_BITS - 1}."


def seed_read(text: str) -> int:
    """A seed from decimal text, without sign, blanks or zeros before it.

    Raises:
        BadInput: it is no such text, or far out of range; `seed_check` tells the exact range.
    """
    if not _SEED.fullmatch(text):
        raise BadInput(_EXPECTED, place="seed")
    return int(text)


def seed_check(seed: int) -> None:
    """Let a seed pass that an episode may have.

    Raises:
        BadInput: it is out of range.
    """
    if not 0 <= seed < 2**SEED_BITS:
        raise BadInput(_EXPECTED, place="seed")
