"""
Tracks: what the board viewer draws of a run, made from its record and scenario.

A track is small: one character for each active person and step. It is kept by record digest, which
never changes its meaning.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from itertools import pairwise
from typing import Any, NotRequired, TypedDict

from django.core.cache import cache

from ember_site.runs.partings import parting_make
from ember_site.runs.record_steps import Cell, RecordSteps
from ember_site.runs.scenes import scene_make
from simulator import Scenario, SimulationError, Simulator

LETTER = {"north": ord("N"), "south": ord("S"), "east": ord("E"), "west": ord("W")}
STILL = ord(".")
TRACK_FORMAT = 3
"""Grows with each change of what a track holds, so that no cache gives an old one."""
CACHE_SECONDS = 24 * 3600
STEP_PLACE = re.compile(r"steps\[(\d+)\]")
CACHE_MAX_BYTES = 2_000_000


class TrackPerson(TypedDict):
    """One person's way. `moves` has one character a step while active; `.` is a step without a move."""

    id: str
    position: list[int]
    moves: str
    status: str
    end_step: int | None


class Track(TypedDict):
    """
    A whole run. `burn` holds row, column and the step after which the cell burns.

    Only the track of a refused run has a `scene`, what came of one person's move in the step that differs
    (see `scenes.Scene`), and a `parting`, all in which that step differs (see `partings.Parting`).
    """

    width: int
    height: int
    obstacles: list[list[int]]
    exits: list[dict[str, Any]]
    people: list[TrackPerson]
    burn: list[list[int]]
    steps: int
    spread_interval: int
    max_steps: int
    scene: NotRequired[dict[str, Any] | None]
    parting: NotRequired[dict[str, Any] | None]


def track_json(*, digest: str, record: bytes, scenario: Scenario) -> bytes:
    """The track of a verified record as JSON."""
    return _kept(digest, lambda: track_make(record=record, scenario=scenario))


def mismatch_track_json(*, digest: str, record: bytes, scenario: Scenario, place: str) -> bytes:
    """
    The track of the replay of a refused record, up to and with the step that differs, as JSON.

    Only the recorded actions are used; what is shown is what the rules make of them.
    """
    return _kept(f"{digest}:{place}", lambda: _replayed_track(record, scenario, place))


def _kept(name: str, make: Callable[[], Track]) -> bytes:
    """The track from the cache, or made and put there unless it is large."""
    key = f"runs:track:{TRACK_FORMAT}:{name}"
    kept: bytes | None = cache.get(key)
    if kept is not None:
        return kept
    made = json.dumps(make(), separators=(",", ":")).encode("ascii")
    if len(made) <= CACHE_MAX_BYTES:
        cache.set(key, made, CACHE_SECONDS)
    return made


def _replayed_track(record: bytes, scenario: Scenario, place: str) -> Track:
    steps = RecordSteps(record)
    index = step_index(place) or 0
    simulator = Simulator(scenario, steps.seed)
    for step in steps.first(index + 1):
        try:
            simulator.step(step.actions)
        except SimulationError:
            break  # the differing step has actions that cannot be taken
    track = track_make(record=simulator.record().to_json().encode("ascii"), scenario=scenario)
    person = place_person(place)
    scene = None
    if person is not None:
        scene = scene_make(record=steps, scenario=scenario, step_index=index, person=person)
    track["scene"] = None if scene is None else scene.to_dict()
    parting = parting_make(record=steps, scenario=scenario, step_index=index, person=person, scene=scene)
    track["parting"] = None if parting is None else parting.to_dict()
    return track


def step_index(place: str) -> int | None:
    """The index, from 0, of the step that a place lies in."""
    found = STEP_PLACE.match(place)
    return int(found[1]) if found else None


def place_person(place: str) -> str | None:
    """The person whom a place speaks of, as in `steps[16].movements.P031`."""
    parts = place.split(".")
    return next((who for key, who in pairwise(parts) if key in ("actions", "movements", "people")), None)


def scene_sentence(*, record: bytes, scenario: Scenario, place: str) -> str:
    """What came of the move that a mismatch at `place` speaks of, with its rule; else empty."""
    person, index = place_person(place), step_index(place)
    if person is None or index is None:
        return ""
    scene = scene_make(record=RecordSteps(record), scenario=scenario, step_index=index, person=person)
    if scene is None:
        return ""
    return f"{scene.sentence} (Rule {scene.rule})" if scene.rule else scene.sentence


def track_make(*, record: bytes, scenario: Scenario) -> Track:
    """The track of a record that the replay has confirmed."""
    steps = RecordSteps(record)
    moves = {person: bytearray() for person in steps.start}
    ends: dict[str, tuple[str, int]] = {}
    burn = [[*cell, 0] for cell in scenario.ignitions]
    for step in steps:
        for person, outcome in step.movements.items():
            moves[person].append(LETTER[step.actions[person]] if outcome == "moved" else STILL)
        ends |= dict.fromkeys(step.evacuations, ("evacuated", step.step))
        ends |= {casualty.id: ("casualty", step.step) for casualty in step.casualties}
        burn.extend([*cell, step.step] for cell in step.ignitions)
    return Track(
        width=scenario.width,
        height=scenario.height,
        obstacles=[list(cell) for cell in scenario.obstacles],
        exits=[{"id": exit_.id, "position": list(exit_.position)} for exit_ in scenario.exits],
        people=[_person(person, at, moves[person], ends.get(person)) for person, at in steps.start.items()],
        burn=burn,
        steps=len(steps),
        spread_interval=scenario.fire.spread_interval,
        max_steps=scenario.max_steps,
    )


def _person(identity: str, start: Cell, moves: bytearray, end: tuple[str, int] | None) -> TrackPerson:
    status, end_step = end or ("active", None)
    return TrackPerson(
        id=identity, position=list(start), moves=moves.decode("ascii"), status=status, end_step=end_step
    )
