"""The baselines: greedy, random and stay, as the contract defines them."""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping
from typing import Any

import pytest

from simulator import Action, Observation, RunRecord, SimulationError, Simulator, policies, run_episode
from tests.simulator.builders import Document, document_from_map, public_documents, scenario_of
from tests.simulator.reference_engine import ACTIONS, DIRECTIONS, SplitMix

PUBLISHED_GREEDY = [4, 27, 7, 5, 6, 5, 7, 5, 73, 5]


def evacuated(record: RunRecord) -> int:
    return sum(len(step["evacuations"]) for step in record.to_dict()["steps"])


def active(observation: Observation) -> list[Any]:
    return [person for person in observation.people if person.status.value == "active"]


def test_greedy_evacuates_the_published_numbers() -> None:
    records = [
        run_episode(scenario_of(document), policies.greedy) for document in public_documents().values()
    ]
    assert [evacuated(record) for record in records] == PUBLISHED_GREEDY


def plain_greedy(observation: Observation) -> dict[str, str]:
    """The definition, one search for each cell that is asked for."""
    closed = set(observation.map.obstacles) | observation.burning
    goals = {entry.position for entry in observation.map.exits} - observation.burning

    def distance(start: tuple[int, int]) -> float:
        queue, seen = deque([(start, 0)]), {start}
        while queue:
            (row, col), steps = queue.popleft()
            if (row, col) in goals:
                return steps
            for down, right in DIRECTIONS.values():
                near = (row + down, col + right)
                inside = 0 <= near[0] < observation.map.height and 0 <= near[1] < observation.map.width
                if inside and near not in closed and near not in seen:
                    seen.add(near)
                    queue.append((near, steps + 1))
        return float("inf")

    actions = {}
    for person in active(observation):
        best, choice = distance(person.position), "stay"
        for action, (down, right) in DIRECTIONS.items():
            near = (person.position[0] + down, person.position[1] + right)
            inside = 0 <= near[0] < observation.map.height and 0 <= near[1] < observation.map.width
            if inside and near not in closed and distance(near) < best:
                best, choice = distance(near), action
        actions[person.id] = choice
    return actions


@pytest.mark.parametrize(
    "name", [name for name in public_documents() if "09" not in name and "02" not in name]
)
def test_greedy_equals_its_definition(name: str) -> None:
    simulator = Simulator(scenario_of(public_documents()[name]))
    while not simulator.done:
        observation = simulator.observe()
        assert policies.greedy(observation) == plain_greedy(observation)
        simulator.step(policies.greedy(observation))


def first_actions(document: Document, policy: Any) -> dict[str, str]:
    chosen: Mapping[str, Any] = policy(Simulator(scenario_of(document)).observe())
    return {person: str(action) for person, action in chosen.items()}


def test_greedy_takes_the_first_of_north_south_east_west_on_a_tie() -> None:
    assert first_actions(document_from_map(".X.", "XAX", ".X."), policies.greedy) == {"A": "north"}
    assert first_actions(document_from_map("...", "XAX", ".X."), policies.greedy) == {"A": "south"}
    assert first_actions(document_from_map("...", "XAX", "..."), policies.greedy) == {"A": "east"}
    assert first_actions(document_from_map("...", "XA.", "..."), policies.greedy) == {"A": "west"}


def test_greedy_stays_where_no_exit_can_be_reached() -> None:
    assert first_actions(document_from_map("A#X"), policies.greedy) == {"A": "stay"}
    assert first_actions(document_from_map("A*X", fire={"spread_interval": 9}), policies.greedy) == {
        "A": "stay"
    }
    assert first_actions(document_from_map("A.@", fire={"spread_interval": 9}), policies.greedy) == {
        "A": "stay"
    }


def test_greedy_ignores_people_in_the_way() -> None:
    assert first_actions(document_from_map("ABX", "..."), policies.greedy) == {"A": "east", "B": "east"}


def test_greedy_shuns_a_burning_exit() -> None:
    document = document_from_map("X..A@", fire={"spread_interval": 9})
    assert first_actions(document, policies.greedy) == {"A": "west"}


