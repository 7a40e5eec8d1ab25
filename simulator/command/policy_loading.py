"""Find the policy that is named on the command line, and guard an episode against its faults.

What a policy prints, from its import on, goes to standard error: the answer and the records stay clean.
"""

from __future__ import annotations

import importlib
import os
import sys
import traceback
from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, redirect_stdout
from typing import Any, Final

from simulator.command.output import CommandError
from simulator.errors import SimulationError
from simulator.observation import Action, Observation
from simulator.policies import BASELINES, Policy, make_random
from simulator.record import RunRecord
from simulator.runner import run_episode
from simulator.scenario import Scenario

_NOT_THE_POLICY: Final = ("<", os.path.dirname(__file__), os.path.dirname(importlib.__file__))
"""How the file names of generated code, of this package and of the import system begin."""

POLICY_HELP = f"A baseline ({', '.join(BASELINES)}) or your own as module:function."


def policy_find(name: str, policy_seed: int | None) -> Policy:
    """
    The policy of that name: a baseline, or ``module:function``.

    A function takes one observation and returns an action for each active person. Modules are also
    looked for in the current directory. If the object has a method ``for_episode()``, that is called before
    each episode and the policy that it returns plays it.

    Raises:
        CommandError: No such policy, or its module fails while it is imported.
    """
    if name == "random":
        return make_random(policy_seed or 0)
    if policy_seed is not None:
        raise CommandError.wrong_use("--policy-seed is for the policy random alone")
    if name in BASELINES:
        return BASELINES[name]()
    module_name, colon, attribute = name.partition(":")
    if not colon or not module_name or not attribute or module_name.startswith("."):
        known = ", ".join(BASELINES)
        raise CommandError.wrong_use(f"no policy {name!r}: expected one of {known}, or module:function")
    with redirect_stdout(sys.stderr):
        found = _attribute(_module(module_name, name), attribute, name)
    if isinstance(found, type) or not callable(found):
        kind = "a class" if isinstance(found, type) else f"of the type {type(found).__name__}"
        raise CommandError.wrong_use(
            f"{name} is {kind}: expected a function that takes an observation and returns actions"
        )
    policy: Policy = found
    return policy


def _module(module_name: str, name: str) -> Any:
    here = os.getcwd()
    if here not in sys.path:
        sys.path.insert(0, here)
    with _faults(f"policy {name} could not be imported"):
        try:
            return importlib.import_module(module_name)
        except ModuleNotFoundError as problem:
            if problem.name is None or not f"{module_name}.".startswith(f"{problem.name}."):
                raise
            message = f"no module {problem.name!r} for the policy {name}, in {here} or elsewhere on the path"
            raise CommandError.wrong_use(message) from problem


def _attribute(module: Any, attribute: str, name: str) -> Any:
    found = module
    for part in attribute.split("."):
        try:
            found = getattr(found, part)
        except AttributeError as problem:
            raise CommandError.wrong_use(f"policy {name}: {module.__name__} has no {attribute}") from problem
    return found


@contextmanager
def _faults(what: str, **data: Any) -> Iterator[None]:
    """Make a refusal of whatever the policy's own code raises, SystemExit too; Ctrl-C stays what it is."""
    try:
        yield
    except (KeyboardInterrupt, CommandError):
        raise
    except BaseException as problem:
        raise _failed(what, problem, **data) from problem


def _failed(what: str, problem: BaseException, **data: Any) -> CommandError:
    """A fault of the policy's own code, with the line where it happened."""
    frames = traceback.extract_tb(problem.__traceback__)
    own = [frame for frame in frames if not frame.filename.startswith(_NOT_THE_POLICY)]
    where = f" ({os.path.basename(own[-1].filename)}, line {own[-1].lineno})" if own else ""
    said = f": {problem}" if str(problem) else ""
    return CommandError(f"{what}: {type(problem).__name__}{said}{where}", code="policy_failed", **data)


class _Guarded:
    """A policy whose exceptions say in which step they were raised."""

    def __init__(self, policy: Policy, scenario: Scenario, name: str) -> None:
        self.policy = policy
        self.scenario_id = scenario.scenario_id
        self.name = name
        self.step = 1

    def start(self) -> None:
        """Take a fresh policy for the episode, if it gives one."""
        with self.faults():
            for_episode = getattr(self.policy, "for_episode", None)
            if callable(for_episode):
                self.policy = for_episode()

    def __call__(self, observation: Observation) -> Mapping[str, Action | str]:
        self.step = observation.step + 1
        with self.faults():
            actions = self.policy(observation)
            # To read a mapping of the policy's own may run its code, too.
            return dict(actions) if isinstance(actions, Mapping) else actions

    def faults(self) -> AbstractContextManager[None]:
        """What the policy raises in the present step names it."""
        what = f"policy {self.name} failed in step {self.step} of {self.scenario_id}"
        return _faults(what, scenario_id=self.scenario_id, step=self.step)


def episode_run(scenario: Scenario, policy: Policy, seed: int | None, *, name: str) -> RunRecord:
    """
    One run of a policy, as :func:`simulator.run_episode`.

    Raises:
        CommandError: The policy raised something, or its actions do not fit (with the step and the place).
    """
    guarded = _Guarded(policy, scenario, name)
    try:
        with redirect_stdout(sys.stderr):
            guarded.start()
            return run_episode(scenario, guarded, seed)
    except SimulationError as problem:
        where = f"step {guarded.step} of {scenario.scenario_id}"
        raise CommandError(
            f"policy {name} gave wrong actions in {where}: {problem.message}",
            code="wrong_actions",
            place=problem.place,
            scenario_id=scenario.scenario_id,
            step=guarded.step,
        ) from problem
