"""The record store over time: what is missing or altered is found, what nobody needs is swept."""

from __future__ import annotations

import os
from datetime import timedelta
from io import StringIO
from pathlib import Path

import pytest
from django.core.cache import cache
from django.core.exceptions import ImproperlyConfigured
from django.core.management import CommandError, call_command
from django.urls import reverse

from ember_site import environment
from ember_site.core import clock
from ember_site.runs import record_store, services
from ember_site.runs.models import Run, Submission
from ember_site.runs.record_store import record_file_remove, record_name, record_read, record_write
from ember_site.runs.services import records
from tests.site.runs.conftest import record_text
from tests.site.runs.test_api import client_of
from tests.site.runs.test_submissions import ten
from tests.site.runs.workers import run_tasks


def stored(agent, number: int = 1) -> Run:
    return services.run_store(agent=agent, record_text=record_text(number), source="upload", ranked=True)


def said(*command: str, **options: object) -> str:
    out = StringIO()
    call_command(*command, stdout=out, **options)
    return out.getvalue()


def age(path: Path, hours: float) -> None:
    at = (clock.now() - timedelta(hours=hours)).timestamp()
    os.utime(path, (at, at))


@pytest.mark.usefixtures("suite")
class TestCheck:
    def test_a_whole_store_is_said_to_be_whole(self, agent):
        stored(agent)
        assert "1 records, all as they were written" in said("check_records")

    def test_what_is_missing_or_altered_is_named_with_its_runs(self, agent, bob, tmp_path):
        whole, missing, altered = (stored(agent, number) for number in (1, 2, 3))
        twin = stored(services.agent_create(owner=bob, fields={"name": "Bob's"}), 2)
        (tmp_path / "records" / record_name(missing.digest)).unlink()
        path = tmp_path / "records" / record_name(altered.digest)
        path.write_bytes(path.read_bytes()[:-1] + b"\1")
        out = StringIO()
        with pytest.raises(CommandError, match="2 of 3 records") as caught:
            call_command("check_records", stdout=out)
        assert caught.value.returncode == 1
        lines = sorted(out.getvalue().splitlines())
        assert lines == [
            f"altered {altered.digest} of run {altered.pk}",
            f"missing {missing.digest} of run {missing.pk}, {twin.pk}",
        ]
        assert str(whole.pk) not in out.getvalue()


@pytest.mark.usefixtures("suite")
class TestSweep:
    def test_only_old_files_without_a_run_go(self, agent, tmp_path):
        run = stored(agent)
        names = [record_name(digest) for digest in (run.digest, record_write("{}"), record_write("[]"))]
        named, old, young = (tmp_path / "records" / name for name in names)
        part = old.with_name(".killed.part")
        part.write_bytes(b"half")
        for path, hours in ((named, 99), (old, 25), (young, 23), (part, 25)):
            age(path, hours)
        assert "2 files without a run would be removed" in said("sweep_records", dry_run=True)
        assert old.exists()
        assert "2 files without a run removed" in said("sweep_records")
        assert [path.exists() for path in (named, old, young, part)] == [True, False, True, False]
        assert not [path for path in (tmp_path / "records").rglob(".*") if path.is_file()]

    def test_storing_a_record_again_keeps_its_file_from_the_sweep(self, tmp_path):
        path = tmp_path / "records" / record_name(record_write("{}"))
        age(path, 99)
        record_write("{}")
        assert records.orphans_sweep() == []
        assert path.exists()

    def test_a_run_that_comes_while_its_file_is_put_aside_keeps_it(self, tmp_path):
        digest = record_write("{}")
        assert record_file_remove(record_name(digest), unless=lambda: True) is False
        assert record_read(digest) == b"{}"
        with pytest.raises(RuntimeError):
            record_file_remove(record_name(digest), unless=lambda: exec("raise RuntimeError"))
        assert record_read(digest) == b"{}"

    def test_a_writer_meanwhile_writes_anew(self):
        digest = record_write("{}")
        assert record_file_remove(record_name(digest), unless=lambda: record_write("{}") == "") is True
        assert record_read(digest) == b"{}"
        assert record_file_remove("no/such/file", unless=lambda: False) is False

    def test_the_store_of_another_database_is_left_alone(self, agent, tmp_path, monkeypatch):
        stored(agent)
        monkeypatch.setattr(records, "FEW", 1)
        paths = [tmp_path / "records" / record_name(record_write(f"[{n}]")) for n in range(3)]
        for path in paths:
            age(path, 99)
        with pytest.raises(CommandError, match="another one"):
            call_command("sweep_records")
        records.orphans_sweep_daily()
        assert all(path.exists() for path in paths)
        assert "3 files without a run removed" in said("sweep_records", force=True)

    def test_workers_sweep_once_a_day(self, agent, tmp_path):
        stored(agent)
        run_tasks()
        path = tmp_path / "records" / record_name(record_write("{}"))
        age(path, 25)
        call_command("sweep_runs", verbosity=0)
        assert not path.exists()
        again = tmp_path / "records" / record_name(record_write("{}"))
        age(again, 25)
        call_command("sweep_runs", verbosity=0)
        assert again.exists(), "the day is not over"
        cache.clear()
        call_command("sweep_runs", verbosity=0)
        assert not again.exists()


