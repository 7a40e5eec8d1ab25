"""Dry runs: the words of the real verdict, and nothing kept."""

from __future__ import annotations

import json
import threading
from datetime import timedelta
from pathlib import Path

import pytest
from django.core.cache import cache
from django.core.files.uploadedfile import SimpleUploadedFile
from django.db import connection
from django.test import Client
from django.urls import reverse
from django_tasks_db.models import DBTaskResult

from ember_site.core import clock
from ember_site.core.errors import Forbidden
from ember_site.runs import selectors, services
from ember_site.runs.errors import AgentKindRefused, SubmissionRefused, UploadsExhausted
from ember_site.runs.limits import upload_limits
from ember_site.runs.models import Agent, DryRunMark, Run, Submission, SubmissionLine, Verification
from ember_site.runs.quota import dry_runs_take
from tests.site.runs.conftest import record_text
from tests.site.runs.test_api import client_of
from tests.site.runs.test_submissions import HOSTILE, jsonl, send, ten
from tests.site.runs.workers import run_tasks

pytestmark = pytest.mark.usefixtures("suite")

WORDS = ("state", "code", "place", "expected", "actual", "message")


def edited(change, number: int = 2) -> str:
    document = json.loads(record_text(number))
    change(document)
    return json.dumps(document)


def mixed() -> bytes:
    """A true record, one that is not canonical, and one of each kind of refusal."""
    document = json.loads(record_text(2))
    return jsonl(
        record_text(1),
        json.dumps(document, separators=(", ", ": ")),
        edited(lambda doc: doc["steps"][3]["movements"].update(P1="blocked_wall")),
        edited(lambda doc: doc["header"].update(scenario_hash="0" * 64)),
        edited(lambda doc: doc.update(steps=doc["steps"][:3], termination=None)),
        edited(lambda doc: doc["header"].update(simulator_version="0.0.1")),
        edited(lambda doc: doc.pop("steps")),
        "{oops",
        edited(lambda doc: doc["steps"][0]["actions"].update({next(iter(doc["steps"][0]["actions"])): "up"})),
    )


def assert_nothing_kept(folder: Path) -> None:
    for model in (Submission, SubmissionLine, Run, Verification, DBTaskResult):
        assert not model.objects.exists(), model
    assert not [path for path in (folder / "records").rglob("*") if path.is_file()]


def test_the_verdicts_are_those_of_the_upload_and_nothing_is_kept(agent, tmp_path):
    dry = services.submission_dry_run(owner=agent.owner, agent=agent, payload=mixed())
    assert_nothing_kept(tmp_path)
    submission = send(agent, mixed())
    run_tasks()
    real = list(submission.lines.select_related("run").order_by("number"))
    assert len(real) == len(dry.lines) == 9
    for mine, theirs in zip(dry.lines, real, strict=True):
        assert (mine.number, mine.code, mine.place, mine.message) == (
            theirs.number,
            theirs.code,
            theirs.place,
            theirs.message,
        )
        assert (mine.run is None) == (theirs.run is None)
        if mine.run and theirs.run:
            words = [*WORDS, "ended", "evacuated", "exit_step_total", "blocked", "seed"]
            assert [getattr(mine.run, name) for name in words] == [
                getattr(theirs.run, name) for name in words
            ]
    assert {line.run.state for line in dry.lines if line.run} == {"verified", "rejected"}
    assert dry.counts == selectors.submission_counts(submission=submission)
    assert (dry.counts.verified, dry.counts.not_ended, dry.counts.refused) == (2, 1, 6)


@pytest.mark.parametrize("name", HOSTILE)
def test_a_hostile_file_is_refused_in_the_words_of_an_upload(agent, name, tmp_path):
    payload, code, status, _ = HOSTILE[name]
    with pytest.raises(SubmissionRefused) as dry:
        services.submission_dry_run(owner=agent.owner, agent=agent, payload=payload)
    assert_nothing_kept(tmp_path)
    with pytest.raises(SubmissionRefused) as real:
        send(agent, payload)
    ours, theirs = dry.value, real.value
    assert (ours.error_code, ours.http_status) == (code, status)
    assert (ours.message, ours.place, ours.error_code, ours.http_status) == (
        theirs.message,
        theirs.place,
        theirs.error_code,
        theirs.http_status,
    )
    assert ours.data == {key: value for key, value in theirs.data.items() if key != "submission"}


def test_dry_runs_have_a_limit_of_their_own_and_use_no_upload(agent, settings, monkeypatch):
    settings.EMBER_DRY_RUNS_PER_HOUR = 2
    start = clock.now().replace(microsecond=0)
    monkeypatch.setattr(clock, "now", lambda: start)
    dry = {"owner": agent.owner, "agent": agent, "payload": record_text().encode()}
    services.submission_dry_run(**dry)
    with pytest.raises(SubmissionRefused):
        services.submission_dry_run(**dry | {"payload": b"oops"})
    with pytest.raises(UploadsExhausted) as caught:
        services.submission_dry_run(**dry)
    assert "2 dry runs an hour" in caught.value.message
    assert caught.value.data["retry_at"] == (start + timedelta(hours=1)).isoformat().replace("+00:00", "Z")
    send(agent, ten())
    monkeypatch.setattr(clock, "now", lambda: start + timedelta(hours=1))
    services.submission_dry_run(**dry)


