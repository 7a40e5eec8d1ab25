"""The decoder of record files: what is one record, what is refused, where, and with which limit."""

from __future__ import annotations

import gzip
import io
import json
import tracemalloc
import zlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from simulator import RecordFormatError, RunRecord, record_files
from simulator.limits import LIMITS, MIB, Limits, size_text
from simulator.record_files import RecordFileError, RecordLine, iter_records, record_file_error

RECORD: dict[str, object] = {"header": {"seed": 0}, "steps": [], "termination": None}
COMPACT = json.dumps(RECORD)
INDENTED = json.dumps(RECORD, indent=2)
SMALL = Limits(file_bytes=1000, unpacked_bytes=2000, records=3, steps=5)


def read(data: bytes, limits: Limits | None = LIMITS, *, gzipped_ok: bool = True) -> list[RecordLine]:
    return list(iter_records(io.BytesIO(data), limits=limits, gzipped_ok=gzipped_ok))


def texts(data: bytes) -> list[tuple[int, str | None]]:
    return [(line.number, line.text.decode() if line.text else None) for line in read(data)]


def refusal(data: bytes, limits: Limits = LIMITS) -> RecordFileError:
    """The error that refuses the file; it comes last and comes alone."""
    *before, last = read(data, limits)
    assert all(line.error is None for line in before)
    assert last.text is None
    assert last.error is not None
    assert last.error.whole_file
    assert record_file_error(io.BytesIO(data), limits=limits) == last.error
    return last.error


class SlowStream:
    """Gives one byte at a time, as a pipe may."""

    def __init__(self, data: bytes) -> None:
        self._data = io.BytesIO(data)

    def read(self, size: int, /) -> bytes:
        return self._data.read(min(size, 1))


# --- what is a record -------------------------------------------------------------------------------------


def test_each_line_is_a_record_and_blank_lines_are_counted_but_skipped() -> None:
    data = f"\n{COMPACT}\r\n\n  \t\n{COMPACT}".encode()
    assert texts(data) == [(2, COMPACT), (5, COMPACT)]


def test_one_object_over_several_lines_is_one_record() -> None:
    assert texts(f"\n{INDENTED}\n".encode()) == [(2, INDENTED)]


@pytest.mark.parametrize("indent", [0, 1, 2, "\t"])
def test_every_kind_of_indentation_is_one_record(indent: int | str) -> None:
    [line] = read(json.dumps(RECORD, indent=indent).encode())
    assert line.text is not None
    assert json.loads(line.text) == RECORD


def test_blank_lines_inside_a_record_keep_positions_true() -> None:
    text = INDENTED.replace("\n", "\n\n", 2)
    [(number, got)] = texts(text.encode())
    assert number == 1
    assert got is not None
    assert got.count("\n") == text.count("\n")


def test_a_cut_first_line_does_not_swallow_the_good_ones_after_it() -> None:
    cut = COMPACT[:-21]
    assert texts(f"{cut}\n{COMPACT}\n{COMPACT}\n".encode()) == [(1, cut), (2, COMPACT), (3, COMPACT)]


def test_a_bad_line_is_one_line() -> None:
    lines = [COMPACT, "{bad", "17", COMPACT]
    assert [text for _, text in texts("\n".join(lines).encode())] == lines


def test_gzip_is_known_by_its_content() -> None:
    assert texts(gzip.compress(f"{COMPACT}\n{COMPACT}".encode())) == [(1, COMPACT), (2, COMPACT)]


def test_gzip_members_after_each_other_are_one_text() -> None:
    data = gzip.compress(COMPACT[:10].encode()) + gzip.compress(f"{COMPACT[10:]}\n".encode()) + b"\0\0\0"
    assert texts(data) == [(1, COMPACT)]


@pytest.mark.parametrize("offset", [0, 10, 63, 64, 4095, 4096, 5000, 20_000])
def test_a_zero_byte_means_the_same_however_the_file_comes(offset: int) -> None:
    data = bytearray("\n".join([COMPACT] * 500).encode())
    data[offset] = 0
    whole = [(line.number, line.text, line.error) for line in read(bytes(data))]
    assert whole[-1][2] is None or offset < record_files.HEAD_BYTES
    for other in (iter_records(SlowStream(bytes(data))), read(gzip.compress(data))):
        assert [(line.number, line.text, line.error) for line in other] == whole


@pytest.mark.parametrize("data", [f"{COMPACT}\n{COMPACT}".encode(), gzip.compress(COMPACT.encode())])
def test_a_slow_pipe_gives_the_same_records(data: bytes) -> None:
    assert list(iter_records(SlowStream(data))) == read(data)


