"""
Everything in which a record and its replay differ at the first step that differs, side by side.

A verdict names one place. Whoever looks for the cause wants to see the whole step: what the record
claims of it on one side, what the rules make of the same actions on the other.
"""

from __future__ import annotations

from collections.abc import Container, Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

from ember_site.runs.record_steps import RecordSteps, State, Step, read_state, read_step
from ember_site.runs.scenes import Scene
from simulator import Scenario, SimulationError, Simulator

MOST_ROWS = 8
MOST_PEOPLE = 40
NONE = "–"


@dataclass(frozen=True, slots=True)
class Difference:
    """One thing on which the two disagree, in words."""

    what: str
    record: str
    replay: str


@dataclass(slots=True)
class Parting:
    """
    The two sides of one step, counted from 1. Cells are `[row, column]`.

    `moment` is `start` where the boards should show who tries what, `end` where they should show what came
    of it, and `none` where a board would show no difference. `people` holds position and status of those of
    whom the record tells otherwise. `attempts` holds action, claimed and replayed outcome of those who
    matter. `refusal` says why the replay cannot take the step, where it cannot.
    """

    step: int
    moment: str
    refusal: str = ""
    rows: list[Difference] = field(default_factory=list)
    more: int = 0
    people: dict[str, list[Any]] = field(default_factory=dict)
    claimed_ignitions: list[list[int]] = field(default_factory=list)
    attempts: dict[str, list[str]] = field(default_factory=dict)
    focus: list[list[int]] = field(default_factory=list)
    selected: list[str] = field(default_factory=list)

    def to_dict(self) -> dict[str, Any]:
        """JSON-ready form."""
        return asdict(self)


def parting_make(
    *, record: RecordSteps, scenario: Scenario, step_index: int, person: str | None, scene: Scene | None
) -> Parting | None:
    """
    The two sides of a step (index from 0).

    `person` is whom the verdict speaks of, `scene` what came of that person's move; None where the steps
    before cannot be taken, or the record has no such step.
    """
    simulator = Simulator(scenario, record.seed)
    try:
        claimed, claimed_state = record.step(step_index), record.state(step_index)
        for step in record.first(step_index):
            simulator.step(step.actions)
    except (SimulationError, IndexError):
        return None
    before = {one.id: list(one.position) for one in simulator.observe().people}
    try:
        simulator.step(claimed.actions)
    except SimulationError as error:
        parting = Parting(step_index + 1, "start", refusal=error.message)
        parting.selected = [person] if person in before else []
        parting.attempts = _attempts(claimed, None, parting.selected)
    else:
        text = simulator.last_step_text().encode("ascii")
        parting = _compared(step_index + 1, claimed, claimed_state, read_step(text), read_state(text))
        known = [who for who in [person, *(scene.involved if scene else ())] if who in before]
        parting.attempts = _attempts(claimed, read_step(text), dict.fromkeys([*known, *parting.selected]))
        if person in before and person not in parting.selected:
            parting.selected.insert(0, str(person))
    parting.focus = [*parting.focus, *(before[who] for who in parting.selected if who in before)]
    parting.rows, parting.more = parting.rows[:MOST_ROWS], max(0, len(parting.rows) - MOST_ROWS)
    parting.selected = parting.selected[:MOST_PEOPLE]
    return parting


def _compared(number: int, claimed: Step, claimed_state: State, replayed: Step, state: State) -> Parting:
    moves = list(_keyed("move of {}", claimed.movements, replayed.movements))
    people = list(_keyed("{}", _placed(claimed_state), _placed(state)))
    out = list(_keyed("{} gets out", *_flags(claimed.evacuations, replayed.evacuations)))
    lost = list(_keyed("{} is a casualty", _causes(claimed), _causes(replayed), none="no"))
    cells = list(
        _keyed("fire reaches {}", *_flags(map(_cell, claimed.ignitions), map(_cell, replayed.ignitions)))
    )
    trapped = list(_keyed("{} is trapped", *_flags(claimed_state.trapped, state.trapped)))
    counts = [
        Difference(what, str(ours), str(theirs))
        for what, ours, theirs in (
            ("step", claimed.step, replayed.step),
            ("burning cells", claimed_state.burning, state.burning),
            ("random draws of the fire", claimed_state.fire_draws, state.fire_draws),
        )
        if ours != theirs
    ]
    visible = bool(people or out or lost or cells)
    parting = Parting(number, "start" if moves else "end" if visible else "none")
    parting.rows = [row for group in (moves, out, lost, cells, people, trapped) for _, row in group] + counts
    named = [who for group in (moves, out, lost, people, trapped) for who, _ in group]
    parting.selected = list(dict.fromkeys(named))
    told = {who for who, _ in [*out, *lost]}
    for who in list(dict.fromkeys([*(who for who, _ in people), *sorted(told)]))[:MOST_PEOPLE]:
        if (at := claimed_state.people.get(who)) is not None:
            parting.people[who] = [list(at.position), _claimed_status(who, claimed, at.status, told)]
    parting.claimed_ignitions = [list(cell) for cell in claimed.ignitions]
    both = {*claimed.ignitions} ^ {*replayed.ignitions}
    parting.focus = [list(cell) for cell in sorted(both)]
    return parting


def _claimed_status(who: str, claimed: Step, status: str, told: Container[str]) -> str:
    """What the record makes of a person; what it tells as news goes before what its state says."""
    if who in _causes(claimed):
        return "casualty"
    if who in claimed.evacuations:
        return "evacuated"
    return "active" if who in told else status


def _keyed(
    what: str, record: Mapping[str, str], replay: Mapping[str, str], *, none: str = NONE
) -> Iterator[tuple[str, Difference]]:
    """The keys on which two mappings differ, in order of the keys."""
    for key in sorted({*record, *replay}):
        ours, theirs = record.get(key, none), replay.get(key, none)
        if ours != theirs:
            yield key, Difference(what.format(key), ours, theirs)


def _flags(record: Iterable[str], replay: Iterable[str]) -> tuple[dict[str, str], dict[str, str]]:
    """Members of two sets as `yes`, all others as `no`."""
    ours, theirs = set(record), set(replay)
    both = ours | theirs
    return (
        {key: "yes" if key in ours else "no" for key in both},
        {key: "yes" if key in theirs else "no" for key in both},
    )


def _causes(step: Step) -> dict[str, str]:
    return {casualty.id: casualty.cause for casualty in step.casualties}


def _placed(state: State) -> dict[str, str]:
    return {who: f"{person.status} at {_cell(person.position)}" for who, person in state.people.items()}


def _cell(cell: tuple[int, int]) -> str:
    return f"[{cell[0]}, {cell[1]}]"


def _attempts(claimed: Step, replayed: Step | None, people: Iterable[str]) -> dict[str, list[str]]:
    """Action, claimed outcome and replayed outcome of each person."""
    outcomes = replayed.movements if replayed else {}
    return {
        who: [claimed.actions[who], claimed.movements.get(who, ""), outcomes.get(who, "")]
        for who in list(people)[:MOST_PEOPLE]
        if who in claimed.actions
    }
