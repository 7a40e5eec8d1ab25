"""Explain where two records part: the first differing step and both boards."""

from __future__ import annotations

import json
from typing import Any

Record = dict[str, Any]


def board(document: dict[str, Any], record: Record, steps_done: int) -> str:
    """The board of a record after some steps, one character a cell, with a list of people."""
    grid = document["grid"]
    cells = [["."] * grid["width"] for _ in range(grid["height"])]
    for row, col in document["obstacles"]:
        cells[row][col] = "#"
    for entry in document["exits"]:
        cells[entry["position"][0]][entry["position"][1]] = "E"
    burning = [tuple(cell) for cell in document["ignitions"]]
    for step in record["steps"][:steps_done]:
        burning += [tuple(cell) for cell in step["ignitions"]]
    for row, col in burning:
        cells[row][col] = "F"
    state = record["steps"][steps_done - 1]["state"] if steps_done else record["initial"]
    for person in state["people"].values():
        if person["status"] == "active":
            cells[person["position"][0]][person["position"][1]] = "P"
    lines = ["".join(line) for line in cells]
    lines += [
        f"  {name} {person['position']} {person['status']}"
        + (f" {record['steps'][steps_done - 1]['movements'].get(name, '')}" if steps_done else "")
        for name, person in state["people"].items()
    ]
    rest = {key: value for key, value in state.items() if key != "people"}
    return "\n".join([*lines, f"  {json.dumps(rest)}"])


def first_difference(document: dict[str, Any], expected: Record, actual: Record) -> str | None:
    """A text that shows the first difference of two records, or None where they are equal."""
    if expected == actual:
        return None
    for key in ("header", "initial"):
        if expected[key] != actual[key]:
            return f"{key} differs:\nexpected {expected[key]}\nactual   {actual[key]}"
    for index, (left, right) in enumerate(zip(expected["steps"], actual["steps"], strict=False)):
        if left != right:
            keys = [key for key in left if left[key] != right.get(key)]
            return (
                f"step {index + 1} is the first that differs, in {', '.join(keys)}\n"
                + "\n".join(
                    f"{key}: expected {left[key]}, actual {right.get(key)}" for key in keys if key != "state"
                )
                + f"\nexpected board:\n{board(document, expected, index + 1)}"
                + f"\nactual board:\n{board(document, actual, index + 1)}"
            )
    return (
        f"length or end differs: expected {len(expected['steps'])} steps, {expected['termination']}; "
        f"actual {len(actual['steps'])} steps, {actual['termination']}"
    )


def assert_same_record(document: dict[str, Any], expected_text: str, actual_text: str) -> None:
    """Fail with the first differing step and both boards unless the texts are identical."""
    if expected_text != actual_text:
        difference = first_difference(document, json.loads(expected_text), json.loads(actual_text))
        raise AssertionError(difference or "same values, but the texts are not byte-identical")