# --- what is refused --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (b"", "empty"),
        (b"\n \r\n\t", "blank lines"),
        (gzip.compress(b""), "empty"),
        (b"\x89PNG\r\n\x1a\n" + b"0" * 40, "PNG"),
        (b"PK\x03\x04....", "zip"),
        (b"\xef\xbb\xbf" + COMPACT.encode(), "byte order mark"),
        (COMPACT.encode("utf-16"), "UTF-16"),
        (COMPACT.encode("utf-16-le"), "UTF-16"),
        (COMPACT.encode("utf-16-be"), "UTF-16"),
        (COMPACT.encode("utf-32"), "UTF-"),
        (b'{"a": "\x00"}', "binary"),
        (gzip.compress(gzip.compress(COMPACT.encode())), "twice"),
        (gzip.compress(COMPACT.encode())[:-9], "cut"),
        (gzip.compress(COMPACT.encode())[:12], "cut"),
        (b"\x1f\x8b", "cut"),
        (b"\x1f\x8bgarbage that is no gzip header", "damaged"),
        (gzip.compress(COMPACT.encode()) + b"tail", "damaged"),
        (f"[{COMPACT}, {COMPACT}]".encode(), "a list"),
        (f"[\n{INDENTED}\n]".encode(), "a list"),
    ],
)
def test_what_is_no_record_file_is_refused_with_a_reason(data: bytes, said: str) -> None:
    error = refusal(data)
    assert error.code == "record_format"
    assert said in error.message
    assert list(iter_records(SlowStream(data)))[-1].error == error


def test_records_before_a_cut_are_given_and_the_place_is_the_line() -> None:
    lines = "\n".join([COMPACT] * 2000).encode()
    got = read(gzip.compress(lines, compresslevel=0)[:-5000])
    assert got[0].text == COMPACT.encode()
    assert got[-1].error is not None
    assert got[-1].error.place == f"line {len(got)}"


def test_damage_inside_gzip_is_an_error_and_never_a_crash() -> None:
    good = gzip.compress(f"{COMPACT}\n".encode() * 50)
    for index in range(len(good)):
        damaged = good[:index] + bytes([good[index] ^ 0x55]) + good[index + 1 :]
        for line in read(damaged):
            assert (line.text is None) == (line.error is not None)


def test_a_line_that_is_not_utf8_leaves_the_others_alone() -> None:
    first, second, third = read(f"{COMPACT}\n".encode() + b'{"a": "\xff"}\n' + COMPACT.encode())
    assert first.error is None
    assert third.error is None
    assert second.error is not None
    assert not second.error.whole_file
    assert second.error.place == "line 2"
    assert "0xff at offset 7" in second.error.message


def test_gzip_can_be_forbidden() -> None:
    [line] = read(gzip.compress(COMPACT.encode()), gzipped_ok=False)
    assert line.error is not None
    assert "gzipped" in line.error.message


# --- limits -----------------------------------------------------------------------------------------------


def test_the_limit_itself_is_allowed_and_one_byte_more_is_not() -> None:
    padding = b" " * (SMALL.file_bytes - len(COMPACT))
    assert [line.error for line in read(COMPACT.encode() + padding, SMALL)] == [None]
    error = refusal(COMPACT.encode() + padding + b" ", SMALL)
    assert (error.code, error.limit) == ("limit_exceeded", 1000)
    assert "1,000 bytes a file" in error.message


def test_the_unpacked_limit_is_exact_too() -> None:
    full = COMPACT.encode() + b" " * (SMALL.unpacked_bytes - len(COMPACT))
    assert [line.error for line in read(gzip.compress(full), SMALL)] == [None]
    error = refusal(gzip.compress(full + b" "), SMALL)
    assert (error.code, error.limit) == ("limit_exceeded", 2000)


def test_one_record_too_many_is_refused_after_the_allowed_ones() -> None:
    limits = Limits(records=3)
    assert len([line for line in read(f"{COMPACT}\n".encode() * 3, limits) if line.error is None]) == 3
    error = refusal(f"{COMPACT}\n".encode() * 4, limits)
    assert (error.code, error.limit, error.place) == ("limit_exceeded", 3, "line 4")
    assert "3 records a file" in error.message


def step_text(number: int) -> str:
    return (
        f'{{"actions":{{"ignitions":"east"}},"casualties":[],"evacuations":[],"ignitions":[],'
        f'"movements":{{"ignitions":"moved"}},"state":{{}},"step":{number}}}'
    )


@pytest.mark.parametrize(("steps", "refused"), [(5, False), (6, True)])
def test_one_step_too_many_refuses_that_record_alone(steps: int, refused: bool) -> None:
    limits = Limits(steps=5)
    long = f'{{"header":{{}},"steps":[{",".join(map(step_text, range(1, steps + 1)))}]}}'
    first, second = read(f"{long}\n{COMPACT}".encode(), limits)
    assert second.error is None
    assert (first.error is not None) == refused
    if first.error is not None:
        assert (first.error.code, first.error.limit, first.error.whole_file) == ("limit_exceeded", 5, False)
        assert first.error.place == "line 1, steps[5]"


