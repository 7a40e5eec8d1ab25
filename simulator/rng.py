"""Randomness: SplitMix64 streams derived from the evaluator's seed by SHA-256.

The state of SplitMix64 is a counter, so the k-th output is a function of the stream seed
and k alone.

Source: simulation contract, section 1; Steele, Lea and Flood, "Fast Splittable
Pseudorandom Number Generators", OOPSLA 2014.
"""

import hashlib
from typing import Final

GAMMA: Final = 0x9E3779B97F4A7C15
MASK: Final = 2**64 - 1
UNIFORM_BITS: Final = 53
"""A uniform draw is the upper 53 bits of an output, times 2**-53."""


def stream_seed(seed: int, label: str) -> int:
    """Seed of the stream ``label``: 8 bytes, big-endian, of SHA-256(``emberbench/stream/{label}/{seed}``)."""
    return int.from_bytes(hashlib.sha256(f"emberbench/stream/{label}/{seed}".encode()).digest()[:8], "big")


def mix(state: int) -> int:
    """The output that belongs to a SplitMix64 state: two xor-shift-multiply rounds and a shift."""
    state = ((state ^ (state >> 30)) * 0xBF58476D1CE4E5B9) & MASK
    state = ((state ^ (state >> 27)) * 0x94D049BB133111EB) & MASK
    return state ^ (state >> 31)


class SplitMix64:
    """A stream of 64-bit outputs; ``position`` is the number of draws taken."""

    __slots__ = ("position", "start")

    def __init__(self, start: int, position: int = 0) -> None:
        self.start = start & MASK
        self.position = position

    @classmethod
    def stream(cls, seed: int, label: str) -> "SplitMix64":
        """The stream of an evaluator seed and a label."""
        return cls(stream_seed(seed, label))

    def next_output(self) -> int:
        """Take one draw: an integer in [0, 2**64)."""
        self.position += 1
        return mix((self.start + self.position * GAMMA) & MASK)
