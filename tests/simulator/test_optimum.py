"""The clairvoyant optimum: known figures, and no policy ever beats it.

The figures were computed independently of this project (simulation contract, section 7).
"""

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from simulator import Scenario, Simulator, load_suite, policies, replay, run_episode
from simulator.evacuation_flow import EvacuationFlow, optimum
from simulator.fire import fire_trajectory
from simulator.ground import ground_of

SUITE = load_suite(Path(__file__).parents[2] / "scenarios" / "public" / "v1")
LEAST_TOTALS = (29, 774, 100, 36, 56, 51, 75, 125, 2425, 119)
LAST_STEPS = (12, 39, 16, 9, 10, 14, 14, 30, 41, 27)


@pytest.mark.parametrize("index", range(10))
def test_everybody_can_be_saved_in_the_known_least_total(index: int) -> None:
    scenario = SUITE.scenarios[index]
    best = optimum(scenario, 0)
    assert (best.evacuated, best.total, best.last_step) == (
        len(scenario.people),
        LEAST_TOTALS[index],
        LAST_STEPS[index],
    )


def test_route_invalidation_has_the_known_totals_over_twenty_seeds() -> None:
    totals = {optimum(SUITE.scenarios[9], seed).total for seed in range(20)}
    assert totals == {104, 119, 130, 139, 151}


@pytest.mark.parametrize("index", range(10))
def test_the_paths_of_the_flow_can_be_played_and_reach_the_optimum(index: int) -> None:
    scenario = SUITE.scenarios[index]
    ground = ground_of(scenario)
    trajectory = fire_trajectory(scenario, 0)
    trajectory.reach(scenario.max_steps)
    paths = EvacuationFlow(ground, trajectory.burn, ground.people, scenario.max_steps).paths()
    ids = {cell: person.id for cell, person in zip(ground.people, scenario.people, strict=True)}
    word = {0: "stay", -ground.stride: "north", ground.stride: "south", 1: "east", -1: "west"}
    simulator = Simulator(scenario, 0)
    while not simulator.done:
        step = simulator.step_count
        active = set(simulator.active_ids)
        simulator.step({ids[s]: word[p[step + 1] - p[step]] for s, p in paths.items() if ids[s] in active})
    assert simulator.metrics.evacuation_step_total == LEAST_TOTALS[index]
    assert sum(simulator.metrics.blocked.values()) == 0


@pytest.mark.parametrize("index", range(10))
def test_cautious_sees_deterministic_fire_coming_and_never_does_worse_than_greedy(index: int) -> None:
    scenario = SUITE.scenarios[index]
    evacuated = {}
    for name in ("greedy", "cautious"):
        record = run_episode(scenario, policies.BASELINES[name](), 0)
        metrics = replay(record.text, scenario).metrics
        assert metrics is not None
        evacuated[name] = metrics.evacuated
    assert evacuated["cautious"] >= evacuated["greedy"]
    if index in (1, 5, 8):  # scenarios 02, 06 and 09
        assert evacuated["cautious"] > evacuated["greedy"]


@st.composite
def small_scenarios(draw: st.DrawFn) -> Scenario:
    height, width = draw(st.integers(1, 6)), draw(st.integers(2, 6))
    cells = [[row, col] for row in range(height) for col in range(width)]
    order = draw(st.permutations(cells))
    exits, rest = order[: draw(st.integers(1, min(2, len(order) - 1)))], order[2:] or order[1:]
    people = [cell for cell in rest[: draw(st.integers(1, 6))] if cell not in exits]
    others = [cell for cell in order if cell not in exits and cell not in people]
    split = draw(st.integers(0, len(others)))
    stochastic = draw(st.booleans())
    fire = {
        "model": "stochastic" if stochastic else "deterministic",
        "spread_interval": draw(st.integers(1, 3)),
        "exits_flammable": draw(st.booleans()),
    }
    if stochastic:
        fire["spread_probability"] = draw(st.sampled_from([0, 0.3, 1]))
    return Scenario.from_dict(
        {
            "schema_version": "1.0",
            "scenario_id": "small",
            "grid": {"width": width, "height": height},
            "obstacles": others[:split][::2],
            "exits": [{"id": f"E{i}", "position": cell} for i, cell in enumerate(exits)],
            "people": [{"id": f"P{i}", "position": cell} for i, cell in enumerate(people)]
            or [{"id": "P", "position": next(c for c in order if c not in exits)}],
            "ignitions": others[split:][: draw(st.integers(0, 2))] if people else [],
            "fire": fire,
            "movement": {
                "conflict_resolution": "lowest_id_wins",
                "enter_fire": draw(st.sampled_from(["blocked", "casualty"])),
            },
            "termination": {"max_steps": draw(st.integers(1, 15))},
            "seed": draw(st.integers(0, 9)),
        }
    )


@settings(max_examples=150)
@given(small_scenarios(), st.sampled_from(sorted(policies.BASELINES)))
def test_no_policy_beats_the_optimum(scenario: Scenario, name: str) -> None:
    best = optimum(scenario, scenario.seed)
    metrics = replay(run_episode(scenario, policies.BASELINES[name]()).text, scenario).metrics
    assert metrics is not None
    assert metrics.evacuated <= best.evacuated
    if metrics.evacuated == best.evacuated:
        assert metrics.evacuation_step_total >= best.total


@settings(max_examples=100)
@given(small_scenarios())
def test_cautious_reaches_the_optimum_where_fire_is_deterministic_and_all_can_be_saved(
    scenario: Scenario,
) -> None:
    best = optimum(scenario, scenario.seed)
    if scenario.fire.spread_probability is None and best.evacuated == len(scenario.people):
        metrics = replay(run_episode(scenario, policies.cautious).text, scenario).metrics
        assert metrics is not None
        assert (metrics.evacuated, metrics.evacuation_step_total) == (best.evacuated, best.total)
