"""Canonical text of a run record, written straight from the rows of a run.

Every fragment that can recur (a person's action, outcome or state) is kept as finished
text, so that a step costs a few joins. The result is byte for byte what
``canonical_json`` of the same document gives; the tests hold the two together.

Source: simulation contract, section 4.
"""

import hashlib
from collections.abc import Sequence

from simulator.engine import ACTIONS, MOVED, OUTCOMES, STATUSES, Cause, EndReason, StepEvents, World
from simulator.scenario import Scenario
from simulator.strict_json import canonical_json
from simulator.versions import OBSERVATION_VERSION, SCHEMA_VERSION, SIMULATOR_VERSION

_CASUALTY_HEADS = {cause: f'{{"cause":"{cause}","id":"' for cause in Cause}
_STATUS_TAILS = [f',"status":"{status}"}}' for status in STATUSES]


class StateText:
    """Text of the recorded STATE of a run, brought forward step by step."""

    def __init__(self, scenario: Scenario, world: World, trapped: Sequence[int]) -> None:
        ids = [person.id for person in scenario.people]
        self.ids = ids
        self._positions = world.ground.texts
        self._quoted = [f'"{i}"' for i in ids]
        self._heads = [f'"{i}":{{"position":' for i in ids]
        self._people = [
            head + self._positions[cell] + _STATUS_TAILS[status]
            for head, cell, status in zip(self._heads, world.cells, world.statuses, strict=True)
        ]
        self.text = self._state(world, trapped)

    def advance(self, events: StepEvents, world: World, trapped: Sequence[int]) -> None:
        """Follow one step; ``world`` is the state after it."""
        people, heads, positions = self._people, self._heads, self._positions
        cells, statuses = world.cells, world.statuses
        for person, outcome in zip(events.actors, events.outcomes, strict=True):
            if outcome == MOVED:
                people[person] = heads[person] + positions[cells[person]] + _STATUS_TAILS[statuses[person]]
        for person, _ in events.casualties:
            people[person] = heads[person] + positions[cells[person]] + _STATUS_TAILS[statuses[person]]
        self.text = self._state(world, trapped)

    def _state(self, world: World, trapped: Sequence[int]) -> str:
        fire = world.fire
        cut_off = ",".join([self._quoted[person] for person in trapped])
        return (
            f'{{"burning":{fire.burning[world.step]},"fire_draws":{fire.draws[world.step]},'
            f'"people":{{{",".join(self._people)}}},"trapped":[{cut_off}]}}'
        )


class RecordText:
    """Collects the text of one run, step by step."""

    def __init__(self, header: dict[str, str | int], ids: Sequence[str], world: World, initial: str) -> None:
        """``initial`` is the text of the state before the first step."""
        self._ids = ids
        self._positions = world.ground.texts
        self._actions = [[f'"{i}":"{action}"' for action in ACTIONS] for i in ids]
        self._movements = [[f'"{i}":"{outcome}"' for outcome in OUTCOMES] for i in ids]
        self._quoted = [f'"{i}"' for i in ids]
        self.steps: list[str] = []
        self.opening = f'{{"header":{canonical_json(header)},"initial":{initial},"steps":['

    def add(self, events: StepEvents, state: str) -> None:
        """Append one step; ``state`` is the text of the state after it."""
        positions, actions, movements = self._positions, self._actions, self._movements
        acted = ",".join([actions[p][a] for p, a in zip(events.actors, events.actions, strict=True)])
        moved = ",".join([movements[p][o] for p, o in zip(events.actors, events.outcomes, strict=True)])
        lost = ",".join([f'{_CASUALTY_HEADS[cause]}{self._ids[p]}"}}' for p, cause in events.casualties])
        out = ",".join([self._quoted[p] for p in events.evacuations])
        lit = ",".join([positions[cell] for cell in events.ignitions])
        self.steps.append(
            f'{{"actions":{{{acted}}},"casualties":[{lost}],"evacuations":[{out}],"ignitions":[{lit}],'
            f'"movements":{{{moved}}},"state":{state},"step":{events.step}}}'
        )

    def text(self, termination: tuple[EndReason, int] | None) -> str:
        """The whole record as it stands; ``termination`` is None while the run goes on."""
        return self.opening + ",".join(self.steps) + self.closing(termination)

    def digest(self, termination: tuple[EndReason, int] | None) -> str:
        """SHA-256 of :meth:`text`, without making it."""
        digest = hashlib.sha256(self.opening.encode("ascii"))
        for number, step in enumerate(self.steps):
            digest.update((f",{step}" if number else step).encode("ascii"))
        digest.update(self.closing(termination).encode("ascii"))
        return digest.hexdigest()

    def closing(self, termination: tuple[EndReason, int] | None) -> str:
        """What stands behind the last step."""
        end = "null"
        if termination is not None:
            end = f'{{"reason":"{termination[0]}","step":{termination[1]}}}'
        return f'],"termination":{end}}}'


def header_of(scenario: Scenario, seed: int) -> dict[str, str | int]:
    """The header of a record of this simulator, in the order of the contract."""
    return {
        "simulator_version": SIMULATOR_VERSION,
        "observation_version": OBSERVATION_VERSION,
        "schema_version": SCHEMA_VERSION,
        "scenario_id": scenario.scenario_id,
        "scenario_hash": scenario.content_hash,
        "seed": seed,
    }
