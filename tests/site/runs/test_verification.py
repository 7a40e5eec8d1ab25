"""Verification by replay: verdicts, metrics, history, leases and retries."""

from __future__ import annotations

import json
from datetime import timedelta

import pytest
from django.core.management import call_command
from django.db import IntegrityError, transaction
from django_tasks_db.models import DBTaskResult

from ember_site.core import clock
from ember_site.core.errors import Forbidden, NotFound
from ember_site.runs import services
from ember_site.runs.models import Run, RunState, Verification
from ember_site.runs.record_store import record_name, record_read
from ember_site.runs.services import queue, verification
from ember_site.runs.services.runs import run_needs_verdict
from simulator import SIMULATOR_VERSION, replay
from tests.site.runs.conftest import record_text, scenarios
from tests.site.runs.workers import run_tasks

pytestmark = pytest.mark.usefixtures("suite")


def store(agent, text: str | None = None, **options) -> Run:
    return services.run_store(
        agent=agent, record_text=text or record_text(), source="upload", ranked=True, **options
    )


def forged(number: int = 1) -> str:
    """A record that claims one more move than the replay gives."""
    document = json.loads(record_text(number))
    person = next(iter(document["steps"][0]["movements"]))
    document["steps"][0]["movements"][person] = "blocked_wall"
    return json.dumps(document)


class TestVerdict:
    @pytest.mark.parametrize("number", range(1, 11))
    def test_a_true_record_is_verified_with_the_replays_metrics_in_columns(self, agent, number):
        text = record_text(number)
        run = services.run_verify(run_id=store(agent, text).pk)
        metrics = replay(text, scenarios()[number - 1]).metrics
        assert (run.state, run.code, run.ended) == (RunState.VERIFIED, "verified", True)
        for column in verification.METRIC_COLUMNS:
            assert getattr(run, column) == getattr(metrics, column), column
        assert run.blocked == metrics.blocked
        assert run.metrics == metrics

    def test_the_words_of_the_verdict_are_those_of_the_replay(self, agent):
        verdict = replay(forged(), scenarios()[0])
        run = services.run_verify(run_id=store(agent, forged()).pk)
        assert run.state == RunState.REJECTED
        assert (run.code, run.place, run.message) == (verdict.code, verdict.place, verdict.message)
        assert (run.expected, run.actual) == (verdict.expected, verdict.actual)
        assert run.evacuated is None
        assert run.metrics is None

    def test_an_unknown_scenario_is_named_by_its_hash(self, agent):
        document = json.loads(record_text())
        document["header"]["scenario_hash"] = "0" * 64
        run = services.run_verify(run_id=store(agent, json.dumps(document)).pk)
        assert (run.state, run.code, run.place) == ("rejected", "scenario_unknown", "header.scenario_hash")
        assert "0" * 64 in run.message
        assert run.scenario is None

    @pytest.mark.parametrize(("version", "again"), [(SIMULATOR_VERSION, True), ("99.0.0", False)])
    def test_a_record_of_a_later_simulator_is_judged_again_when_the_site_has_that_one(
        self, agent, version, again
    ):
        document = json.loads(record_text())
        document["header"]["simulator_version"] = "99.0.0"
        run = services.run_verify(run_id=store(agent, json.dumps(document)).pk)
        assert (run.state, run.place) == (RunState.REJECTED, "header.simulator_version")
        assert not run_needs_verdict(run)
        run.simulator_version = version  # as if the site had become that one
        assert run_needs_verdict(run) is again

    def test_a_record_that_stops_early_is_confirmed_but_never_scored(self, agent):
        document = json.loads(record_text())
        document["steps"], document["termination"] = document["steps"][:3], None
        run = services.run_verify(run_id=store(agent, json.dumps(document)).pk)
        assert (run.state, run.code, run.ended) == ("verified", "record_incomplete", False)

    def test_the_record_keeps_its_exact_canonical_bytes(self, agent):
        pretty = json.dumps(json.loads(record_text()), indent=3)
        run = store(agent, pretty)
        assert record_read(run.digest) == record_text().encode()

    def test_verifying_twice_changes_nothing(self, agent):
        run = services.run_verify(run_id=store(agent).pk)
        again = services.run_verify(run_id=run.pk)
        assert again.verified_at == run.verified_at
        assert run.verifications.count() == 1

    def test_an_unknown_run_is_not_found(self):
        with pytest.raises(NotFound):
            services.run_verify(run_id="00000000-0000-0000-0000-000000000000")


class TestHistory:
    def test_verifying_again_keeps_history_and_one_live_verdict(self, agent, user_make):
        run = services.run_verify(run_id=store(agent).pk)
        services.run_verify_again(viewer=user_make("org", is_staff=True), run=run)
        run.refresh_from_db()
        assert run.state == RunState.VERIFIED, "the old verdict holds until the new one is in"
        services.run_verify(run_id=run.pk)
        assert list(run.verifications.order_by("attempt").values_list("attempt", "live")) == [
            (1, False),
            (2, True),
        ]

    def test_only_organisers_may_ask_for_it(self, agent, ann):
        run = services.run_verify(run_id=store(agent).pk)
        with pytest.raises(Forbidden):
            services.run_verify_again(viewer=ann, run=run)

    def test_the_database_refuses_a_second_live_verdict(self, agent):
        run = services.run_verify(run_id=store(agent).pk)
        with pytest.raises(IntegrityError), transaction.atomic():
            Verification.objects.create(
                run=run, attempt=9, live=True, queued_at=clock.now(), state="verified"
            )