def test_stay_stays() -> None:
    simulator = Simulator(scenario_of(document_from_map("AXB")))
    assert policies.stay(simulator.observe()) == {"A": Action.STAY, "B": Action.STAY}


@pytest.mark.parametrize("policy_seed", [0, 1, 2**64 - 1])
def test_random_takes_one_draw_for_each_active_person_in_id_order(policy_seed: int) -> None:
    stream = SplitMix(policy_seed, "policy/random")
    simulator, policy = (
        Simulator(scenario_of(public_documents()["v1-pub-07-multiple-ignitions"])),
        policies.make_random(policy_seed),
    )
    while not simulator.done:
        observation = simulator.observe()
        expected = {person.id: ACTIONS[stream.output() % 5] for person in active(observation)}
        assert policy(observation) == expected
        simulator.step(expected)


def test_the_random_baseline_has_policy_seed_zero() -> None:
    scenario = scenario_of(public_documents()["v1-pub-05-central-ignition"])
    digests = {
        run_episode(scenario, policy).digest
        for policy in (policies.random, policies.make_random(0), policies.BASELINES["random"]())
    }
    assert len(digests) == 1
    assert run_episode(scenario, policies.make_random(1)).digest not in digests


def test_the_random_baseline_starts_anew_for_each_episode() -> None:
    scenario = scenario_of(public_documents()["v1-pub-05-central-ignition"])
    assert run_episode(scenario, policies.random).digest == run_episode(scenario, policies.random).digest


def test_the_random_baseline_does_not_depend_on_the_run_seed() -> None:
    scenario = scenario_of(public_documents()["v1-pub-05-central-ignition"])
    one, other = (run_episode(scenario, policies.random, seed=seed).to_dict()["steps"] for seed in (1, 2))
    assert [step["actions"] for step in one] == [step["actions"] for step in other]


def test_the_published_baselines_are_offered_by_name() -> None:
    assert {"stay", "random", "greedy"} <= set(policies.BASELINES)
    assert policies.BASELINES["stay"]() is policies.stay
    assert policies.BASELINES["greedy"]() is policies.greedy


# -- the episode runner ------------------------------------------------------------------


def test_the_runner_hands_the_policy_nothing_but_observations() -> None:
    received: list[tuple[Any, ...]] = []

    def policy(*arguments: Any, **named: Any) -> dict[str, str]:
        assert not named
        received.append(arguments)
        return dict.fromkeys([person.id for person in active(arguments[0])], "east")

    scenario = scenario_of(document_from_map("A..X", ".B.."))
    record = run_episode(scenario, policy)
    assert record.termination is not None
    assert {len(arguments) for arguments in received} == {1}
    assert {type(arguments[0]) for arguments in received} == {Observation}
    assert [arguments[0].step for arguments in received] == list(range(record.termination.step))


def test_the_runner_uses_the_given_seed_or_the_one_of_the_scenario() -> None:
    scenario = scenario_of({**document_from_map("A.X"), "seed": 77})
    assert run_episode(scenario, policies.stay).header.seed == 77
    assert run_episode(scenario, policies.stay, seed=5).header.seed == 5
    assert run_episode(scenario, policies.stay, seed=0).header.seed == 0


def test_the_runner_reports_each_step() -> None:
    seen: list[int] = []
    record = run_episode(
        scenario_of(document_from_map("A.X")),
        policies.greedy,
        on_step=lambda observation: seen.append(observation.step),
    )
    assert record.termination is not None
    assert seen == [1, 2]


def test_a_policy_that_forgets_somebody_is_told_whom() -> None:
    with pytest.raises(SimulationError) as caught:
        run_episode(scenario_of(document_from_map("A.X", "B..")), lambda observation: {"A": "stay"})
    assert caught.value.place == "actions.B"


def test_what_a_policy_does_to_its_own_actions_later_changes_nothing() -> None:
    shared: dict[str, str] = {}

    def policy(observation: Observation) -> dict[str, str]:
        shared.clear()
        shared.update(dict.fromkeys([person.id for person in active(observation)], "east"))
        return shared

    scenario = scenario_of(document_from_map("A..X", ".B.."))
    record = run_episode(scenario, policy)
    fresh = run_episode(scenario, lambda observation: dict(policy(observation)))
    assert record.to_json() == fresh.to_json()