def test_a_bomb_is_refused_in_bounded_memory() -> None:
    packer = zlib.compressobj(9, wbits=31)
    bomb = b"".join(packer.compress(b"\n" * MIB) for _ in range(256)) + packer.flush()
    tracemalloc.start()
    error = refusal(bomb)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert (error.code, error.limit) == ("limit_exceeded", LIMITS.unpacked_bytes)
    assert peak < 4 * MIB


def test_a_file_of_nothing_but_tiny_members_is_read_without_trouble() -> None:
    data = gzip.compress(b"") * 50_000 + gzip.compress(COMPACT.encode())
    assert texts(data) == [(1, COMPACT)]


def test_many_records_are_read_in_bounded_memory() -> None:
    data = (COMPACT + " " * 7000 + "\n").encode() * 1999
    stream = io.BytesIO(data)
    tracemalloc.start()
    count = sum(1 for line in iter_records(stream, limits=LIMITS) if line.error is None)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert count == 1999
    assert peak < MIB


def test_without_limits_nothing_is_too_large() -> None:
    data = f"{COMPACT}\n".encode() * 2500
    assert all(line.error is None for line in read(data, None))


def test_the_words_of_the_limits_are_the_published_ones() -> None:
    assert LIMITS.texts == (
        "16 MiB a file",
        "64 MiB unpacked",
        "2,000 records a file",
        "100,000 steps a record",
    )
    assert [size_text(n) for n in (1, 1000, 2048)] == ["1 byte", "1,000 bytes", "2 KiB"]
    assert 400_000 < LIMITS.person_steps() < 500_000


# --- anything at all --------------------------------------------------------------------------------------


@given(st.binary(max_size=400), st.booleans())
def test_any_bytes_give_lines_or_an_error_and_never_raise(data: bytes, packed: bool) -> None:
    lines = read(gzip.compress(data) if packed else data, SMALL)
    assert lines
    assert all((line.text is None) != (line.error is None) for line in lines)
    assert all(line.error is None or not line.error.whole_file for line in lines[:-1])


@given(st.lists(st.sampled_from([COMPACT, "{", "}", '{"a": [', "[1", '"', "", " ", INDENTED]), max_size=8))
def test_no_text_is_lost(lines: list[str]) -> None:
    data = "\n".join(lines)
    got = read(data.encode())
    if got[-1].error is None:
        assert b"\n".join((line.text or b"") for line in got).split() == data.encode().split()


HOSTILE_LINES = [
    b'{"' + b'\\"' * 1_000_000,
    b'{"' + b"\\" * 2_000_001,
    b'{"' + b"a" * 4_000_000,
    b'{"a":' + b'"",' * 1_000_000,
    b'{"a":' + b'["\\\\",' * 500_000,
    b'"' * 4_000_001,
    b'{"header":{},"steps":"' + b'\\"' * 1_000_000,
    b'{"a' + b'":{"a' * 500_000,
    b"{" * 2_000_000 + b'"' + b"}" * 1_000_000,
]


@pytest.mark.parametrize("tail", [b"", b"\n{}", b'\n"', b"\n\\"], ids=repr)
@pytest.mark.parametrize("number", range(len(HOSTILE_LINES)))
def test_a_hostile_line_takes_time_in_proportion_to_its_length(number: int, tail: bytes) -> None:
    # A pattern that begins anew at each quote would take hours for these, and hold the whole process.
    lines = list(iter_records(io.BytesIO(HOSTILE_LINES[number] + tail)))
    assert lines
    for line in lines:
        if line.text is not None:
            with pytest.raises(RecordFormatError):
                RunRecord.from_json(line.text)


@pytest.mark.parametrize("chunk_bytes", [1, 2, 3, 7, 64 * 1024])
def test_brackets_and_quotes_within_strings_open_nothing(
    monkeypatch: pytest.MonkeyPatch, chunk_bytes: int
) -> None:
    monkeypatch.setattr(record_files, "CHUNK_BYTES", chunk_bytes)
    for line, is_open in (
        (b'{"a":"}\\"{[",', True),
        (b'{"a\\\\":[1,', True),
        (b'{"a":"[[[["},', False),
        (b'{"a":"\\\\\\"{"', True),
        (b'{"a":"unfinished {', False),
        (b'{"a":"unfinished \\"', False),
        (b'"{",', False),
    ):
        assert record_files._is_open(line) == is_open, line
