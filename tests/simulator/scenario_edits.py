"""A valid scenario and small edits that break one place of it."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

from tests.simulator.builders import Document, document_from_map

Edit = Callable[[Document], Any]


def base() -> Document:
    """A valid scenario of 19 columns and 5 rows with four people and stochastic fire."""
    document = document_from_map(
        "#..................",
        "..A......B.......X.",
        "....*..............",
        "..C......D.......X.",
        "...................",
        fire={"model": "stochastic", "spread_interval": 2, "spread_probability": 0.5},
    )
    return {**document, "description": "a test"}


def put(*path: str | int, value: Any) -> Edit:
    """An edit that sets the value at a path."""

    def edit(document: Document) -> None:
        node: Any = document
        for key in path[:-1]:
            node = node[key]
        node[path[-1]] = value

    return edit


def drop(*path: str | int) -> Edit:
    """An edit that deletes the value at a path."""

    def edit(document: Document) -> None:
        node: Any = document
        for key in path[:-1]:
            node = node[key]
        del node[path[-1]]

    return edit


def edited(edit: Edit) -> Document:
    document = copy.deepcopy(base())
    edit(document)
    return document
