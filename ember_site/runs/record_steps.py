"""The steps of a stored record one at a time, so that a long record never becomes a tree in memory."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TypeAlias

import msgspec

Cell: TypeAlias = tuple[int, int]


class Person(msgspec.Struct):
    """A person of a state."""

    position: Cell
    status: str


class State(msgspec.Struct):
    """The state after a step."""

    people: dict[str, Person]
    burning: int
    fire_draws: int
    trapped: list[str]


class Casualty(msgspec.Struct):
    """A casualty of a step."""

    id: str
    cause: str


class Step(msgspec.Struct):
    """What one step did; its state is skipped."""

    step: int
    actions: dict[str, str]
    movements: dict[str, str]
    ignitions: list[Cell]
    evacuations: list[str]
    casualties: list[Casualty]


class _Header(msgspec.Struct):
    seed: int


class _StateOfStep(msgspec.Struct):
    state: State


class _Record(msgspec.Struct):
    header: _Header
    initial: State
    steps: list[msgspec.Raw]


_record_decoder = msgspec.json.Decoder(_Record)
_step_decoder = msgspec.json.Decoder(Step)
_state_decoder = msgspec.json.Decoder(_StateOfStep)


def read_step(text: bytes | msgspec.Raw) -> Step:
    """What a step did, from its text."""
    return _step_decoder.decode(text)


def read_state(text: bytes | msgspec.Raw) -> State:
    """The state that a step left, from its text."""
    return _state_decoder.decode(text).state


class RecordSteps:
    """A record that the loader has let through. Each step is decoded when it is asked for."""

    def __init__(self, record: bytes) -> None:
        decoded = _record_decoder.decode(record)
        self.seed = decoded.header.seed
        self.start: Mapping[str, Cell] = {
            person: at.position for person, at in decoded.initial.people.items()
        }
        self._steps = decoded.steps

    def __len__(self) -> int:
        return len(self._steps)

    def __iter__(self) -> Iterator[Step]:
        return map(_step_decoder.decode, self._steps)

    def first(self, count: int) -> Iterator[Step]:
        """The first steps, at most so many."""
        return map(_step_decoder.decode, self._steps[:count])

    def step(self, index: int) -> Step:
        """The step with that index, from 0.

        Raises:
            IndexError: the record has no such step.
        """
        return read_step(self._steps[index])

    def state(self, index: int) -> State:
        """The state after the step with that index, from 0.

        Raises:
            IndexError: the record has no such step.
        """
        return read_state(self._steps[index])
