"""What owners are told when verdicts are in, and what the audit log keeps: once, whatever dies."""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import timedelta

import pytest
from django.core import mail

from ember_site.accounts.models import Notice
from ember_site.core import clock
from ember_site.core.models import AuditEntry
from ember_site.runs import services
from ember_site.runs.errors import SubmissionRefused
from ember_site.runs.models import Run, Submission
from ember_site.runs.record_store import RecordStoreError
from ember_site.runs.services import finish, queue, verification
from tests.site.runs.conftest import record_text
from tests.site.runs.test_submissions import jsonl, send
from tests.site.runs.workers import run_tasks

pytestmark = pytest.mark.usefixtures("suite")


@pytest.fixture(autouse=True)
def _address(ann) -> None:
    ann.email = "ann@example.org"
    ann.save()


@pytest.fixture
def broken_store(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    def broken(digest: str) -> bytes:
        raise RecordStoreError("the disk is gone")

    with monkeypatch.context() as patch:
        patch.setattr(verification, "record_read", broken)
        yield


def actions(run: Run) -> list[str]:
    entries = AuditEntry.objects.filter(object_kind="run", object_id=str(run.pk)).order_by("id")
    return [entry.action for entry in entries]


def forged() -> str:
    document = json.loads(record_text())
    person = next(iter(document["steps"][0]["movements"]))
    document["steps"][0]["movements"][person] = "blocked_wall"
    return json.dumps(document)


class TestVerdictsAreIn:
    def test_one_notice_and_one_mail_for_each_upload(self, agent, ann):
        submission = send(agent, jsonl(record_text(1), forged(), "{}"), filename="mine.jsonl")
        assert not Notice.objects.exists()
        run_tasks()
        notice = Notice.objects.get()
        assert notice.user == ann
        assert notice.title == "1 of 3 records verified"
        assert notice.text == "mine.jsonl for Ann's planner: 1 verified, 2 refused."
        assert notice.path == f"/submissions/{submission.pk}/"
        assert [message.to for message in mail.outbox] == [["ann@example.org"]]

    def test_an_upload_of_runs_that_are_known_is_told_of_at_once(self, agent):
        send(agent, record_text().encode())
        run_tasks()
        again = send(agent, record_text().encode())
        assert again.finished_at is not None
        assert Notice.objects.count() == 2
        run_tasks()
        assert len(mail.outbox) == 2

    def test_a_file_that_is_refused_as_a_whole_needs_no_notice(self, agent):
        with pytest.raises(SubmissionRefused):
            send(agent, b"{oops")
        assert Submission.objects.get().finished_at is not None
        assert not Notice.objects.exists()

    def test_two_uploads_that_share_a_run_are_both_told_of_once(self, agent):
        send(agent, record_text(1).encode())
        send(agent, jsonl(record_text(1), record_text(2)))
        run_tasks()
        assert Notice.objects.count() == len(mail.outbox) == 2

    def test_verifying_again_tells_nothing_new_when_the_verdict_stays(self, agent, user_make):
        submission = send(agent, record_text().encode())
        run_tasks()
        run = submission.lines.get().run
        services.run_verify_again(viewer=user_make("org", is_staff=True), run=run)
        run_tasks()
        assert Notice.objects.count() == len(mail.outbox) == 1

    def test_a_lost_worker_before_the_verdict_leads_to_one_notice(self, agent, monkeypatch):
        submission = send(agent, record_text().encode())
        run = submission.lines.get().run
        claimed = verification._claim(run_id=run.pk)
        assert claimed is not None
        later = clock.now() + verification.lease_for(run.record_size_bytes) + timedelta(seconds=1)
        monkeypatch.setattr(clock, "now", lambda: later)
        assert queue.queue_sweep().requeued == 1
        run_tasks()
        # The first worker was only slow: what it finds now changes nothing any more.
        verification._conclude(verification_id=claimed.pk, judgement=verification._judge(run))
        run_tasks()
        assert Notice.objects.count() == len(mail.outbox) == 1
        assert actions(run) == ["run.verdict"]

    def test_a_death_between_verdict_and_notice_undoes_both(self, agent, monkeypatch):
        submission = send(agent, record_text().encode())
        run = submission.lines.get().run

        class Killed(BaseException):
            pass

        def die(**arguments: object) -> None:
            raise Killed

        with monkeypatch.context() as patch:
            patch.setattr(finish, "notice_create", die)
            with pytest.raises(Killed):
                services.run_verify(run_id=run.pk)
        run.refresh_from_db()
        submission.refresh_from_db()
        assert (run.state, submission.finished_at) == ("running", None)
        later = clock.now() + verification.lease_for(run.record_size_bytes) + timedelta(seconds=1)
        monkeypatch.setattr(clock, "now", lambda: later)
        queue.queue_sweep()
        run_tasks()
        assert Notice.objects.count() == len(mail.outbox) == 1
        assert actions(run) == ["run.verdict"]


class TestOurFault:
    def test_a_failed_run_ends_its_upload_and_is_told_as_ours(self, agent, broken_store):
        submission = send(agent, record_text().encode(), filename="mine.json")
        run_tasks()
        submission.refresh_from_db()
        assert submission.finished_at is not None
        notice = Notice.objects.get()
        assert "1 failed on our side, which costs you nothing" in notice.text
        assert len(mail.outbox) == 1
        assert actions(submission.lines.get().run) == ["run.verdict"]

    def test_a_failed_run_without_an_upload_is_told_by_itself(self, agent, ann, broken_store):
        run = services.run_store(agent=agent, record_text=record_text(), source="remote", ranked=True)
        run_tasks()
        notice = Notice.objects.get()
        assert (notice.user, notice.path) == (ann, f"/runs/{run.pk}/")
        assert "our side" in notice.text

    def test_a_failed_run_of_a_sealed_evaluation_is_told_without_naming_it(self, agent, broken_store):
        run = services.run_store(
            agent=agent, record_text=record_text(), source="remote", ranked=True, hidden_ref="sealed-1"
        )
        run_tasks()
        notice = Notice.objects.get()
        told = f"{notice.title} {notice.text} {notice.path}"
        assert "sealed" in told
        assert run.short_id not in told

    def test_a_baseline_has_no_owner_to_tell(self, broken_store):
        agent = services.baseline_agent("stay")
        services.run_store(agent=agent, record_text=record_text(), source="baseline", ranked=True)
        run_tasks()
        assert not Notice.objects.exists()


class TestDecisions:
    def test_a_verdict_that_changes_is_told_and_logged(self, agent, user_make, monkeypatch):
        run = services.run_store(agent=agent, record_text=record_text(), source="upload", ranked=True)
        run_tasks()
        organiser = user_make("org", is_staff=True)
        services.run_verify_again(viewer=organiser, run=run)
        bad = verification.Judgement("rejected", "replay_mismatch", "steps[0]", "a", "b", "No.", None, None)
        monkeypatch.setattr(verification, "_judge", lambda run: bad)
        run_tasks()
        assert Notice.objects.get().title == "A verdict has changed from verified to rejected"
        first, asked, second = AuditEntry.objects.filter(object_id=str(run.pk)).order_by("id")
        assert (first.data["state"], second.data["state"], second.data["before"]) == (
            "verified",
            "rejected",
            "verified",
        )
        assert (asked.action, asked.actor_id) == ("run.reverification", organiser.pk)

    def test_withdrawing_is_logged_once(self, agent, ann):
        run = services.run_store(agent=agent, record_text=record_text(), source="upload", ranked=True)
        services.run_withdraw(viewer=ann, run=run)
        services.run_withdraw(viewer=ann, run=run)
        assert actions(run) == ["run.withdrawn"]
        assert AuditEntry.objects.get(action="run.withdrawn").actor_id == ann.pk

    def test_a_change_of_visibility_is_logged_and_none_is_not(self, agent, ann):
        run = services.run_store(agent=agent, record_text=record_text(), source="upload", ranked=True)
        services.run_set_visibility(viewer=ann, run=run, visibility="private")
        services.run_set_visibility(viewer=ann, run=run, visibility="private")
        services.agent_update(viewer=ann, agent=agent, fields={"visibility": "unlisted", "note": "x"})
        services.agent_update(viewer=ann, agent=agent, fields={"note": "y"})
        changes = AuditEntry.objects.filter(action__endswith="visibility").order_by("id")
        assert [(entry.object_kind, entry.data) for entry in changes] == [
            ("run", {"from": "public", "to": "private"}),
            ("agent", {"from": "public", "to": "unlisted"}),
        ]

    def test_the_log_of_a_sealed_run_tells_no_seed_and_no_digest(self, agent):
        until = clock.now() + timedelta(days=1)
        text = record_text().replace('"seed":0', '"seed":1234567890123456789', 1)
        run = services.run_store(agent=agent, record_text=text, source="remote", ranked=True)
        services.runs_hide(runs=[run], hidden_until=until, hidden_ref="sealed-1")
        run_tasks()
        assert actions(run) == ["run.hidden", "run.verdict"]
        log = str(list(AuditEntry.objects.values_list()))
        assert "1234567890123456789" not in log
        assert run.digest not in log

    def test_imports_and_evaluations_are_logged(self, suite):
        entry = AuditEntry.objects.get(action="suite.imported")
        assert entry.object_id == f"{suite.suite_id}/{suite.version}"
        assert entry.data["suite_hash"] == suite.suite_hash
