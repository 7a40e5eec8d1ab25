"""What a client makes of a snapshot and the deltas after it, to hold against what the server knows."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ember_site.episodes.deltas import Wire


def delta_apply(observation: Mapping[str, Any], delta: Mapping[str, Any]) -> Wire:
    """The observation, in dictionary form, after a delta. The argument is left alone.

    Raises:
        ValueError: the delta does not follow the observation.
    """
    if delta["step"] != observation["step"] + 1:
        raise ValueError(f"expected a delta of step {observation['step'] + 1}, got {delta['step']}")
    changes: dict[str, Wire] = {}
    for person_id, row, col in delta["moved"]:
        changes[person_id] = {"position": [row, col]}
    for person_id, row, col in delta["evacuated"]:
        changes[person_id] = {"position": [row, col], "status": "evacuated"}
    for person_id, row, col in delta["casualties"]:
        changes[person_id] = {"position": [row, col], "status": "casualty"}
    people = [{**person, **changes.get(person["id"], {})} for person in observation["people"]]
    burning = sorted([*observation["burning"], *delta["ignitions"]])
    return {**observation, "step": delta["step"], "people": people, "burning": burning}
