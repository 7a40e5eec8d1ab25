"""Who dies or gets out in the very last step counts: in score, page, viewer, API and exports. Trial S02."""

from __future__ import annotations

import csv
import io
import json
from fractions import Fraction

import pytest
from django.test import Client
from django.urls import reverse

from ember_site.boards.models import Evaluation, Slot
from ember_site.catalog.models import Scenario as ScenarioRow
from ember_site.runs import services
from tests.simulator.builders import document_from_map, scenario_of, simulate

LAST_STEPS = {
    "two die": (("A*.X", "B..X"), {"A": "east", "B": "east"}, (0, 2)),
    "one dies and one gets out": (("*A..", "..BX"), {"A": "stay", "B": "east"}, (1, 1)),
    "two get out": (("AX", "BX"), {"A": "east", "B": "east"}, (2, 0)),
}


@pytest.mark.parametrize("name", LAST_STEPS)
def test_the_final_step_counts_everywhere(name: str, crowd: Evaluation, client: Client, make_agent):
    rows, actions, (evacuated, casualties) = LAST_STEPS[name]
    scenario = scenario_of(document_from_map(*rows, max_steps=1))
    row = ScenarioRow.objects.create(
        content_hash=scenario.content_hash, scenario_id=scenario.scenario_id, schema_version="1.0",
        document=scenario.to_json(), width=scenario.width, height=scenario.height,
        population=len(scenario.people), exit_count=len(scenario.exits),
        ignition_count=len(scenario.ignitions), fire_model="deterministic", hazard="det/1", max_steps=1,
    )  # fmt: skip
    crowd.slots.all().delete()
    Slot.objects.create(evaluation=crowd, scenario=row, seed="0", position=1)
    record = simulate(json.loads(scenario.to_json()), [actions]).record()
    agent = make_agent("last")
    run = services.run_store(agent=agent, record_text=record.to_json(), source="upload", ranked=True)
    run = services.run_verify(run_id=run.pk)
    assert (run.evacuated, run.casualties, run.unresolved) == (evacuated, casualties, 0)

    metrics = client.get(reverse("api_run_detail", args=[run.pk])).json()["metrics"]
    assert (metrics["evacuated"], metrics["casualties"]) == (evacuated, casualties)
    page = client.get(reverse("run_detail", args=[run.pk])).content.decode()
    assert f'<span class="big">{evacuated}</span>' in page
    assert f"<dt>Casualties</dt><dd>{casualties}</dd>" in page
    people = client.get(reverse("run_track", args=[run.pk])).json()["people"]
    ends = sorted((person["status"], person["end_step"]) for person in people)
    assert ends == [("casualty", 1)] * casualties + [("evacuated", 1)] * evacuated

    [entry] = client.get("/boards/crowd/board.json").json()["rows"]
    assert entry["exact"]["evacuation_rate"] == str(Fraction(evacuated, 2))
    [slot] = entry["slots"]
    assert (slot["evacuated"], slot["casualties"]) == (evacuated, casualties)
    text = client.get("/boards/crowd/board.csv").content.decode()
    [line] = csv.DictReader(io.StringIO(text, newline=""))
    assert (int(line["evacuated 01"]), float(line["casualty_rate"])) == (evacuated, casualties / 2)
