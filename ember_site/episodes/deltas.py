"""What changed between two observations. Pure, and built from nothing but observations."""

from __future__ import annotations

from typing import Any

from simulator import Observation, PersonStatus

#: Wire form of a delta or an observation: JSON-ready dictionaries.
Wire = dict[str, Any]


def delta_between(before: Observation, after: Observation) -> Wire:
    """The change from one observation to the next one of the same episode.

    Lists are in the order of the observation: people by ID, cells row-major. `moved` holds
    active people whose cell changed; who left the run stands in `evacuated` or `casualties`
    with the cell where that happened.

    Raises:
        ValueError: the two are not one step apart.
    """
    if after.step != before.step + 1:
        raise ValueError(f"expected step {before.step + 1}, got {after.step}")
    moved: list[list[Any]] = []
    evacuated: list[list[Any]] = []
    casualties: list[list[Any]] = []
    for old, new in zip(before.people, after.people, strict=True):
        entry = [new.id, new.position[0], new.position[1]]
        if new.status is not old.status:
            (evacuated if new.status is PersonStatus.EVACUATED else casualties).append(entry)
        elif new.position != old.position:
            moved.append(entry)
    ignitions = [list(cell) for cell in sorted(after.burning - before.burning)]
    return {
        "step": after.step,
        "moved": moved,
        "evacuated": evacuated,
        "casualties": casualties,
        "ignitions": ignitions,
    }


def observation_summary(observation: Observation) -> dict[str, int]:
    """The counts that an observation shows: population, evacuated, casualties, active, step."""
    statuses = [person.status for person in observation.people]
    return {
        "population": len(statuses),
        "evacuated": statuses.count(PersonStatus.EVACUATED),
        "casualties": statuses.count(PersonStatus.CASUALTY),
        "unresolved": statuses.count(PersonStatus.ACTIVE),
        "steps": observation.step,
    }
