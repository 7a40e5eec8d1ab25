"""Verdicts that flip, runs that are withdrawn: every board follows in the same transaction. Trial T06."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest
from django.db import transaction
from django.test import Client
from django.urls import reverse

from ember_site.boards.services import evaluation_ensure_open
from ember_site.catalog.services import suite_import
from ember_site.runs import services
from ember_site.runs.models import Agent, Run, RunState, Verification
from ember_site.runs.services import verification
from ember_site.runs.services.verification import Judgement
from simulator import Scenario, VerdictCode, load_suite, policies, run_episode
from simulator.suite import Suite
from simulator.verification import Verdict
from tests.conftest import PASSWORD
from tests.simulator.builders import PUBLIC_SUITE

pytestmark = pytest.mark.django_db(transaction=True)

FLIPPED = Judgement.of(
    Verdict(VerdictCode.REPLAY_MISMATCH, "steps[0]: expected a, got b", "steps[0]", "a", "b")
)


def verified(agent: Agent, policy: str) -> Run:
    text = run_episode(load_suite(PUBLIC_SUITE).scenarios[0], policies.BASELINES[policy]()).to_json()
    run = services.run_store(agent=agent, record_text=text, source="upload", ranked=True)
    return services.run_verify(run_id=run.pk)


@pytest.fixture
def agent(make_user) -> Agent:
    return services.agent_create(owner=make_user("ann"), fields={"name": "Planner"})


def test_a_verdict_that_flips_leaves_every_board_at_once(evaluation, agent, organiser, monkeypatch):
    run = verified(agent, "greedy")
    assert Client().get(reverse("board_json", args=[evaluation.slug])).status_code == 200
    before = Client().get(reverse("board_detail", args=[evaluation.slug])).content.decode()
    assert agent.name in before

    services.run_verify_again(viewer=organiser, run=run)
    assert agent.name in Client().get(reverse("board_detail", args=[evaluation.slug])).content.decode(), (
        "the present verdict holds until the new one is in"
    )
    monkeypatch.setattr(verification, "record_judge", lambda record, *, scenario_hash: FLIPPED)
    run = services.run_verify(run_id=run.pk)
    assert run.state == RunState.REJECTED
    assert run.evacuated is None, "no figure of the old verdict is left"
    assert agent.name not in Client().get(reverse("board_detail", args=[evaluation.slug])).content.decode()
    history = list(run.verifications.order_by("attempt").values_list("state", "live"))
    assert history == [("verified", False), ("rejected", True)]
    assert Verification.objects.filter(run=run, live=True).count() == 1


def test_nobody_is_ranked_by_what_a_record_claims(evaluation, agent):
    """Trial T13: a record that says that everybody got out, over actions with which nobody does."""
    claimed = json.loads(
        run_episode(load_suite(PUBLIC_SUITE).scenarios[0], policies.BASELINES["stay"]()).to_json()
    )
    claimed["termination"] = {"reason": "all_resolved", "step": claimed["steps"][-1]["step"]}
    for person in claimed["steps"][-1]["state"]["people"].values():
        person["status"] = "evacuated"
    run = services.run_store(agent=agent, record_text=json.dumps(claimed), source="upload", ranked=True)
    run = services.run_verify(run_id=run.pk)
    assert (run.state, run.evacuated) == (RunState.REJECTED, None)
    for end in ("", "board.json", "board.csv", "board.atom"):
        assert agent.name not in Client().get(f"/boards/{evaluation.slug}/{end}").content.decode()


def test_verdict_and_board_change_together_or_not_at_all(evaluation, agent, organiser, monkeypatch):
    run = verified(agent, "greedy")
    services.run_verify_again(viewer=organiser, run=run)
    monkeypatch.setattr(verification, "record_judge", lambda record, *, scenario_hash: FLIPPED)

    def broken(**_: object) -> None:
        transaction.set_rollback(True)
        raise RuntimeError("cut in the middle of the verdict")

    monkeypatch.setattr(verification, "run_concluded", broken)
    with pytest.raises(RuntimeError):
        services.run_verify(run_id=run.pk)
    run.refresh_from_db()
    assert run.state == RunState.VERIFIED
    assert run.verifications.get(live=True).state == RunState.VERIFIED
    assert agent.name in Client().get(reverse("board_detail", args=[evaluation.slug])).content.decode()


def test_withdrawing_through_the_api_lets_the_next_best_count(evaluation, agent):
    best, other = verified(agent, "greedy"), verified(agent, "stay")
    page = reverse("board_detail", args=[evaluation.slug])
    assert str(best.pk) in Client().get(page).content.decode()
    browser = Client()
    browser.login(username="ann", password=PASSWORD)
    answer = browser.post(reverse("api_run_withdraw", args=[best.pk]))
    assert answer.status_code == 200, answer.content
    assert answer.json()["withdrawn_at"]
    html = Client().get(page).content.decode()
    assert str(best.pk) not in html
    assert str(other.pk) in html
    assert Client().get(reverse("run_detail", args=[best.pk])).status_code == 410
    assert Client().get(reverse("api_run_record", args=[best.pk])).status_code == 410

    hidden = browser.patch(
        reverse("api_run_detail", args=[other.pk]),
        json.dumps({"visibility": "private"}),
        content_type="application/json",
    )
    assert hidden.json()["visibility"] == "private"
    assert agent.name not in Client().get(page).content.decode()
    assert Client().get(reverse("api_run_detail", args=[other.pk])).status_code == 404


def suite_changed(folder: Path, version: str) -> Suite:
    """The public suite with one more step allowed in its first scenario, under that version."""
    shutil.copytree(PUBLIC_SUITE, folder)
    entry = load_suite(PUBLIC_SUITE).entries[0]
    path = folder / entry.path
    scenario = json.loads(path.read_text(encoding="utf-8"))
    scenario["termination"]["max_steps"] += 1
    path.write_text(json.dumps(scenario), encoding="utf-8")
    return version_written(folder, version)


def version_written(folder: Path, version: str) -> Suite:
    path = folder / "manifest.json"
    manifest = json.loads(path.read_text(encoding="utf-8"))
    manifest["suite_version"] = version
    for entry in manifest["scenarios"]:
        text = (folder / entry["path"]).read_text(encoding="utf-8")
        entry["scenario_hash"] = Scenario.from_json(text).content_hash
    path.write_text(json.dumps(manifest), encoding="utf-8")
    return load_suite(folder)


def test_old_runs_keep_old_bytes_and_board_when_a_suite_changes(evaluation, agent, tmp_path):
    run = verified(agent, "greedy")
    old = load_suite(PUBLIC_SUITE)
    changed = suite_changed(tmp_path / "suite", "9.0.0")
    fresh = evaluation_ensure_open(suite=suite_import(directory=tmp_path / "suite"))
    assert fresh.pk != evaluation.pk
    page = Client().get(reverse("board_detail", args=[evaluation.slug])).content.decode()
    assert agent.name in page
    assert agent.name not in Client().get(reverse("board_detail", args=[fresh.slug])).content.decode()
    run.refresh_from_db()
    assert run.scenario_hash == old.entries[0].scenario_hash != changed.entries[0].scenario_hash


def test_a_record_of_a_version_that_is_not_here_shows_both_hashes(agent, tmp_path):
    changed = suite_changed(tmp_path / "suite", "9.0.0")
    suite_import(directory=tmp_path / "suite")
    run = verified(agent, "greedy")
    assert (run.state, run.code) == (RunState.REJECTED, "scenario_unknown")
    assert load_suite(PUBLIC_SUITE).entries[0].scenario_hash in run.message
    assert changed.entries[0].scenario_hash in run.message
