"""The fire ahead of time is the fire of the run, and there is none where it depends on the seed."""

from __future__ import annotations

from itertools import pairwise
from xml.etree import ElementTree

import pytest

from ember_site.catalog.fire_curve import fire_curve
from ember_site.catalog.fire_preview import fire_preview, preview_of
from ember_site.catalog.models import Suite
from ember_site.catalog.scenario_cache import scenario_load
from ember_site.catalog.scenario_rules import scenario_rules
from simulator import Scenario, Simulator
from tests.simulator.builders import FIXTURES

pytestmark = pytest.mark.django_db


def test_the_preview_burns_as_a_run_does(suite: Suite) -> None:
    for entry in suite.entries.filter(scenario__fire_model="deterministic"):
        scenario = scenario_load(entry.scenario_id)
        preview = fire_preview(entry.scenario_id)
        assert preview is not None
        simulator = Simulator(scenario, seed=99)
        assert set(preview.burning(0)) == simulator.observe().burning
        while not simulator.done:
            active = [p.id for p in simulator.observe().people if p.status == "active"]
            seen = simulator.step(dict.fromkeys(active, "stay"))
            assert set(preview.burning(seen.step)) == seen.burning


def test_a_stochastic_fire_and_one_that_never_starts_have_no_preview(suite: Suite) -> None:
    assert fire_preview(suite.entries.get(position=10).scenario_id) is None


def test_the_loss_of_exits_and_the_end_of_the_fire_are_told(suite: Suite) -> None:
    preview = fire_preview(suite.entries.get(position=6).scenario_id)
    assert preview is not None
    assert [(loss.exit_id, loss.step) for loss in preview.exits] == [("E1", 6), ("E2", 34)]
    assert preview.share(preview.last_step) == 1
    assert preview.share(0) == pytest.approx(1 / preview.floor_cells)


def test_the_film_goes_from_the_start_to_the_last_spread(suite: Suite) -> None:
    for entry in suite.entries.filter(scenario__fire_model="deterministic"):
        preview = fire_preview(entry.scenario_id)
        assert preview is not None
        steps = preview.frame_steps
        assert (steps[0], steps[-1]) == (0, preview.last_step)
        assert len(steps) <= 8
        assert all(a < b and b % preview.spread_interval == 0 for a, b in pairwise(steps))


def test_an_exit_that_cannot_burn_or_is_out_of_reach_is_never_lost() -> None:
    for name in ("blocked_shortest_route", "fire_threatening_exit"):
        preview = preview_of(Scenario.from_json((FIXTURES / f"{name}.json").read_bytes()))
        assert preview.exits[-1].step is None


def test_the_curve_is_a_well_formed_stair(suite: Suite) -> None:
    preview = fire_preview(suite.entries.get(position=7).scenario_id)
    assert preview is not None
    drawing = ElementTree.fromstring(fire_curve(preview))
    classes = [element.attrib.get("class") for element in drawing]
    assert classes == ["curve-area", "axis", "axis base", "curve-line", "curve-mark"]
    assert drawing[3].attrib["d"].count("V") == preview.last_step // preview.spread_interval


def test_every_rule_is_told_with_the_values_of_the_scenario(suite: Suite) -> None:
    lines = scenario_rules(scenario_load(suite.entries.get(position=10).scenario_id))
    assert [line.number for line in lines] == [f"R{number}" for number in range(1, 11)]
    values = {line.number: line.value for line in lines}
    assert values["R5"] == "no"
    assert values["R6"] == "casualty"
    assert values["R7"] == "by chance, in every step, p = 0.5"
    assert values["R10"] == "step 80"
    room = Scenario.from_json((FIXTURES / "stochastic_room.json").read_bytes())
    assert {line.number: line.value for line in scenario_rules(room)}["R6"] == "blocked"
