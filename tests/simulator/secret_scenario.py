"""A scenario whose hidden fields are easy to find again, and a walk through an object graph."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from enum import Enum
from typing import Any

from simulator import Simulator
from tests.simulator.builders import Document, document_from_map, everyone, scenario_of

SEED = 0xA5F3_91C2_7E44_0B6D


def secret_document(**changes: Any) -> Document:
    """A stochastic scenario whose hidden fields are easy to find again."""
    document = document_from_map(
        "*.......X",
        ".A..#..B.",
        "....#....",
        "*...C....",
        fire={"model": "stochastic", "spread_interval": 2, "spread_probability": 0.3125},
        max_steps=40,
        seed=SEED,
        scenario_id="SECRET-scenario-id",
    )
    return {**document, "description": "SECRET description", **changes}


def simulator_after(document: Document, steps: int, seed: int | None = None) -> Simulator:
    simulator = Simulator(scenario_of(document), seed)
    for _ in range(steps):
        simulator.step(everyone(simulator))
    return simulator


def nodes(root: Any) -> Iterator[Any]:
    """Every object reachable from an observation through any attribute, slot, item or C-level reference.

    Classes and the attribute dictionaries themselves are not yielded; an enum member ends the
    walk, after its own attributes.
    """
    seen: set[int] = set()
    stack = [root]
    while stack:
        node = stack.pop()
        if id(node) in seen or isinstance(node, type):
            continue
        seen.add(id(node))
        attributes = list(vars(node).values()) if hasattr(node, "__dict__") else []
        for kind in type(node).__mro__:
            slots = kind.__dict__.get("__slots__", ())
            for slot in (slots,) if isinstance(slots, str) else slots:
                attributes += [getattr(node, slot)] if hasattr(node, slot) else []
        yield node
        if not isinstance(node, Enum):
            own = vars(node) if hasattr(node, "__dict__") else None
            attributes += [found for found in gc.get_referents(node) if found is not own]
        stack += attributes
