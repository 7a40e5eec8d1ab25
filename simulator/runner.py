"""Episode runner: drives one policy through one run and hands it nothing but observations.

Source: fairness spec, section 1.2.
"""

from collections.abc import Callable

from simulator.observation import Observation
from simulator.policies import Policy
from simulator.record import RunRecord
from simulator.scenario import Scenario
from simulator.simulation import Simulator


def run_episode(
    scenario: Scenario,
    policy: Policy,
    seed: int | None = None,
    on_step: Callable[[Observation], None] | None = None,
) -> RunRecord:
    """Run a policy until the run ends.

    Args:
        scenario: The scenario.
        policy: Called once a step with the observation; returns one action for each active
            person. If it has a method ``for_episode()``, that is called once and the policy
            that it returns is used, so that a policy with memory starts fresh.
        seed: Evaluator seed; the scenario's own when None. The policy never receives it.
        on_step: Called with the observation after each step, for progress.

    Returns:
        The complete run record.

    Raises:
        SimulationError: The policy's actions do not fit the state.
    """
    simulator = Simulator(scenario, seed)
    for_episode = getattr(policy, "for_episode", None)
    if callable(for_episode):
        policy = for_episode()
    observation = simulator.observe()
    while not simulator.done:
        observation = simulator.step(policy(observation))
        if on_step is not None:
            on_step(observation)
    return simulator.record()
