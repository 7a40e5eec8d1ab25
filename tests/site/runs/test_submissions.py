"""Uploads: hostile files, good and bad lines together, idempotence, quotas."""

from __future__ import annotations

import gzip
import io
import json
import threading
from datetime import timedelta

import pytest
from django.db import connection
from django_tasks_db.models import DBTaskResult

from ember_site.core import clock
from ember_site.core.errors import Forbidden
from ember_site.runs import selectors, services
from ember_site.runs.errors import AgentKindRefused, StoreUnavailable, SubmissionRefused, UploadsExhausted
from ember_site.runs.limits import upload_limits
from ember_site.runs.models import Run, Submission, Verification
from ember_site.runs.services import verification
from tests.site.runs.conftest import record_text
from tests.site.runs.workers import run_tasks

pytestmark = pytest.mark.usefixtures("suite")

PNG = b"\x89PNG\r\n\x1a\n" + bytes(range(256)) * 4
MIB = 1024 * 1024


def send(agent, payload, filename: str = "runs.jsonl", **options):
    options = {"owner": agent.owner, "agent": agent, "source": "page"} | options
    return services.submission_create(payload=payload, filename=filename, **options)


def jsonl(*texts: str) -> bytes:
    return "".join(f"{text}\n" for text in texts).encode()


def ten() -> bytes:
    return jsonl(*(record_text(number) for number in range(1, 11)))


def seeded(value: bytes) -> bytes:
    return record_text().encode().replace(b'"seed":0', b'"seed":' + value, 1)


HOSTILE = {
    "a PNG renamed": (PNG, "record_format", 422, "PNG"),
    "an empty file": (b"", "record_format", 422, "empty"),
    "blank lines alone": (b"\n\n \n", "record_format", 422, "blank"),
    "a cut gzip": (gzip.compress(ten())[:-20], "record_format", 422, "cut"),
    "a damaged gzip": (gzip.compress(ten())[:60] + b"\0" * 60, "record_format", 422, "gzip"),
    "UTF-16": (record_text().encode("utf-16"), "record_format", 422, "UTF-16"),
    "a byte order mark": (b"\xef\xbb\xbf" + ten(), "record_format", 422, "byte order mark"),
    "one byte too many": (b" " * (16 * MIB + 1), "limit_exceeded", 413, "16 MiB a file"),
    "a gzip bomb": (gzip.compress(b" " * (65 * MIB)), "limit_exceeded", 413, "64 MiB unpacked"),
    "too many records": (b"{}\n" * 2001, "limit_exceeded", 422, "2,000 records a file"),
    "deep nesting": (b'{"header":' + b"[" * 100_000, "record_format", 422, "nested far deeper"),
    "deep nesting, closed": (b"[" * 50_000 + b"]" * 50_000, "record_format", 422, "got a list"),
    "deep nesting in a record": (seeded(b"[" * 9_999 + b"]" * 9_999), "record_format", 422, "nested"),
    "a huge integer": (seeded(b"9" * 10_000), "record_format", 422, "at most 20 digits, got 10000"),
    "an infinite float": (seeded(b"1e999"), "record_format", 422, "header.seed: expected a finite number"),
    "NaN": (seeded(b"NaN"), "record_format", 422, "header.seed: expected a finite number, got NaN"),
    "Infinity": (seeded(b"-Infinity"), "record_format", 422, "header.seed: expected a finite number"),
    "a fraction for an integer": (seeded(b"0.0"), "record_format", 422, "header.seed: expected an integer"),
    "a key twice": (seeded(b'0,"seed":0'), "record_format", 422, "header.seed: expected each key once"),
    "a list": (b"[1]", "record_format", 422, "list"),
    "a sentence": (b"hello", "record_format", 422, "expected JSON"),
    "a web page": (b"<!doctype html>\n<p>hello</p>\n", "record_format", 422, "expected JSON"),
    "a lone surrogate": (seeded(b'"\\ud800"'), "record_format", 422, "lone surrogate"),
    "a lone surrogate in bytes": (seeded(b'"\xed\xa0\x80"'), "record_format", 422, "not UTF-8"),
    "Latin-1": (seeded(b'"caf\xe9"'), "record_format", 422, "not UTF-8 text: byte 0xe9"),
    "a NUL": (seeded(b'"\\u0000"'), "record_format", 422, "header.seed: expected an integer"),
    "a NUL in bytes": (seeded(b"\x00"), "record_format", 422, "binary file"),
    "UTF-16 without a mark": (record_text().encode("utf-16-le"), "record_format", 422, "UTF-16"),
    "UTF-32": (record_text().encode("utf-32-be"), "record_format", 422, "UTF-32"),
    "old Mac lines": (ten().replace(b"\n", b"\r"), "record_format", 422, "expected JSON"),
    "gzip of gzip": (gzip.compress(gzip.compress(ten())), "record_format", 422, "gzipped twice"),
    "an empty gzip": (gzip.compress(b""), "record_format", 422, "the gzipped file is empty"),
    "gzip with rubbish behind": (gzip.compress(ten()) + b"rubbish", "record_format", 422, "damaged"),
    "a zip archive": (b"PK\x03\x04" + bytes(50), "record_format", 422, "zip archive"),
}
"""Trial T11: wrong files of every kind, with code, status and a word of the sentence."""


