"""Forged records: each way to forge has its verdict, and it is the one that the command gives at home."""

from __future__ import annotations

import json
import random
from pathlib import Path

import pytest

from ember_site.catalog.models import Scenario as ScenarioRow
from ember_site.runs import services
from ember_site.runs.errors import SubmissionRefused
from ember_site.runs.models import Run, RunState
from simulator import Scenario, replay
from tests.site.runs.conftest import record_text, scenarios

CASES = json.loads((Path(__file__).parents[2] / "data" / "mismatch_cases.json").read_text())
SCENARIO = Scenario.from_json(json.dumps(CASES["scenario"]))


@pytest.fixture
def scenario_row() -> ScenarioRow:
    return ScenarioRow.objects.create(
        content_hash=SCENARIO.content_hash,
        scenario_id=SCENARIO.scenario_id,
        schema_version="1.0",
        document=SCENARIO.to_json(),
        width=SCENARIO.width,
        height=SCENARIO.height,
        population=len(SCENARIO.people),
        exit_count=len(SCENARIO.exits),
        ignition_count=len(SCENARIO.ignitions),
        fire_model="deterministic",
        hazard="det/1",
        max_steps=SCENARIO.max_steps,
    )


def send(agent, text: str) -> Run:
    submission = services.submission_create(
        owner=agent.owner,
        agent=agent,
        payload=text.encode("utf-8", "surrogatepass"),
        filename="",
        source="api",
    )
    return services.run_verify(run_id=submission.lines.get().run_id)


@pytest.mark.parametrize("case", CASES["cases"], ids=lambda case: case["name"])
def test_each_case_gets_its_verdict(scenario_row, agent, case):
    if case["code"] == "record_format":
        with pytest.raises(SubmissionRefused) as caught:
            send(agent, case["record"])
        assert caught.value.error_code == "record_format"
        assert caught.value.place == "line 1" + (f", {case['place']}" if case["place"] else "")
        return
    run = send(agent, case["record"])
    if case["name"] == "other_hash":  # here the hash chooses the scenario
        assert (run.code, run.place) == ("scenario_unknown", "header.scenario_hash")
        return
    assert (run.code, run.place) == (case["code"], case["place"] or "")
    verdict = replay(case["record"], SCENARIO)
    assert run.message == verdict.message
    assert (run.state == RunState.VERIFIED) == (case["code"] in ("verified", "record_incomplete"))
    assert (run.state == RunState.VERIFIED and run.ended) == (case["code"] == "verified")


def mutations(text: str, rng: random.Random) -> str:
    """Change one byte, drop one, double one, or swap two."""
    at = rng.randrange(len(text) - 1)
    kind = rng.randrange(4)
    if kind == 0:
        return text[:at] + rng.choice('0123456789abcNSEW{}[]",:.-e') + text[at + 1 :]
    if kind == 1:
        return text[:at] + text[at + 1 :]
    if kind == 2:
        return text[:at] + text[at] + text[at:]
    return text[:at] + text[at + 1] + text[at] + text[at + 2 :]


@pytest.mark.usefixtures("suite")
def test_no_change_of_a_byte_is_ever_verified_unless_it_is_the_same_record(agent, settings):
    settings.EMBER_UPLOADS_PER_HOUR = settings.EMBER_MALFORMED_PER_HOUR = 10_000
    text = record_text(1)
    honest = replay(text, scenarios()[0])
    rng = random.Random(20260101)
    lines = [mutations(text, rng) for _ in range(150)]
    try:
        submission = services.submission_create(
            owner=agent.owner, agent=agent, payload="\n".join(lines).encode(), filename="", source="api"
        )
    except SubmissionRefused as refused:
        submission = refused.submission
    for line in submission.lines.select_related("run"):
        if line.run is None:
            assert line.code == "record_format"
            assert line.place.startswith(f"line {line.number}")
            assert line.message
            continue
        run = services.run_verify(run_id=line.run_id)
        if run.state == RunState.VERIFIED:
            assert run.digest == honest.digest
        else:
            assert run.code in ("replay_mismatch", "scenario_unknown", "record_incomplete")
            assert run.place
            assert run.message
