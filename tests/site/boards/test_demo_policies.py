"""The demo policies play by the rules and do what their notes say."""

from __future__ import annotations

import pytest

from ember_site.boards.demo_policies import DEMO_POLICIES
from simulator import RunRecord, Scenario, load_suite, policies, replay, run_episode
from tests.simulator.builders import PUBLIC_SUITE

SCENARIOS = load_suite(PUBLIC_SUITE).scenarios
SMALL = [scenario for scenario in SCENARIOS if len(scenario.people) < 50]


def evacuated(record: RunRecord) -> int:
    people = record.to_dict()["steps"][-1]["state"]["people"]
    return sum(person["status"] == "evacuated" for person in people.values())


@pytest.mark.parametrize("name", DEMO_POLICIES)
def test_their_records_verify_and_are_the_same_each_time(name: str):
    for scenario in SMALL:
        record = run_episode(scenario, DEMO_POLICIES[name]()).to_json()
        assert replay(record, scenario).verified
        assert run_episode(scenario, DEMO_POLICIES[name]()).to_json() == record


@pytest.mark.parametrize("seed", [1, 2**64 - 1])
@pytest.mark.parametrize("name", DEMO_POLICIES)
def test_they_cope_with_stochastic_fire(name: str, seed: int):
    scenario = SCENARIOS[9]
    assert replay(run_episode(scenario, DEMO_POLICIES[name](), seed).to_json(), scenario).verified


def test_foresight_saves_everybody_where_only_the_fire_matters():
    for number in (1, 3, 4, 5, 6, 7, 8):
        scenario: Scenario = SCENARIOS[number - 1]
        assert evacuated(run_episode(scenario, DEMO_POLICIES["foresee"]())) == len(scenario.people)


def test_the_straight_line_fails_in_the_maze_and_balance_beats_greedy_in_the_crowd():
    maze, crowd = SCENARIOS[7], SCENARIOS[8]
    assert evacuated(run_episode(maze, DEMO_POLICIES["line"]())) < len(maze.people)
    balanced = evacuated(run_episode(crowd, DEMO_POLICIES["balance"]()))
    assert balanced > evacuated(run_episode(crowd, policies.greedy))
