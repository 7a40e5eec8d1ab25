"""The step at which record and replay part: who is involved, and why it came so."""

from __future__ import annotations

import json

import pytest
from django.test import Client
from django.urls import reverse

from ember_site.runs import selectors, services
from ember_site.runs.record_steps import RecordSteps
from ember_site.runs.scenes import scene_make
from simulator import Scenario, Simulator
from tests.site.runs.conftest import record_text, scenarios


def scene_of(rows: list[str], actions: dict[str, str], person: str, enter_fire: str = "blocked"):
    """The scene of one step on a small plan; capitals but E and F are people."""
    cells = [(r, c, mark) for r, row in enumerate(rows) for c, mark in enumerate(row)]
    scenario = Scenario.from_json(
        json.dumps(
            {
                "schema_version": "1.0",
                "scenario_id": "scene",
                "grid": {"width": len(rows[0]), "height": len(rows)},
                "obstacles": [[r, c] for r, c, mark in cells if mark == "#"],
                "exits": [{"id": "E1", "position": [r, c]} for r, c, mark in cells if mark == "E"],
                "people": [{"id": mark, "position": [r, c]} for r, c, mark in cells if mark in "ABCD"],
                "ignitions": [[r, c] for r, c, mark in cells if mark == "F"],
                "fire": {"model": "deterministic", "spread_interval": 9, "exits_flammable": False},
                "movement": {"conflict_resolution": "lowest_id_wins", "enter_fire": enter_fire},
                "termination": {"max_steps": 20},
                "seed": 0,
            }
        )
    )
    simulator = Simulator(scenario)
    full = {identity: actions.get(identity, "stay") for identity in simulator.active_ids}
    simulator.step(full)
    record = RecordSteps(simulator.record().to_json().encode())
    return scene_make(record=record, scenario=scenario, step_index=0, person=person)


THREE = {"A": "east", "B": "west", "C": "north"}
RING = {"A": "east", "B": "south", "C": "west", "D": "north"}


@pytest.mark.parametrize(
    ("rows", "actions", "person", "rule", "involved", "words"),
    [
        (["A.B", ".C.", "..E"], THREE, "B", "R1", "BAC", "A, B and C all move to cell [0, 1]"),
        (["AB.", "..E"], {"A": "east", "B": "west"}, "A", "R2", "AB", "want to swap"),
        (["AB.", "DCE"], RING, "C", "R3", "CDAB", "closed chain"),
        (["AB.", "..E"], {"A": "east"}, "A", "", "AB", "held by B, who stays"),
        (["AB#", "..E"], {"A": "east", "B": "east"}, "A", "", "AB", "whose own move fails (blocked_wall)"),
        (["A#.", "..E"], {"A": "east"}, "A", "", "A", "walks against the wall"),
        (["A..", "..E"], {"A": "north"}, "A", "", "A", "off the grid"),
        (["AF.", "..E"], {"A": "east"}, "A", "R6", "A", "burns"),
        (["A..", "..E"], {"A": "east"}, "A", "", "A", "moves to [0, 1]"),
        (["A..", "..E"], {}, "A", "", "A", "chose to stay"),
    ],
)  # fmt: skip
def test_every_outcome_is_explained(rows, actions, person, rule, involved, words):
    scene = scene_of(rows, actions, person)
    assert words in scene.sentence
    assert (scene.rule, "".join(scene.involved)) == (rule, involved)
    assert scene.person == person == scene.involved[0]


def test_a_loser_of_two_is_told_that_the_other_stays():
    scene = scene_of(["A.B", "..E"], {"A": "east", "B": "west"}, "B")
    assert scene.sentence.endswith("which is A; the other stays.")


def test_a_step_that_cannot_be_taken_has_no_scene():
    record = RecordSteps(record_text().encode())
    scenario = scenarios()[0]
    person = scenario.people[0].id
    assert scene_make(record=record, scenario=scenario, step_index=999, person=person) is None
    assert scene_make(record=record, scenario=scenario, step_index=0, person="nobody") is None


@pytest.mark.usefixtures("suite")
def test_the_page_of_a_refused_run_tells_the_scene(agent):
    document = json.loads(record_text(2))
    step = document["steps"][6]
    person = next(who for who, outcome in step["movements"].items() if outcome == "blocked_conflict")
    step["movements"][person] = "moved"
    run = services.run_store(agent=agent, record_text=json.dumps(document), source="upload", ranked=True)
    run = services.run_verify(run_id=run.pk)
    scene = selectors.run_scene(run=run)
    assert scene is not None
    assert (scene["step"], scene["person"], scene["rule"]) == (7, person, "R1")
    page = Client().get(reverse("run_detail", args=[run.pk])).content.decode()
    assert scene["sentence"] in page
    track = Client().get(reverse("run_track", args=[run.pk])).json()
    assert track["scene"] == scene