class TestHostileFiles:
    @pytest.mark.parametrize("name", HOSTILE)
    def test_a_wholly_malformed_file_is_refused_with_code_sentence_and_place(self, agent, name):
        payload, code, status, word = HOSTILE[name]
        with pytest.raises(SubmissionRefused) as caught:
            send(agent, payload)
        error = caught.value
        assert (error.error_code, error.http_status) == (code, status)
        assert word in error.message
        assert error.place
        if code == "limit_exceeded":
            assert isinstance(error.data["limit"], int)

        kept = Submission.objects.get(pk=error.data["submission"])
        assert (kept.code, kept.message, kept.place) == (code, error.message, error.place)
        assert kept.finished_at is not None
        assert not Run.objects.exists()
        assert not Verification.objects.exists()
        assert not DBTaskResult.objects.exists()

    def test_exactly_the_limit_is_taken(self, agent):
        padding = b" " * (16 * MIB - len(ten()))
        assert send(agent, ten() + padding).lines.count() == 10

    def test_too_many_steps_name_the_limit_of_the_settings(self, agent, settings):
        settings.EMBER_RECORD_MAX_STEPS = 3
        with pytest.raises(SubmissionRefused) as caught:
            send(agent, record_text().encode())
        assert (caught.value.error_code, caught.value.data["limit"]) == ("limit_exceeded", 3)
        assert upload_limits().file.steps_text in caught.value.message

    def test_a_bad_line_never_hurts_the_good_ones(self, agent):
        lines = ten().splitlines()
        lines[6] = b'{"header": oops'
        submission = send(agent, b"\n".join(lines))
        assert submission.lines.count() == 10
        bad = submission.lines.get(run__isnull=True)
        assert (bad.number, bad.code) == (7, "record_format")
        assert bad.place.startswith("line 7")
        assert bad.message
        run_tasks()
        assert selectors.submission_counts(submission=submission).verified == 9
        submission.refresh_from_db()
        assert submission.finished_at is not None

    def test_a_fault_in_the_json_names_the_line_of_the_file(self, agent):
        lines = ten().splitlines()
        lines[6] = b'{"header": oops'
        bad = send(agent, b"\n".join(lines)).lines.get(run__isnull=True)
        assert (bad.number, bad.place) == (7, "line 7")
        assert "at line 7, column 12 " in bad.message
        pretty = (
            json.dumps(json.loads(record_text()), indent=1).encode().replace(b'"seed": 0', b'"seed": oops')
        )
        with pytest.raises(SubmissionRefused) as caught:
            send(agent, b"\n\n" + pretty)
        number = 3 + pretty[: pretty.index(b"oops")].count(b"\n")
        assert f"at line {number}, column " in caught.value.message

    def test_a_file_whose_every_line_is_bad_keeps_each_reason(self, agent):
        with pytest.raises(SubmissionRefused) as caught:
            send(agent, b'{"a":1}\n{"b":2}\n')
        lines = list(caught.value.submission.lines.all())
        assert [line.number for line in lines] == [1, 2]
        assert all(line.code == "record_format" and line.place and line.message for line in lines)