def test_dry_runs_are_counted_for_all_processes_and_forgotten_after_an_hour(ann, settings, monkeypatch):
    settings.EMBER_DRY_RUNS_PER_HOUR = 1
    dry = {"owner": ann, "agent": None, "payload": record_text().encode()}
    services.submission_dry_run(**dry)
    cache.clear()  # what another process would not have
    with pytest.raises(UploadsExhausted):
        services.submission_dry_run(**dry)
    later = clock.now() + timedelta(hours=1)
    monkeypatch.setattr(clock, "now", lambda: later)
    services.submission_dry_run(**dry)
    assert DryRunMark.objects.get().created_at == later


@pytest.mark.django_db(transaction=True)
def test_dry_runs_at_once_do_not_slip_past_the_limit(ann, settings):
    settings.EMBER_DRY_RUNS_PER_HOUR = 2
    limits, outcomes = upload_limits(), []

    def take() -> None:
        try:
            dry_runs_take(owner=ann, limits=limits)
            outcomes.append("taken")
        except UploadsExhausted:
            outcomes.append("refused")
        finally:
            connection.close()

    threads = [threading.Thread(target=take) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(outcomes) == ["refused"] * 6 + ["taken"] * 2


def test_an_agent_that_takes_no_uploads_takes_no_dry_run_either(agent, ann, bob):
    with pytest.raises(Forbidden):
        services.submission_dry_run(owner=bob, agent=agent, payload=ten())
    with pytest.raises(AgentKindRefused):
        services.submission_dry_run(owner=ann, agent=services.human_agent_for(ann), payload=ten())


def test_a_fault_of_ours_is_told_as_ours(agent, monkeypatch):
    def broken(record: bytes, *, scenario_hash: str) -> None:
        raise RecursionError

    monkeypatch.setattr("ember_site.runs.services.dry_run.record_judge", broken)
    dry = services.submission_dry_run(owner=agent.owner, agent=None, payload=ten())
    assert {(line.run.state, line.run.code) for line in dry.lines} == {("failed", "internal")}


class TestDoors:
    def test_the_api_by_query_and_by_form(self, ann, agent, tmp_path):
        api = client_of(ann)
        address = reverse("api_submission_list")
        by_query = api.post(f"{address}?dry_run=1", mixed(), content_type="application/x-ndjson")
        file = SimpleUploadedFile("runs.jsonl", mixed())
        by_form = api.post(address, {"agent": agent.slug, "file": file, "dry_run": "true"})
        assert by_query.status_code == by_form.status_code == 200, by_query.content
        body = by_query.json()
        assert body == by_form.json()
        assert body["counts"]["total"] == len(body["lines"]) == 9
        refused = next(line for line in body["lines"] if line["code"] == "replay_mismatch")
        assert refused["expected"]
        assert refused["cause"]
        assert "run" not in refused
        assert_nothing_kept(tmp_path)
        assert (
            api.post(f"{address}?dry_run=maybe", ten(), content_type="application/jsonl").status_code == 422
        )

    def test_reading_tokens_and_visitors_do_not(self, ann):
        address = reverse("api_submission_list") + "?dry_run=1"
        assert (
            client_of(ann, "read").post(address, ten(), content_type="application/jsonl").status_code == 403
        )
        assert Client().post(address, ten(), content_type="application/jsonl").status_code == 401

    def test_the_page_with_and_without_a_script(self, ann, tmp_path):
        browser = Client()
        browser.force_login(ann)
        form = {"agent": "+", "agent_name": "Not made", "dry_run": "1"}
        plain = browser.post(reverse("submit"), form | {"file": SimpleUploadedFile("a.jsonl", mixed())})
        assert plain.status_code == 200
        html = plain.content.decode()
        assert "nothing was kept" in html
        assert "2 verified, 1 not ended, 6 refused" in html
        assert "Single exit dense" in html
        scripted = browser.post(
            reverse("submit"),
            form | {"file": SimpleUploadedFile("a.jsonl", mixed())},
            headers={"Accept": "application/json"},
        ).json()
        assert scripted["dry_run"] is True
        assert "/runs/" not in scripted["html"]
        assert not Agent.objects.exists()
        assert_nothing_kept(tmp_path)

    def test_a_wholly_bad_file_shows_each_line_on_the_page(self, ann):
        browser = Client()
        browser.force_login(ann)
        file = SimpleUploadedFile("a.jsonl", b'{"a":1}\n{"b":2}\n')
        answer = browser.post(reverse("submit"), {"file": file, "dry_run": "1"})
        assert answer.status_code == 422
        assert answer.content.decode().count('id="line-') == 2
