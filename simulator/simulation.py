"""The simulator: one run of a scenario and a seed, step by step.

Source: fairness spec, section 1.2 (the harness boundary is ``observe`` and ``step``);
simulation contract, sections 3 and 4.
"""

import hashlib
from collections.abc import Mapping, Sequence
from typing import Any, Final

from simulator.checks import MAX_SEED, shown
from simulator.engine import ACTIONS, STATUSES, EndReason, World, advance, end_reason, trapped
from simulator.errors import SimulationError, child
from simulator.fire import fire_trajectory
from simulator.metrics import Metrics, Tally
from simulator.observation import (
    ALLOWED_ACTIONS,
    Action,
    Observation,
    PersonState,
    map_view,
    rules_view,
)
from simulator.record import RecordHeader, RunRecord, Termination
from simulator.record_text import RecordText, StateText, header_of
from simulator.scenario import EnterFirePolicy, Position, Scenario

_CODES: Final[dict[Any, int]] = {str(action): code for code, action in enumerate(ACTIONS)}
_ACTION_WORDS: Final = ", ".join(ALLOWED_ACTIONS)


class Simulator:
    """One run. Give a policy only what :meth:`observe` returns; everything else is evaluator-private."""

    def __init__(self, scenario: Scenario, seed: int | None = None, *, keep_record: bool = True) -> None:
        """
        Args:
            scenario: The scenario to run.
            seed: Evaluator seed, 0 to 2**64 - 1; the scenario's own when None.
            keep_record: Whether to keep the text of every step, which :meth:`record` needs. Without
                it a run of any length takes the same memory; its actions give the record again.

        Raises:
            SimulationError: The seed is no such integer.
        """
        seed = scenario.seed if seed is None else seed
        if isinstance(seed, bool) or not isinstance(seed, int) or not 0 <= seed <= MAX_SEED:
            raise SimulationError(f"expected a seed of 0 to {MAX_SEED}, got {shown(seed)}", "seed")
        self._scenario = scenario
        self._fire = fire_trajectory(scenario, seed)
        kills = scenario.movement.enter_fire is EnterFirePolicy.CASUALTY
        self._world = World.start(self._fire, entering_fire_kills=kills)
        cut_off = trapped(self._world)
        self._state = StateText(scenario, self._world, cut_off)
        self._ids = self._state.ids
        self._header = header_of(scenario, seed)
        self._record: RecordText | None = None
        if keep_record:
            self._record = RecordText(self._header, self._ids, self._world, self._state.text)
        self._tally = Tally(len(scenario.people), scenario.max_steps, len(cut_off))
        self._end: tuple[EndReason, int] | None = None
        self._map = map_view(scenario)
        self._rules = rules_view(scenario)
        self._burning: frozenset[Position] = frozenset(scenario.ignitions)
        self._burning_step = 0

    @property
    def done(self) -> bool:
        """Whether the run has ended (R10)."""
        return self._end is not None

    @property
    def step_count(self) -> int:
        """Number of completed steps."""
        return self._world.step

    @property
    def termination(self) -> Termination | None:
        """Why and when the run ended; None while it goes on."""
        return None if self._end is None else Termination(str(self._end[0]), self._end[1])

    @property
    def active_ids(self) -> list[str]:
        """IDs of the people who must get an action in the next step, in ID order."""
        return [self._ids[person] for person in self._world.active]

    @property
    def active_count(self) -> int:
        """Number of people still active."""
        return len(self._world.active)

    @property
    def state_digest(self) -> str:
        """SHA-256 of the present step number and recorded state; evaluator-private."""
        return hashlib.sha256(f"{self._world.step}:{self._state.text}".encode("ascii")).hexdigest()

    @property
    def metrics(self) -> Metrics:
        """Metrics of the run so far; evaluator-private."""
        return self._tally.metrics()

    def observe(self) -> Observation:
        """The model-visible state now (observation 1.0)."""
        world = self._world
        positions = world.ground.positions
        for step in range(self._burning_step + 1, world.step + 1):
            if world.fire.ignitions[step]:
                self._burning |= {positions[cell] for cell in world.fire.ignitions[step]}
        self._burning_step = world.step
        return Observation(
            step=world.step,
            map=self._map,
            rules=self._rules,
            people=tuple(
                PersonState(identity, positions[cell], STATUSES[status])
                for identity, cell, status in zip(self._ids, world.cells, world.statuses, strict=True)
            ),
            burning=self._burning,
            allowed_actions=ALLOWED_ACTIONS,
        )

    def step(self, actions: Mapping[str, Action | str]) -> Observation:
        """Make one step.

        Args:
            actions: Exactly one action for each active person, by ID; enum or string.

        Returns:
            The observation after the step.

        Raises:
            SimulationError: The run has ended, or the actions do not fit; nothing changes.
        """
        self.advance(self.action_codes(actions))
        return self.observe()

    def action_codes(self, actions: Mapping[str, Action | str]) -> list[int]:
        """Phase 1: check the actions; return their codes beside the active people.

        Raises:
            SimulationError: With the place ``actions.ID``, the lowest ID at fault first.
        """
        if self._end is not None:
            raise SimulationError(
                f"the run ended after step {self._end[1]} ({self._end[0]}), expected no step"
            )
        if not isinstance(actions, Mapping):
            raise SimulationError(
                f"expected an object of actions by person ID, got {shown(actions)}", "actions"
            )
        active = self.active_ids
        problems = self._uncalled_for(actions, active)
        codes: list[int] = []
        for identity in active:
            action = actions.get(identity)
            code = _CODES.get(action) if isinstance(action, str) else None
            if identity not in actions:
                problems[identity] = f"expected an action ({_ACTION_WORDS}), it is missing"
            elif code is None:
                problems[identity] = f"expected one of {_ACTION_WORDS}, got {shown(action)}"
            else:
                codes.append(code)
        if problems:
            first = min(problems)
            raise SimulationError(problems[first], child("actions", first))
        return codes

    def advance(self, codes: Sequence[int]) -> None:
        """Make one step from checked action codes, beside the active people; see :meth:`action_codes`."""
        events = advance(self._world, codes)
        self._state.advance(events, self._world, trapped(self._world))
        if self._record is not None:
            self._record.add(events, self._state.text)
        self._tally.add(events)
        reason = end_reason(self._world, self._scenario.max_steps)
        if reason is not None:
            self._end = (reason, self._world.step)

    def record(self) -> RunRecord:
        """The run record as it stands; ``termination`` is null while the run goes on.

        Raises:
            SimulationError: The simulator was made with ``keep_record=False``, as for all texts below.
        """
        header = RecordHeader(**self._header)  # type: ignore[arg-type]
        return RunRecord(header, self.termination, self.record_text())

    def record_text(self) -> str:
        """Canonical text of :meth:`record`."""
        return self._kept.text(self._end)

    def record_digest(self) -> str:
        """SHA-256 of :meth:`record_text`."""
        return self._kept.digest(self._end)

    def opening_text(self) -> str:
        """Canonical text of the record before its first step."""
        return self._kept.opening

    def closing_text(self) -> str:
        """Canonical text of the record behind its last step."""
        return self._kept.closing(self._end)

    def state_text(self) -> str:
        """Canonical text of the record's STATE now."""
        return self._state.text

    def last_step_text(self) -> str:
        """Canonical text of the record's last step."""
        return self._kept.steps[-1]

    def _uncalled_for(self, actions: Mapping[str, Action | str], active: list[str]) -> dict[str, str]:
        """What is wrong with each ID that has an action and should have none.

        Raises:
            SimulationError: A key is no person ID at all.
        """
        expected = set(active)
        problems: dict[str, str] = {}
        for identity in actions:
            if not isinstance(identity, str):
                raise SimulationError(f"expected person IDs as keys, got {shown(identity)}", "actions")
            if identity not in expected:
                problems[identity] = (
                    "expected no action, this person is not active any more"
                    if identity in self._ids
                    else "expected no action, there is no such person"
                )
        return problems

    @property
    def _kept(self) -> RecordText:
        if self._record is None:
            raise SimulationError("this simulator keeps no record, expected one made with keep_record=True")
        return self._record
