"""
The step at which a record and its replay part: who tried what, what came of it, and why.

Everything here comes from the replay; of the record only its actions are used.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

from ember_site.runs.record_steps import RecordSteps
from simulator import Scenario, SimulationError, Simulator

Cell = tuple[int, int]

DELTAS: Mapping[str, Cell] = {"north": (-1, 0), "south": (1, 0), "east": (0, 1), "west": (0, -1)}
MOST_NAMED = 5


@dataclass(frozen=True, slots=True)
class Scene:
    """
    One step of the replay, about one person.

    `step` counts from 1; the people stand where they stood before it. `involved` names those who matter,
    the person first; `target` is the cell that the person aimed at. `rule` is the rule's number.
    """

    step: int
    person: str
    actions: dict[str, str]
    outcomes: dict[str, str]
    involved: list[str]
    target: list[int] | None
    sentence: str
    rule: str

    def to_dict(self) -> dict[str, Any]:
        """JSON-ready form."""
        return asdict(self)


@dataclass(frozen=True, slots=True)
class _Before:
    """The state before the step and what the step made of it."""

    actions: Mapping[str, str]
    outcomes: Mapping[str, str]
    cells: Mapping[str, Cell]

    def target(self, person: str) -> Cell | None:
        """The cell that a mover aims at."""
        delta = DELTAS.get(self.actions.get(person, ""))
        if delta is None or person not in self.cells:
            return None
        row, col = self.cells[person]
        return row + delta[0], col + delta[1]

    def rivals(self, cell: Cell) -> list[str]:
        """Everybody who aims at a cell from ground that lets them, in ID order."""
        refused = ("blocked_bounds", "blocked_wall", "blocked_fire")
        return sorted(
            person
            for person in self.actions
            if self.target(person) == cell and self.outcomes.get(person) not in refused
        )

    def holder(self, cell: Cell) -> str | None:
        """Who stands on a cell before the step."""
        return next((person for person, at in self.cells.items() if at == cell), None)

    def chain(self, person: str) -> list[str]:
        """The closed chain of people who each want the cell of the next, beginning with the person."""
        members = [person]
        while (aim := self.target(members[-1])) is not None:
            following = self.holder(aim)
            if following is None or following in members:
                break
            members.append(following)
        return members


def scene_make(*, record: RecordSteps, scenario: Scenario, step_index: int, person: str) -> Scene | None:
    """
    The scene of a step (index from 0) about a person; None where the step cannot be taken or the person
    takes no part in it.
    """
    simulator = Simulator(scenario, record.seed)
    try:
        for step in record.first(step_index):
            simulator.step(step.actions)
        cells = {one.id: tuple(one.position) for one in simulator.observe().people if one.status == "active"}
        actions = record.step(step_index).actions
        simulator.step(actions)
    except (SimulationError, IndexError):
        return None
    outcomes: dict[str, str] = json.loads(simulator.last_step_text())["movements"]
    if person not in outcomes:
        return None
    before = _Before(actions, outcomes, cells)  # type: ignore[arg-type]  # positions are pairs
    target = before.target(person)
    involved, sentence, rule = _told(before, person, target)
    return Scene(
        step=step_index + 1,
        person=person,
        actions=dict(actions),
        outcomes=outcomes,
        involved=involved,
        target=None if target is None else list(target),
        sentence=sentence,
        rule=rule,
    )


def _told(before: _Before, person: str, target: Cell | None) -> tuple[list[str], str, str]:
    """Who is involved, a sentence on why it came so, and the rule's number."""
    outcome = before.outcomes[person]
    if target is None:
        return [person], f"{person} chose to stay.", ""
    cell = f"[{target[0]}, {target[1]}]"
    if outcome == "blocked_conflict":
        rivals = before.rivals(target)
        return (
            [person, *(rival for rival in rivals if rival != person)],
            f"{_names(rivals)} all move to cell {cell}. The lowest ID keeps it, which is {rivals[0]}; "
            f"the {'other stays' if len(rivals) == 2 else 'others stay'}.",
            "R1",
        )
    if outcome == "blocked_cycle":
        chain = before.chain(person)
        words = "want to swap cells" if len(chain) == 2 else "want to rotate, each to the cell of the next"
        return (
            chain,
            f"{_names(sorted(chain))} {words}. Nobody in a closed chain moves.",
            "R2" if len(chain) == 2 else "R3",
        )
    if outcome == "blocked_occupied":
        return _told_occupied(before, person, target, cell)
    ground = {
        "blocked_wall": f"{person} walks against the wall at {cell}.",
        "blocked_bounds": f"{person} walks off the grid.",
        "blocked_fire": f"Cell {cell} burns, and the scenario does not let people walk into fire.",
        "moved": f"{person} moves to {cell}; nobody with a lower ID wants that cell, and it becomes free.",
    }
    return [person], ground.get(outcome, ""), "R6" if outcome == "blocked_fire" else ""


def _told_occupied(before: _Before, person: str, target: Cell, cell: str) -> tuple[list[str], str, str]:
    holder = before.holder(target)
    if holder is None:
        return [person], f"Somebody holds cell {cell}.", ""
    if before.actions.get(holder) == "stay":
        why = "who stays"
    else:
        why = f"whose own move fails ({before.outcomes.get(holder, 'blocked')})"
    return [person, holder], f"Cell {cell} is held by {holder}, {why}, so {person} cannot enter.", ""


def _names(people: list[str]) -> str:
    """Names in a sentence, the first few of many."""
    shown = people[:MOST_NAMED]
    if len(people) > MOST_NAMED:
        return f"{', '.join(shown)} and {len(people) - MOST_NAMED} more"
    return f"{', '.join(shown[:-1])} and {shown[-1]}" if len(shown) > 1 else shown[0]
