"""The design rules of the public suite, each checked on its ten files."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

import pytest

from simulator import Scenario, Suite, load_suite, policies, replay, run_episode
from simulator.scenario import EnterFirePolicy, FireModelName
from tests.simulator.builders import PUBLIC_SUITE, ROOT, document_from_map
from tests.simulator.walks import burning_by_step, distances, first_way_out

FAMILIES = {
    "single_exit_low_density": "v1-pub-01-single-exit-sparse",
    "single_exit_high_density": "v1-pub-02-single-exit-dense",
    "narrow_corridor_bottleneck": "v1-pub-03-corridor-bottleneck",
    "multiple_exits_unequal_distance": "v1-pub-04-unequal-exits",
    "central_ignition": "v1-pub-05-central-ignition",
    "threatened_nearest_exit": "v1-pub-06-threatened-exit",
    "multiple_ignitions": "v1-pub-07-multiple-ignitions",
    "maze_obstacle_routing": "v1-pub-08-maze-deceptive-exit",
    "deceptive_nearest_exit": "v1-pub-08-maze-deceptive-exit",
    "crowd_100": "v1-pub-09-crowd-100-split-flow",
    "split_flow_across_exits": "v1-pub-09-crowd-100-split-flow",
    "route_invalidation_replanning": "v1-pub-10-route-invalidation",
}
PRIMARY = {
    "v1-pub-08-maze-deceptive-exit": "maze_obstacle_routing",
    "v1-pub-09-crowd-100-split-flow": "crowd_100",
}
PUBLISHED_FACTS = {
    "v1-pub-01-single-exit-sparse": (14, 9, 60, 4, 1, 1, "det/3", True),
    "v1-pub-02-single-exit-dense": (12, 9, 100, 36, 1, 1, "det/4", True),
    "v1-pub-03-corridor-bottleneck": (15, 7, 60, 8, 1, 1, "det/2", True),
    "v1-pub-04-unequal-exits": (20, 9, 60, 5, 2, 1, "det/3", True),
    "v1-pub-05-central-ignition": (15, 11, 40, 8, 2, 1, "det/2", True),
    "v1-pub-06-threatened-exit": (17, 9, 50, 6, 2, 1, "det/2", True),
    "v1-pub-07-multiple-ignitions": (19, 11, 50, 9, 2, 3, "det/3", True),
    "v1-pub-08-maze-deceptive-exit": (19, 11, 120, 5, 2, 1, "det/3", True),
    "v1-pub-09-crowd-100-split-flow": (26, 16, 200, 100, 3, 1, "det/4", True),
    "v1-pub-10-route-invalidation": (19, 11, 80, 6, 1, 1, "sto/1 p=0.5", False),
}
GREEDY_EVACUATES = (4, 27, 7, 5, 6, 5, 7, 5, 73, 5)

SUITE = load_suite(PUBLIC_SUITE)
PINS: dict[str, Any] = json.loads((ROOT / "scenarios" / "published_pins.json").read_text(encoding="utf-8"))

every_scenario = pytest.mark.parametrize(
    "scenario", SUITE.scenarios, ids=lambda scenario: scenario.scenario_id
)
deterministic = pytest.mark.parametrize(
    "scenario",
    [s for s in SUITE.scenarios if s.fire.model is FireModelName.DETERMINISTIC],
    ids=lambda scenario: scenario.scenario_id,
)


def scenario_of(number: str) -> Scenario:
    return next(
        scenario for scenario in SUITE.scenarios if scenario.scenario_id.startswith(f"v1-pub-{number}-")
    )


def file_of(scenario: Scenario) -> Path:
    return PUBLIC_SUITE / f"{scenario.scenario_id}.json"


def test_the_suite_is_the_rebuild_1_0_1() -> None:
    assert (SUITE.suite_id, SUITE.version) == ("emberbench-v1-public", "1.0.1")
    assert (SUITE.visibility, SUITE.seed_role, SUITE.schema_version) == ("public", "development", "1.0")
    assert [scenario.scenario_id for scenario in SUITE.scenarios] == list(PUBLISHED_FACTS)


def test_the_directory_holds_the_manifest_and_the_ten_files_only() -> None:
    listed = {entry.path for entry in SUITE.entries}
    assert {path.name for path in PUBLIC_SUITE.iterdir()} == listed | {"manifest.json"}
    assert len(listed) == 10


def test_the_manifest_is_a_canonical_file_and_its_canonical_form_gives_the_suite_hash() -> None:
    text = (PUBLIC_SUITE / "manifest.json").read_text(encoding="ascii")
    assert text == json.dumps(json.loads(text), sort_keys=True, indent=2) + "\n"
    canonical = json.dumps(json.loads(text), sort_keys=True, separators=(",", ":"))
    assert hashlib.sha256(canonical.encode("ascii")).hexdigest() == SUITE.suite_hash


@every_scenario
def test_a_file_is_byte_identical_to_its_indented_form(scenario: Scenario) -> None:
    data = file_of(scenario).read_bytes()
    assert Scenario.from_json(data).to_indented_json().encode("ascii") == data


@every_scenario
def test_the_manifest_pins_the_hash_of_the_canonical_document(scenario: Scenario) -> None:
    document = json.loads(file_of(scenario).read_text(encoding="ascii"))
    canonical = json.dumps(document, sort_keys=True, separators=(",", ":")).encode("ascii")
    entry = next(entry for entry in SUITE.entries if entry.scenario_id == scenario.scenario_id)
    assert hashlib.sha256(canonical).hexdigest() == entry.scenario_hash


@every_scenario
def test_size_people_hazard_and_limit_are_as_published(scenario: Scenario) -> None:
    facts = (
        scenario.width,
        scenario.height,
        scenario.max_steps,
        len(scenario.people),
        len(scenario.exits),
        len(scenario.ignitions),
        scenario.hazard,
        scenario.fire.exits_flammable,
    )
    assert facts == PUBLISHED_FACTS[scenario.scenario_id]


@every_scenario
def test_every_rule_that_can_vary_is_stated_and_the_seed_is_the_development_seed(scenario: Scenario) -> None:
    document = json.loads(file_of(scenario).read_text(encoding="ascii"))
    fire = {"model", "spread_interval", "exits_flammable"}
    if scenario.fire.model is FireModelName.STOCHASTIC:
        fire.add("spread_probability")
    assert set(document["fire"]) == fire
    assert document["movement"] == {"conflict_resolution": "lowest_id_wins", "enter_fire": "casualty"}
    assert scenario.movement.enter_fire is EnterFirePolicy.CASUALTY
    assert set(document["termination"]) == {"max_steps"}
    assert document["seed"] == 0


@every_scenario
def test_the_description_begins_as_that_of_a_canonical_scenario(scenario: Scenario) -> None:
    assert scenario.description is not None
    assert scenario.description.startswith("CANONICAL V1 PUBLIC SCENARIO. ")
    assert len(scenario.description) > 80


@every_scenario
def test_person_ids_are_the_ranks_of_the_published_digests(scenario: Scenario) -> None:
    def digest(cell: tuple[int, int]) -> str:
        label = f"emberbench/v1/public/person-id/{scenario.scenario_id}/{cell[0]}/{cell[1]}"
        return hashlib.sha256(label.encode()).hexdigest()

    ranked = sorted((person.position for person in scenario.people), key=digest)
    expected = {f"P{rank:03d}": cell for rank, cell in enumerate(ranked, start=1)}
    assert {person.id: person.position for person in scenario.people} == expected


@every_scenario
def test_exits_are_numbered_row_by_row(scenario: Scenario) -> None:
    cells = sorted(door.position for door in scenario.exits)
    assert [(door.id, door.position) for door in scenario.exits] == [
        (f"E{number}", cell) for number, cell in enumerate(cells, start=1)
    ]


@every_scenario
def test_ids_follow_neither_the_rows_nor_the_distance_to_an_exit(scenario: Scenario) -> None:
    maps = [distances(scenario, door.position) for door in scenario.exits]
    cells = [person.position for person in scenario.people]
    steps = [min(distance[cell] for distance in maps) for cell in cells]
    assert cells != sorted(cells)
    assert steps != sorted(steps)
    assert steps != sorted(steps, reverse=True)


@every_scenario
def test_nobody_starts_on_a_wall_an_exit_or_a_fire_and_nothing_stands_twice(scenario: Scenario) -> None:
    people = [person.position for person in scenario.people]
    exits = [door.position for door in scenario.exits]
    assert not set(people) & {*scenario.obstacles, *exits, *scenario.ignitions}
    for listed in (people, exits, list(scenario.ignitions), [p.id for p in scenario.people]):
        assert len(set(listed)) == len(listed)


@deterministic
def test_each_person_alone_has_a_way_out_in_time(scenario: Scenario) -> None:
    doomed = [person.id for person in scenario.people if first_way_out(scenario, person.position) is None]
    assert doomed == []


@pytest.mark.parametrize(
    ("drawn", "step"),
    [("*A..X", 3), ("A*.X", None), ("A.*.X", None), ("A..X*", None), ("A.X.*", 2), ("AX*", 1)],
)
def test_the_search_through_time_knows_the_doomed(drawn: str, step: int | None) -> None:
    scenario = Scenario.from_json(json.dumps(document_from_map(drawn)))
    assert first_way_out(scenario, scenario.people[0].position) == step


def test_in_scenario_04_the_two_exits_differ_by_four_steps_or_more_for_everybody() -> None:
    scenario = scenario_of("04")
    west, east = (distances(scenario, door.position) for door in scenario.exits)
    gaps = {person.id: abs(west[person.position] - east[person.position]) for person in scenario.people}
    assert min(gaps.values()) >= 4


def test_in_scenario_06_the_fire_takes_the_near_exit_of_five_people_in_step_6() -> None:
    scenario = scenario_of("06")
    west, east = (distances(scenario, door.position) for door in scenario.exits)
    near_west = [person.id for person in scenario.people if west[person.position] < east[person.position]]
    assert len(near_west) == 5
    fire = burning_by_step(scenario)
    assert next(step for step, burning in enumerate(fire) if scenario.exits[0].position in burning) == 6
    assert any(west[person.position] <= 6 for person in scenario.people)
    assert any(west[person.position] > 6 for person in scenario.people if person.id in near_west)


def test_in_scenario_08_the_exit_that_looks_near_is_the_far_one_on_foot() -> None:
    scenario = scenario_of("08")
    maps = {door.id: distances(scenario, door.position) for door in scenario.exits}

    def line(door_cell: tuple[int, int], cell: tuple[int, int]) -> int:
        return (door_cell[0] - cell[0]) ** 2 + (door_cell[1] - cell[1]) ** 2

    for person in scenario.people:
        by_line = min(scenario.exits, key=lambda door: line(door.position, person.position)).id
        on_foot = min(maps, key=lambda exit_id: maps[exit_id][person.position])
        assert by_line != on_foot, person.id


def test_in_scenario_09_most_people_are_nearest_to_one_exit() -> None:
    scenario = scenario_of("09")
    maps = {door.id: distances(scenario, door.position) for door in scenario.exits}
    nearest = [min(maps, key=lambda exit_id: maps[exit_id][p.position]) for p in scenario.people]
    favourite = max(maps, key=nearest.count)
    assert nearest.count(favourite) > 50
    # Its queue is longer than the walk to another exit.
    others = [distance for exit_id, distance in maps.items() if exit_id != favourite]
    assert nearest.count(favourite) > max(min(d[p.position] for d in others) for p in scenario.people)


def test_in_scenario_10_the_border_is_open_and_the_fire_starts_on_it() -> None:
    scenario = scenario_of("10")
    rows = scenario.ascii_layout()
    assert rows[9] == "#.................."
    assert scenario.ignitions == ((0, 10),)
    assert (scenario.fire.spread_interval, scenario.fire.spread_probability) == (1, 0.5)


def test_the_families_are_the_twelve_published_ones() -> None:
    covered = {family: entry.scenario_id for entry in SUITE.entries for family in entry.families}
    assert covered == FAMILIES
    assert sum(len(entry.families) for entry in SUITE.entries) == 12
    for entry in SUITE.entries:
        assert entry.primary_family == PRIMARY.get(entry.scenario_id, entry.families[0])


def test_each_purpose_is_one_line_of_its_own() -> None:
    purposes = [entry.purpose for entry in SUITE.entries]
    assert len(set(purposes)) == 10
    assert all(40 <= len(purpose) <= 160 and "\n" not in purpose for purpose in purposes)


def test_the_pins_are_the_published_hashes_and_differ_from_the_rebuild() -> None:
    assert (PINS["suite_id"], PINS["suite_version"]) == ("emberbench-v1-public", "1.0.0")
    assert PINS["suite_hash"] == "5274d103928e6abbdf8bf761f4cc608eeefc55a802d876a21e878cce9838065b"
    assert list(PINS["scenarios"]) == list(PUBLISHED_FACTS)
    rebuilt = {scenario.scenario_id: scenario.content_hash for scenario in SUITE.scenarios}
    for scenario_id, pin in PINS["scenarios"].items():
        assert len(pin) == 64
        assert pin != rebuilt[scenario_id]
    assert PINS["suite_hash"] != SUITE.suite_hash


def test_greedy_evacuates_the_known_numbers() -> None:
    evacuated = []
    for scenario in SUITE.scenarios:
        verdict = replay(run_episode(scenario, policies.greedy).to_json(), scenario)
        assert verdict.metrics is not None
        evacuated.append(verdict.metrics.evacuated)
    assert tuple(evacuated) == GREEDY_EVACUATES


def test_a_suite_read_back_from_its_own_manifest_is_the_same() -> None:
    files = {entry.path: (PUBLIC_SUITE / entry.path).read_bytes() for entry in SUITE.entries}
    again = Suite.parse(SUITE.manifest_file_text(), files)
    assert again.suite_hash == SUITE.suite_hash