class TestObjects:
    """A storage without paths, as object stores are."""

    @pytest.fixture(autouse=True)
    def _objects(self, settings, _clean):
        settings.STORAGES = settings.STORAGES | {
            "records": {"BACKEND": "django.core.files.storage.InMemoryStorage"}
        }

    def test_records_are_written_read_listed_and_swept(self, monkeypatch):
        digest, other = record_write('{"a":1}'), record_write("{}")
        record_write("{}")
        assert record_read(other) == b"{}"
        assert {found for _, found, _ in record_store.record_files()} == {digest, other}
        later = clock.now() + timedelta(days=2)
        monkeypatch.setattr(clock, "now", lambda: later)
        assert len(records.orphans_sweep()) == 2
        with pytest.raises(record_store.RecordMissing):
            record_read(digest)

    def test_a_damaged_object_is_mended_by_the_next_write(self):
        digest = record_write("{}")
        storage = record_store.storages["records"]
        with storage.open(record_name(digest), "wb") as file:
            file.write(b"rubbish")
        with pytest.raises(record_store.RecordDamaged):
            record_read(digest)
        record_write("{}")
        assert record_read(digest) == b"{}"


class TestSetting:
    @pytest.mark.parametrize(
        ("address", "location"),
        [("", "/data/records"), ("file:///srv/ember%20records", "/srv/ember records")],
    )
    def test_files(self, monkeypatch, address, location):
        monkeypatch.setenv("STORAGE", address)
        storage = environment.record_storage(Path("/data"))
        assert storage["BACKEND"].endswith("FileSystemStorage")
        assert storage["OPTIONS"] == {"location": location}

    def test_a_bucket(self, monkeypatch):
        monkeypatch.setenv(
            "STORAGE", "s3://ember.records/a/b/?endpoint_url=https%3A%2F%2Fs3.example%3A9000&region_name=eu-1"
        )
        storage = environment.record_storage(Path("/data"))
        assert storage["BACKEND"] == "storages.backends.s3.S3Storage"
        assert storage["OPTIONS"] == {
            "bucket_name": "ember.records",
            "location": "a/b",
            "file_overwrite": True,
            "default_acl": None,
            "endpoint_url": "https://s3.example:9000",
            "region_name": "eu-1",
        }

    @pytest.mark.parametrize(
        "address", ["s3://", "s3:///x", "ftp://host/x", "/srv", "s3://b?acl=x", "file:x"]
    )
    def test_what_is_neither_is_refused_with_what_was_expected(self, monkeypatch, address):
        monkeypatch.setenv("STORAGE", address)
        with pytest.raises(ImproperlyConfigured, match="STORAGE"):
            environment.record_storage(Path("/data"))


@pytest.mark.usefixtures("suite")
def test_no_space_is_our_side_retryable_and_leaves_no_half_row(agent, ann, tmp_path, monkeypatch):
    """Trial S16, through the API, with the disk full at the second of ten records."""
    real, writes = os.replace, []

    def full(source: object, target: object) -> None:
        writes.append(target)
        if len(writes) == 2:
            raise OSError(28, "No space left on device")
        real(source, target)  # type: ignore[arg-type]

    monkeypatch.setattr("ember_site.runs.record_store.os.replace", full)
    address = reverse("api_submission_list", query={"agent": agent.slug})
    api = client_of(ann)
    answer = api.post(address, ten(), content_type="application/x-ndjson")
    assert (answer.status_code, answer.json()["code"]) == (503, "store_unavailable")
    assert "our" in answer.json()["detail"]
    assert int(answer["Retry-After"]) > 0
    assert not Submission.objects.exists()
    assert not Run.objects.exists()
    again = api.post(address, ten(), content_type="application/x-ndjson")
    assert again.status_code == 201, "the same request is taken when there is room"
    assert again.json()["counts"]["total"] == 10
