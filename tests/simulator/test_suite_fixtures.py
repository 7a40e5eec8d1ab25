"""Each fixture shows what the published table says of it."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path

import pytest

from simulator import Outcome, Scenario, Simulator, policies, replay, run_episode
from simulator.metrics import Metrics
from simulator.scenario import EnterFirePolicy, FireModelName
from tests.simulator.builders import FIXTURES
from tests.simulator.walks import burning_by_step, distances, first_way_out


def fixture_of(name: str) -> Scenario:
    return Scenario.from_json((FIXTURES / f"{name}.json").read_bytes())


def greedy_metrics(scenario: Scenario, seed: int | None = None) -> Metrics:
    verdict = replay(run_episode(scenario, policies.greedy, seed=seed).to_json(), scenario)
    assert verdict.verified
    assert verdict.metrics is not None
    return verdict.metrics


def walk(simulator: Simulator, *steps: dict[str, str]) -> list[dict[str, str]]:
    """Make the steps and give the outcomes of each."""
    for actions in steps:
        simulator.step(actions)
    return [step["movements"] for step in simulator.record().to_dict()["steps"]]


@pytest.mark.parametrize("path", sorted(FIXTURES.iterdir()), ids=lambda path: path.stem)
def test_a_fixture_says_that_it_is_one_and_ends_its_description_with_its_layout(path: Path) -> None:
    scenario = Scenario.from_json(path.read_bytes())
    assert scenario.scenario_id == path.stem
    assert scenario.to_indented_json().encode("ascii") == path.read_bytes()
    assert scenario.description is not None
    assert scenario.description.startswith("TEST FIXTURE. ")
    assert scenario.description.endswith("\n\n" + "\n".join(scenario.ascii_layout()))


def test_the_six_published_fixtures_are_there_and_no_other_file() -> None:
    assert {path.name for path in FIXTURES.iterdir()} == {
        "blocked_shortest_route.json",
        "fire_threatening_exit.json",
        "multiple_exits.json",
        "narrow_corridor.json",
        "one_person_one_exit.json",
        "stochastic_room.json",
    }


def test_one_person_one_exit_is_movement_and_evacuation_without_fire() -> None:
    scenario = fixture_of("one_person_one_exit")
    assert (len(scenario.people), len(scenario.exits), scenario.ignitions) == (1, 1, ())
    simulator = Simulator(scenario)
    moves = ["east", "east", "south", "south", "east", "east", "east"]
    outcomes = walk(simulator, *({"P1": move} for move in moves))
    assert outcomes == [{"P1": Outcome.MOVED}] * 7
    assert simulator.done
    assert greedy_metrics(scenario).evacuation_rate == Fraction(1)


def test_blocked_shortest_route_burns_on_the_short_way_and_spares_the_long_one() -> None:
    scenario = fixture_of("blocked_shortest_route")
    start, door = scenario.people[0].position, scenario.exits[0].position
    assert not scenario.fire.exits_flammable
    short = distances(scenario, door)[start]
    fire = set(scenario.ignitions)
    # The straight hallway is the shortest way, and it is on fire from the start.
    assert short == door.col - start.col
    assert any(cell.row == start.row and start.col < cell.col < door.col for cell in fire)
    safe = first_way_out(scenario, start)
    assert safe is not None
    assert safe > short
    assert greedy_metrics(scenario).evacuated == 1
    assert all(door not in burning for burning in burning_by_step(scenario))


def test_multiple_exits_has_three_people_two_exits_and_fire_between() -> None:
    scenario = fixture_of("multiple_exits")
    assert (len(scenario.people), len(scenario.exits), len(scenario.ignitions)) == (3, 2, 1)
    (fire,) = scenario.ignitions
    west, east = sorted(door.position.col for door in scenario.exits)
    assert west < fire.col < east
    maps = {door.id: distances(scenario, door.position) for door in scenario.exits}
    nearest = {min(maps, key=lambda exit_id: maps[exit_id][p.position]) for p in scenario.people}
    assert nearest == set(maps)
    assert greedy_metrics(scenario).evacuated == 3


def test_narrow_corridor_moves_a_queue_as_a_chain_and_lets_out_one_a_step() -> None:
    scenario = fixture_of("narrow_corridor")
    assert scenario.ascii_layout() == ["##########", "#PPPP....E", "##########"]
    assert scenario.ignitions == ()
    simulator = Simulator(scenario)
    everybody = {person.id: "east" for person in scenario.people}
    (first,) = walk(simulator, everybody)
    assert set(first.values()) == {Outcome.MOVED}  # the whole line moves in one step
    record = run_episode(scenario, policies.greedy).to_dict()
    evacuations = [step["evacuations"] for step in record["steps"]]
    assert evacuations == [[], [], [], [], ["P4"], ["P3"], ["P2"], ["P1"]]  # R4


def test_fire_threatening_exit_burns_the_near_exit_at_step_1_and_leaves_the_far_one() -> None:
    scenario = fixture_of("fire_threatening_exit")
    near, far = scenario.exits
    fire = burning_by_step(scenario)
    assert near.position not in fire[0]
    assert near.position in fire[1]
    assert all(far.position not in burning for burning in fire)
    ways = {person.id: first_way_out(scenario, person.position) for person in scenario.people}
    # One person stands before the near exit and leaves while it catches fire; the other needs the far one.
    assert sorted(ways) == ["P1", "P2"]
    assert ways["P2"] == 1
    by_far = distances(scenario, far.position)[scenario.people[0].position]
    assert distances(scenario, near.position)[scenario.people[0].position] < by_far
    assert ways["P1"] == by_far
    assert greedy_metrics(scenario).evacuated == 2


def test_stochastic_room_depends_on_the_seed_and_refuses_steps_into_fire() -> None:
    scenario = fixture_of("stochastic_room")
    assert scenario.fire.model is FireModelName.STOCHASTIC
    assert scenario.movement.enter_fire is EnterFirePolicy.BLOCKED

    def fire_of(seed: int) -> list[list[list[int]]]:
        record = run_episode(scenario, policies.stay, seed=seed).to_dict()
        return [step["ignitions"] for step in record["steps"][:5]]

    assert fire_of(7) == fire_of(7)
    assert len({str(fire_of(seed)) for seed in range(6)}) > 1


@pytest.mark.parametrize("seed", range(12))
def test_in_the_stochastic_room_nobody_ever_walks_into_fire(seed: int) -> None:
    record = run_episode(fixture_of("stochastic_room"), policies.make_random(seed), seed=seed).to_dict()
    causes = {entry["cause"] for step in record["steps"] for entry in step["casualties"]}
    assert causes <= {"fire_spread"}


def test_in_the_stochastic_room_a_step_into_fire_is_blocked() -> None:
    scenario = fixture_of("stochastic_room")
    outcomes = {
        outcome
        for seed in range(12)
        for step in run_episode(scenario, policies.make_random(seed), seed=seed).to_dict()["steps"]
        for outcome in step["movements"].values()
    }
    assert Outcome.BLOCKED_FIRE in outcomes