class TestForms:
    @pytest.mark.parametrize(
        ("filename", "payload"),
        [
            ("runs.jsonl", ten()),
            ("runs.jsonl.gz", gzip.compress(ten())),
            ("windows.jsonl", ten().replace(b"\n", b"\r\n")),
            ("blank.jsonl", b"\n" + ten().replace(b"\n", b"\n\n")),
            ("two members.gz", gzip.compress(ten()[:1000]) + gzip.compress(ten()[1000:])),
            ("padded.gz", gzip.compress(ten()) + bytes(512)),
            ("empty lines at the end.jsonl", ten() + b"\n\n  \r\n"),
            ("no end of line.jsonl", ten().rstrip()),
        ],
    )
    def test_ten_records(self, agent, filename, payload):
        submission = send(agent, payload, filename)
        run_tasks()
        assert selectors.submission_counts(submission=submission).verified == 10

    @pytest.mark.parametrize("pretty", [None, 2])
    @pytest.mark.parametrize("gzipped", [False, True])
    def test_one_record(self, agent, pretty, gzipped):
        payload = json.dumps(json.loads(record_text()), indent=pretty).encode()
        submission = send(agent, gzip.compress(payload) if gzipped else payload, "run.json")
        run_tasks()
        assert selectors.submission_counts(submission=submission).verified == 1

    def test_a_stream_is_read_without_being_held(self, agent):
        assert send(agent, io.BytesIO(ten())).size_bytes == len(ten())


class TestIdempotence:
    def test_the_same_file_again_is_the_same_runs(self, agent):
        first, second = send(agent, ten()), send(agent, gzip.compress(ten()))
        assert Run.objects.count() == 10
        assert [line.run_id for line in first.lines.all()] == [line.run_id for line in second.lines.all()]
        assert all(line.known for line in second.lines.all())
        assert not any(line.known for line in first.lines.all())
        run_tasks()
        assert Verification.objects.count() == 10
        third = send(agent, ten())
        assert third.finished_at is not None, "every verdict was known"

    def test_the_same_record_twice_in_one_file_is_one_run(self, agent):
        submission = send(agent, jsonl(record_text(), record_text()))
        assert Run.objects.count() == 1
        assert [line.known for line in submission.lines.all()] == [False, True]

    def test_another_agent_gets_a_run_of_its_own_marked_as_the_same_actions(self, agent, bob):
        other = services.agent_create(owner=bob, fields={"name": "Bob's"})
        mine = send(agent, record_text().encode()).lines.get().run
        theirs = send(other, record_text().encode()).lines.get().run
        assert mine.pk != theirs.pk
        assert mine.digest == theirs.digest
        assert list(selectors.run_twins(viewer=bob, run=theirs)) == [mine]

    def test_a_private_twin_is_not_betrayed(self, agent, bob, ann):
        other = services.agent_create(owner=bob, fields={"name": "Bob's"})
        services.agent_update(viewer=ann, agent=agent, fields={"visibility": "private"})
        send(agent, record_text().encode())
        theirs = send(other, record_text().encode()).lines.get().run
        assert not selectors.run_twins(viewer=bob, run=theirs).exists()


