"""The record store: exact bytes, atomic, and nothing damaged is ever served."""

from __future__ import annotations

import gzip
import hashlib
import os

import pytest

from ember_site.runs.record_store import RecordDamaged, RecordMissing, record_name, record_read, record_write

TEXT = '{"a":1}'


def test_what_was_written_is_read_under_its_digest():
    digest = record_write(TEXT)
    assert digest == hashlib.sha256(TEXT.encode()).hexdigest()
    assert record_read(digest) == TEXT.encode()


def test_the_same_text_is_the_same_file_to_the_last_byte(tmp_path):
    digest = record_write(TEXT)
    path = tmp_path / "records" / record_name(digest)
    first = path.read_bytes()
    path.unlink()
    record_write(TEXT.encode())
    assert path.read_bytes() == first


def test_writing_again_makes_the_file_young_and_leaves_it_alone_otherwise(tmp_path):
    path = tmp_path / "records" / record_name(record_write(TEXT))
    os.utime(path, (1, 1))
    file = path.stat().st_ino
    record_write(TEXT)
    assert path.stat().st_ino == file
    assert path.stat().st_mtime > 1, "else a sweep could take it before its row commits"


@pytest.mark.parametrize(
    "content", [b"", b"rubbish", gzip.compress(b"{}"), gzip.compress(TEXT.encode())[:-3]]
)
def test_an_altered_file_is_noticed_and_mended_by_the_next_write(tmp_path, content):
    digest = record_write(TEXT)
    (tmp_path / "records" / record_name(digest)).write_bytes(content)
    with pytest.raises(RecordDamaged):
        record_read(digest)
    record_write(TEXT)
    assert record_read(digest) == TEXT.encode()


@pytest.mark.parametrize("digest", ["0" * 64, "", "../../etc/passwd", "A" * 64, "0" * 63])
def test_what_is_not_there_is_missing(digest):
    with pytest.raises(RecordMissing):
        record_read(digest)


def test_a_write_that_fails_leaves_nothing_behind(tmp_path, monkeypatch):
    def fail(source: object, target: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("ember_site.runs.record_store.os.replace", fail)
    with pytest.raises(OSError, match="space"):
        record_write(TEXT)
    assert [path for path in (tmp_path / "records").rglob("*") if path.is_file()] == []
