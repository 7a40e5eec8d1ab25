"""What a refused record and its replay say of the first step that differs, side by side."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse

from ember_site.runs import selectors, services
from ember_site.runs.models import Run
from ember_site.runs.partings import parting_make
from ember_site.runs.record_steps import RecordSteps
from ember_site.runs.tracks import place_person, step_index
from simulator import RunRecord, Scenario, replay
from tests.site.runs.conftest import record_text

CASES = json.loads((Path(__file__).parents[2] / "data" / "mismatch_cases.json").read_text(encoding="utf-8"))


def case_text(case: dict[str, Any]) -> str:
    return case["record"] if isinstance(case["record"], str) else json.dumps(case["record"])


AT_A_STEP = [
    case
    for case in CASES["cases"]
    if case["code"] == "replay_mismatch" and step_index(case["place"] or "") is not None
]


@pytest.mark.parametrize("case", AT_A_STEP, ids=lambda case: case["name"])
def test_every_mismatch_at_a_step_shows_what_the_verdict_says(case):
    scenario = Scenario.from_json(json.dumps(CASES["scenario"]))
    text = RunRecord.from_json(case_text(case)).to_json().encode()
    verdict = replay(text, scenario)
    index = step_index(verdict.place)
    parting = parting_make(
        record=RecordSteps(text),
        scenario=scenario,
        step_index=index,
        person=place_person(verdict.place),
        scene=None,
    )
    assert parting is not None
    assert parting.step == index + 1
    assert parting.refusal or any(row.record != row.replay for row in parting.rows)
    assert len(parting.rows) <= 8
    assert json.loads(json.dumps(parting.to_dict()))["step"] == parting.step


def refused(agent, change: Callable[[dict[str, Any]], None], number: int = 2) -> Run:
    document = json.loads(record_text(number))
    change(document)
    run = services.run_store(agent=agent, record_text=json.dumps(document), source="upload", ranked=True)
    return services.run_verify(run_id=run.pk)


def forge_move(document: dict[str, Any]) -> None:
    step = document["steps"][6]
    person = next(who for who, outcome in step["movements"].items() if outcome == "blocked_conflict")
    step["movements"][person] = "moved"


def drop_fire(document: dict[str, Any]) -> None:
    next(step for step in document["steps"] if step["ignitions"])["ignitions"].pop()


def teleport(document: dict[str, Any]) -> None:
    document["steps"][2]["state"]["people"]["P001"]["position"] = [6, 6]


def forget_action(document: dict[str, Any]) -> None:
    del document["steps"][4]["actions"]["P001"]


def hide_casualty(document: dict[str, Any]) -> None:
    next(step for step in document["steps"] if step["casualties"])["casualties"].pop()


@pytest.mark.usefixtures("suite")
@pytest.mark.parametrize(
    ("change", "moment", "what"),
    [
        (forge_move, "start", "move of P"),
        (drop_fire, "end", "fire reaches ["),
        (teleport, "end", "P001"),
        (hide_casualty, "end", "is a casualty"),
        (forget_action, "start", ""),
    ],
)
def test_the_page_says_both_sides_without_a_script(agent, change, moment, what):
    run = refused(agent, change)
    parting, _ = selectors.run_parting(run=run)
    assert parting is not None
    assert parting["moment"] == moment
    html = Client().get(reverse("run_detail", args=[run.pk])).content.decode()
    assert f"part at step {parting['step']}" in html
    assert "The record says" in html
    assert "The replay says" in html
    if what:
        assert any(what in row["what"] for row in parting["rows"])
        assert parting["rows"][0]["what"] in html
    else:
        assert "cannot take this step" in html
    track = Client().get(reverse("run_track", args=[run.pk])).json()
    assert track["parting"] == parting


@pytest.mark.usefixtures("suite")
def test_many_differences_are_counted_not_listed(agent):
    def scramble(document: dict[str, Any]) -> None:
        document["steps"][1]["movements"] = dict.fromkeys(document["steps"][1]["movements"], "blocked_wall")

    parting, _ = selectors.run_parting(run=refused(agent, scramble))
    assert len(parting["rows"]) == 8
    assert parting["more"] > 10
    assert len(parting["selected"]) <= 40


@pytest.mark.usefixtures("suite")
def test_a_difference_in_the_header_has_no_step(agent):
    run = refused(agent, lambda document: document["header"].update(simulator_version="0.0.1"))
    assert selectors.run_parting(run=run) == (None, None)
    assert "part at step" not in Client().get(reverse("run_detail", args=[run.pk])).content.decode()
