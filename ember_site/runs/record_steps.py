"""The steps of a stored record one at a time, so that a long record never becomes a tree in memory."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TypeAlias

import msgspec

Cell: TypeAlias = tuple[int, int]


class Person(msgspec.Struct):
    """A person of a state."""

    position: Cell


class Casualty(msgspec.Struct):
    """A casualty of a step."""

    id: str


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


class _State(msgspec.Struct):
    people: dict[str, Person]


class _Record(msgspec.Struct):
    header: _Header
    initial: _State
    steps: list[msgspec.Raw]


_record_decoder = msgspec.json.Decoder(_Record)
_step_decoder = msgspec.json.Decoder(Step)


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
        return _step_decoder.decode(self._steps[index])