class TestWhoMaySend:
    def test_nobody_sends_for_the_agent_of_another(self, agent, bob):
        with pytest.raises(Forbidden):
            send(agent, ten(), owner=bob)

    def test_a_human_agent_takes_no_uploads(self, ann):
        with pytest.raises(AgentKindRefused):
            send(services.human_agent_for(ann), ten())

    def test_a_baseline_takes_them_only_from_an_organiser(self, ann, user_make):
        baseline = services.baseline_agent("greedy")
        with pytest.raises(Forbidden):
            send(baseline, ten(), owner=ann)
        assert send(baseline, ten(), owner=user_make("org", is_staff=True)).lines.count() == 10


class TestQuota:
    def test_the_next_upload_is_allowed_at_the_told_instant(self, agent, settings, monkeypatch):
        settings.EMBER_UPLOADS_PER_HOUR = 2
        start = clock.now().replace(microsecond=0)
        for minute in (0, 10):
            monkeypatch.setattr(clock, "now", lambda minute=minute: start + timedelta(minutes=minute))
            submission = send(agent, record_text().encode())
            Submission.objects.filter(pk=submission.pk).update(created_at=clock.now())
        with pytest.raises(UploadsExhausted) as caught:
            send(agent, record_text().encode())
        data = caught.value.data
        assert (data["limit"], data["used"]) == (2, 2)
        assert data["retry_at"] == (start + timedelta(hours=1)).isoformat().replace("+00:00", "Z")
        monkeypatch.setattr(clock, "now", lambda: start + timedelta(hours=1))
        assert send(agent, record_text().encode()).pk

    def test_malformed_files_have_their_own_limit(self, agent, settings):
        settings.EMBER_UPLOADS_PER_HOUR = 1
        settings.EMBER_MALFORMED_PER_HOUR = 2
        for _ in range(2):
            with pytest.raises(SubmissionRefused):
                send(agent, b"")
        assert selectors.uploads_used(owner=agent.owner) == (0, 1)
        with pytest.raises(UploadsExhausted) as caught:
            send(agent, ten())
        assert "malformed" in caught.value.message

    @pytest.mark.django_db(transaction=True)
    @pytest.mark.parametrize("good", [True, False], ids=["good files", "malformed files"])
    def test_files_sent_at_once_do_not_slip_past_the_limit(self, agent, settings, good):
        settings.EMBER_UPLOADS_PER_HOUR = settings.EMBER_MALFORMED_PER_HOUR = 2
        outcomes: list[str] = []

        def one() -> None:
            try:
                send(agent, record_text().encode() if good else b"oops")
                outcomes.append("counted")
            except SubmissionRefused:
                outcomes.append("counted")
            except UploadsExhausted:
                outcomes.append("too many")
            finally:
                connection.close()

        threads = [threading.Thread(target=one) for _ in range(6)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert sorted(outcomes) == ["counted"] * 2 + ["too many"] * 4
        assert Submission.objects.count() == 2

    def test_a_failure_on_our_side_costs_nothing(self, agent, settings, monkeypatch):
        """Trial T09: three workers die over a run, and the account may send as much as before."""
        settings.EMBER_UPLOADS_PER_HOUR = 1
        submission = send(agent, record_text().encode())
        assert selectors.uploads_used(owner=agent.owner) == (1, 1)
        run, start = submission.lines.get().run, clock.now()
        for death in range(1, 4):
            assert verification._claim(run_id=run.pk) is not None
            later = start + timedelta(minutes=10 * death)
            monkeypatch.setattr(clock, "now", lambda later=later: later)
            services.queue_sweep()
        run.refresh_from_db()
        assert run.state == "failed"
        assert selectors.uploads_used(owner=agent.owner) == (0, 1)
        assert send(agent, record_text(2).encode()).pk

    def test_a_full_store_keeps_nothing_and_is_our_fault(self, agent, monkeypatch):
        def full(data: bytes) -> str:
            raise OSError(28, "No space left on device")

        monkeypatch.setattr("ember_site.runs.services.runs.record_write", full)
        with pytest.raises(StoreUnavailable) as caught:
            send(agent, ten())
        assert caught.value.http_status == 503
        assert not Submission.objects.exists()
        assert not Run.objects.exists()