class TestLostWork:
    def lapse(self, run: Run) -> None:
        run.verifications.filter(state="running").update(lease_until=clock.now() - timedelta(seconds=1))

    def test_a_run_under_a_lease_is_left_alone(self, agent):
        run = store(agent)
        assert verification._claim(run_id=run.pk) is not None
        assert services.run_verify(run_id=run.pk).state == RunState.RUNNING

    def test_a_lapsed_lease_puts_the_run_back_and_tells_why(self, agent):
        run = store(agent)
        verification._claim(run_id=run.pk)
        self.lapse(run)
        assert services.queue_sweep().requeued == 1
        run.refresh_from_db()
        assert run.state == RunState.QUEUED
        dead = run.verifications.get(attempt=1)
        assert (dead.state, dead.code) == ("failed", "internal")
        assert "put back" in dead.message
        assert services.run_verify(run_id=run.pk).state == RunState.VERIFIED

    def test_three_deaths_are_our_fault(self, agent):
        run = store(agent)
        for _ in range(3):
            verification._claim(run_id=run.pk)
            self.lapse(run)
            services.queue_sweep()
        run.refresh_from_db()
        assert (run.state, run.code) == (RunState.FAILED, "internal")
        assert "our fault" in run.message
        assert not Verification.objects.filter(run=run, state__in=["queued", "running"]).exists()

    @pytest.mark.parametrize("record", ["true", "forged"])
    def test_a_verdict_that_counts_holds_when_three_workers_die_over_the_next_one(
        self, agent, user_make, record
    ):
        run = services.run_verify(run_id=store(agent, forged() if record == "forged" else None).pk)
        before = Run.objects.values().get(pk=run.pk)
        services.run_verify_again(viewer=user_make("org", is_staff=True), run=run)
        self.die_three_times(run)
        assert Run.objects.values().get(pk=run.pk) == before
        assert run.verifications.get(live=True).attempt == 1

    def test_an_upload_of_a_refused_run_ends_when_three_workers_die_over_it(self, agent):
        document = json.loads(record_text())
        document["header"]["scenario_hash"] = "0" * 64
        payload = json.dumps(document).encode()
        for _ in range(2):
            submission = services.submission_create(
                owner=agent.owner, agent=agent, payload=payload, filename="", source="api"
            )
            if submission.finished_at is None:
                run = submission.lines.get().run
                services.run_verify(run_id=run.pk) if run.verified_at is None else self.die_three_times(run)
        submission.refresh_from_db()
        assert submission.finished_at is not None
        run.refresh_from_db()
        assert (run.state, run.code) == (RunState.REJECTED, "scenario_unknown")

    def die_three_times(self, run: Run) -> None:
        for _ in range(3):
            assert verification._claim(run_id=run.pk) is not None
            self.lapse(run)
            services.queue_sweep()
        assert not run.verifications.filter(state__in=["queued", "running"]).exists()

    def test_the_same_record_again_gives_a_failed_run_another_chance(self, agent):
        self.test_three_deaths_are_our_fault(agent)
        run = store(agent)
        assert Run.objects.count() == 1
        assert services.run_verify(run_id=run.pk).state == RunState.VERIFIED

    def test_a_late_worker_cannot_write_a_second_verdict(self, agent):
        run = store(agent)
        late = verification._claim(run_id=run.pk)
        self.lapse(run)
        services.queue_sweep()
        services.run_verify(run_id=run.pk)
        verification._conclude(verification_id=late.pk, judgement=verification._judge(run))
        assert run.verifications.filter(live=True).count() == 1
        assert run.verifications.get(pk=late.pk).state == RunState.FAILED

    def test_a_lost_task_is_replaced(self, agent):
        run = store(agent)
        DBTaskResult.objects.all().delete()
        services.queue_sweep()
        assert run_tasks() >= 1
        run.refresh_from_db()
        assert run.state == RunState.VERIFIED

    def test_a_task_that_a_killed_worker_took_is_replaced(self, agent):
        run = store(agent)
        DBTaskResult.objects.update(status="RUNNING", started_at=clock.now() - timedelta(minutes=5))
        call_command("sweep_runs")
        run_tasks()
        run.refresh_from_db()
        assert run.state == RunState.VERIFIED

    @pytest.mark.parametrize("state", ["queued", "running"])
    def test_a_run_that_nobody_is_at_is_attended_to_whatever_its_state(self, agent, state):
        lost = store(agent, enqueue=False)
        Run.objects.filter(pk=lost.pk).update(state=state)
        judged = services.run_verify(run_id=store(agent, record_text(2)).pk)
        DBTaskResult.objects.all().delete()
        assert services.queue_sweep() == queue.SweepResult(requeued=1, failed=0, enqueued=0)
        assert services.queue_sweep().requeued == 0
        run_tasks()
        lost.refresh_from_db()
        assert lost.state == RunState.VERIFIED
        assert (lost.verifications.count(), judged.verifications.count()) == (1, 1)

    def test_a_waiting_task_is_not_doubled(self, agent):
        store(agent)
        before = DBTaskResult.objects.count()
        assert services.queue_sweep() == queue.SweepResult(requeued=0, failed=0, enqueued=0)
        assert DBTaskResult.objects.count() == before

    def test_a_damaged_record_file_is_our_fault_not_the_senders(self, agent, tmp_path):
        run = store(agent)
        (tmp_path / "records" / record_name(run.digest)).write_bytes(b"rubbish")
        for _ in range(3):
            services.run_verify(run_id=run.pk)
        run.refresh_from_db()
        assert (run.state, run.code) == (RunState.FAILED, "internal")

    def test_a_sweep_is_scheduled_while_runs_are_open_and_only_once(self, agent):
        store(agent)
        services.sweep_schedule()
        services.sweep_schedule()
        assert DBTaskResult.objects.filter(task_path__endswith="sweep_queue").count() == 1
