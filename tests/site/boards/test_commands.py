"""The three commands that fill a fresh site: repeatable, honest, and silent about nothing."""

from __future__ import annotations

import io
import json
import shutil
from pathlib import Path

import pytest
from django.contrib.auth import authenticate
from django.core.management import CommandError, call_command

from ember_site.accounts.models import User
from ember_site.boards.demo import DEMO_OWNER, DEMO_PLAYER
from ember_site.boards.models import Evaluation, Slot
from ember_site.boards.selectors import board_rows
from ember_site.catalog.models import Suite
from ember_site.runs.models import Agent, Run, RunState
from ember_site.runs.record_store import record_read
from simulator import Scenario, indented_json, replay
from tests.simulator.builders import PUBLIC_SUITE

pytestmark = pytest.mark.django_db


def run_command(*arguments: object, **options: object) -> str:
    out = io.StringIO()
    call_command(*map(str, arguments), stdout=out, **options)
    return out.getvalue()


def test_importing_a_suite_opens_its_board_and_again_changes_nothing():
    first = run_command("import_suite", PUBLIC_SUITE)
    assert run_command("import_suite", PUBLIC_SUITE) == first
    evaluation = Evaluation.objects.get()
    assert (evaluation.slug, evaluation.title) == ("public-dev", "Development board")
    assert (evaluation.kind, evaluation.state) == ("open", "open")
    assert Suite.objects.count() == 1
    assert list(evaluation.slots.values_list("position", "seed")) == [(n, "0") for n in range(1, 11)]


def changed_suite(directory: Path, version: str) -> Path:
    """The public suite with one more step in the first scenario, under a version of our choice."""
    shutil.copytree(PUBLIC_SUITE, directory)
    manifest = json.loads((directory / "manifest.json").read_text())
    entry = manifest["scenarios"][0]
    path = directory / entry["path"]
    scenario = json.loads(path.read_text())
    scenario["termination"]["max_steps"] += 1
    loaded = Scenario.from_json(json.dumps(scenario))
    path.write_text(loaded.to_indented_json())
    entry["scenario_hash"] = loaded.content_hash
    manifest["suite_version"] = version
    (directory / "manifest.json").write_text(indented_json(manifest))
    return directory


def test_a_changed_suite_under_the_same_version_is_refused_with_both_hashes(tmp_path):
    run_command("import_suite", PUBLIC_SUITE)
    imported = Suite.objects.get()
    with pytest.raises(CommandError) as refusal:
        run_command("import_suite", changed_suite(tmp_path / "changed", imported.version))
    assert refusal.value.returncode == 1
    assert imported.suite_hash in str(refusal.value)
    assert "suite_version" in str(refusal.value)
    assert Suite.objects.count() == 1


def test_a_new_version_gets_a_board_of_its_own_and_leaves_the_old_one(tmp_path):
    run_command("import_suite", PUBLIC_SUITE)
    old_slots = list(Slot.objects.values_list("scenario_id", flat=True))
    run_command("import_suite", changed_suite(tmp_path / "changed", "1.0.2"))
    assert set(Evaluation.objects.values_list("slug", flat=True)) == {"public-dev", "public-dev-1-0-2"}
    old = Evaluation.objects.get(slug="public-dev")
    assert list(old.slots.values_list("scenario_id", flat=True)) == old_slots


@pytest.mark.parametrize(
    ("damage", "said"),
    [
        (lambda folder: (folder / "manifest.json").unlink(), "manifest.json"),
        (lambda folder: (folder / "stray.txt").write_text("x"), "stray.txt"),
        (lambda folder: shutil.rmtree(folder), "not a directory"),
    ],
    ids=["no manifest", "stray file", "no directory"],
)
def test_a_directory_that_is_no_suite_is_refused_by_name(damage, said, tmp_path):
    folder = tmp_path / "suite"
    shutil.copytree(PUBLIC_SUITE, folder)
    damage(folder)
    with pytest.raises(CommandError, match=said):
        run_command("import_suite", folder)
    assert not Suite.objects.exists()


def test_baselines_and_demo_agents_have_real_verified_runs_and_repeat_nothing():
    run_command("import_suite", PUBLIC_SUITE)
    run_command("run_baselines")
    run_command("seed_demo")
    runs = set(Run.objects.values_list("pk", flat=True))
    assert "0 runs made, 10 there already" in run_command("run_baselines")
    assert "0 runs made, 7 there already" in run_command("seed_demo")
    assert set(Run.objects.values_list("pk", flat=True)) == runs

    assert set(Run.objects.values_list("state", flat=True)) == {RunState.VERIFIED}
    for run in Run.objects.filter(scenario__population__lt=10).select_related("scenario"):
        verdict = replay(record_read(run.digest), Scenario.from_json(run.scenario.document))
        assert verdict.verified
        assert verdict.metrics is not None
        assert verdict.metrics.evacuated == run.evacuated

    rows = board_rows(evaluation=Evaluation.objects.get()).rows
    by_name = {row.agent.name: row for row in rows}
    assert [cell.evacuated for cell in by_name["greedy"].cells] == [4, 27, 7, 5, 6, 5, 7, 5, 73, 5]
    assert by_name["stay"].entry.rank == max(row.entry.rank or 0 for row in rows)
    assert [row.agent.name for row in rows if not row.entry.complete] == ["Straight line (demo)"]
    assert by_name["Straight line (demo)"].progress_text == "7 of 10"


def test_demo_agents_are_marked_and_their_owners_cannot_sign_in():
    run_command("import_suite", PUBLIC_SUITE)
    run_command("seed_demo")
    owners = User.objects.filter(username__in=[DEMO_OWNER, DEMO_PLAYER])
    assert [owner.has_usable_password() for owner in owners] == [False, False]
    assert authenticate(None, username=DEMO_OWNER, password="") is None
    agents = Agent.objects.filter(owner__in=owners)
    assert sorted(agents.values_list("kind", flat=True)) == ["human", "model", "model", "model"]
    assert all("(demo)" in agent.name and agent.note.startswith("Demo data") for agent in agents)


def test_demo_agents_need_a_wish_on_a_public_site(settings):
    settings.SECURE = True
    with pytest.raises(CommandError, match="public site"):
        run_command("seed_demo")
    assert not Agent.objects.exists()


def test_a_persons_account_is_never_taken_for_a_demo_owner(make_user):
    make_user(DEMO_OWNER)
    with pytest.raises(CommandError, match="can sign in"):
        run_command("seed_demo")


def test_without_a_board_there_is_nothing_to_run():
    assert "import a suite first" in run_command("run_baselines")
    assert not Run.objects.exists()
