"""
Read files of run records: `.json`, `.jsonl`, either gzipped, told apart by content.

This is the one decoder for `ember verify` and for uploads. It uses the standard library alone, holds
at most one record in memory, and never raises for what a file contains: everything that is wrong
comes as a `RecordLine` with an `error`.

How to use it:

    with open(path, "rb") as stream:
        for line in iter_records(stream):
            if line.error is None:
                verdict = replay(line.text, scenario)
            else:
                print(line.error.code, line.error.place, line.error.message)

* One JSON object that stretches over several lines is one record; otherwise each line is a record.
  Blank lines are skipped but counted: `line.number` is the line where the record starts, from 1.
* `text` is known to be UTF-8, but not parsed: whether it is a record is for the record loader to say. It
  stays bytes, since a single sign beyond ASCII would make a decoded text up to four times as large.
* An error with `whole_file` set ends the file (too large, cut, not text, empty, ...). Records before it
  have been given already. Who wants all or nothing reads the file once for that error with
  `record_file_error`, rewinds, and then reads the records.
* Codes are `record_format` and `limit_exceeded`; `limit` then holds the limit that was hit.
* `OSError` of the stream itself passes through: it is not the file's fault.
"""

from __future__ import annotations

import codecs
import itertools
import re
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal, Protocol

from simulator.limits import LIMITS, Limits

CHUNK_BYTES = 64 * 1024
HEAD_BYTES = 4096
PACKED_PIECE_BYTES = 4096
GZIP_WBITS = 31
WHITESPACE = b" \t\r\n"
GZIP_MAGIC = b"\x1f\x8b"
UTF8_MARK = b"\xef\xbb\xbf"

#: First bytes of files that people pick by mistake.
FOREIGN_FILES = (
    (b"\x89PNG\r\n\x1a\n", "a PNG image"),
    (b"\xff\xd8\xff", "a JPEG image"),
    (b"GIF8", "a GIF image"),
    (b"%PDF", "a PDF document"),
    (b"PK\x03\x04", "a zip archive"),
    (b"PK\x05\x06", "a zip archive"),
    (b"7z\xbc\xaf\x27\x1c", "a 7z archive"),
    (b"\xfd7zXZ\x00", "an xz archive"),
    (b"BZh", "a bzip2 archive"),
    (b"\x28\xb5\x2f\xfd", "a zstd archive"),
    (b"SQLite format 3\x00", "an SQLite database"),
)

#: A key `ignitions` with a list: exactly one in each step, since no other key that may carry a
#: person's ID has a list for its value.
STEP_MARK = re.compile(rb'"ignitions"\s*:\s*\[')
SMALLEST_STEP_BYTES = 100

BLANKS = re.compile(rb"[ \t\r\n]*")
JSON_FAULT = re.compile(r"(expected JSON, got something else at line )(\d+)(?=, column \d)")

Code = Literal["record_format", "limit_exceeded"]


class ByteStream(Protocol):
    """What is needed of a stream: `read(n)` gives up to n bytes, none at the end."""

    def read(self, size: int, /) -> bytes: ...


@dataclass(frozen=True, slots=True)
class RecordFileError:
    """
    Why a file or one record in it was refused.

    `place` is `line 7`, `line 7, steps[100000]` or `file`; `limit` is the number that was exceeded, if any;
    `whole_file` says that nothing after this could be read.
    """

    code: Code
    place: str
    message: str
    limit: int | None = None
    whole_file: bool = False

    @property
    def record_place(self) -> str:
        """The place inside the record, as `steps[100000]`; empty where it is the whole line or file."""
        return self.place.partition(", ")[2]


@dataclass(frozen=True, slots=True)
class RecordLine:
    """One record of a file, from line `number` (from 1): either its `text` or an `error`."""

    number: int
    text: bytes | None
    error: RecordFileError | None = None

    @property
    def place(self) -> str:
        return f"line {self.number}"


class _Refused(Exception):
    """Internal: the file ends here, with this error."""

    def __init__(self, message: str, *, code: Code = "record_format", limit: int | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.code: Code = code
        self.limit = limit


def iter_records(
    stream: ByteStream, *, gzipped_ok: bool = True, limits: Limits | None = LIMITS
) -> Iterator[RecordLine]:
    """
    Give the records of a file one by one, in order, with what is wrong with them.

    Memory is bounded by the largest record, and by `limits.unpacked_bytes`; `limits=None` checks no limit.
    The stream is read forwards only and is not closed. At most one error has `whole_file`: the last.

    Source: product design, section 5; trial T11.
    """
    reader = _LineReader(stream, gzipped_ok=gzipped_ok, limits=limits)
    count = 0
    try:
        for number, raw in _records(reader):
            count += 1
            if limits is not None and count > limits.records:
                raise _Refused(
                    f"more than {limits.records:,} records: the limit is {limits.records_text}",
                    code="limit_exceeded",
                    limit=limits.records,
                )
            yield _record_line(number, raw, limits)
        if count == 0:
            raise _Refused("no record in this file: it holds nothing but blank lines")
    except _Refused as refused:
        number = max(reader.number, 1)
        place = f"line {number}" if reader.number else "file"
        error = RecordFileError(refused.code, place, refused.message, refused.limit, whole_file=True)
        yield RecordLine(number, None, error)


def message_in_file(message: str, number: int) -> str:
    """
    What the loader says of a record, with the line of the file where it counts lines of the record.

    Args:
        message: The loader's sentence.
        number: The line of the file at which the record starts, from 1.
    """
    return JSON_FAULT.sub(lambda found: f"{found[1]}{int(found[2]) + number - 1}", message, count=1)


def record_file_error(
    stream: ByteStream, *, gzipped_ok: bool = True, limits: Limits | None = LIMITS
) -> RecordFileError | None:
    """
    Read a file to its end, keeping nothing, and give the error that refuses it as a whole, if there is one.

    The caller rewinds the stream afterwards.
    """
    for line in iter_records(stream, gzipped_ok=gzipped_ok, limits=limits):
        if line.error is not None and line.error.whole_file:
            return line.error
    return None


def _record_line(number: int, raw: bytes, limits: Limits | None) -> RecordLine:
    raw = raw.strip(WHITESPACE)
    bad = _first_not_utf8(raw)
    if bad is not None:
        message = f"not UTF-8 text: byte 0x{raw[bad]:02x} at offset {bad} of the line"
        return RecordLine(number, None, RecordFileError("record_format", f"line {number}", message))
    if limits is not None and len(raw) > limits.steps * SMALLEST_STEP_BYTES:
        steps = sum(1 for _ in STEP_MARK.finditer(raw))
        if steps > limits.steps:
            message = f"{steps:,} steps: the limit is {limits.steps_text}"
            place = f"line {number}, steps[{limits.steps}]"
            return RecordLine(number, None, RecordFileError("limit_exceeded", place, message, limits.steps))
    return RecordLine(number, raw)


def _first_not_utf8(raw: bytes) -> int | None:
    """Offset of the first byte that is not UTF-8; None where all of them are."""
    if raw.isascii():
        return None
    decoder = codecs.getincrementaldecoder("utf-8")()
    for start in range(0, len(raw), CHUNK_BYTES):
        kept = len(decoder.getstate()[0])
        try:
            decoder.decode(raw[start : start + CHUNK_BYTES], final=start + CHUNK_BYTES >= len(raw))
        except UnicodeDecodeError as error:
            return start - kept + error.start
    return None


def _records(reader: _LineReader) -> Iterator[tuple[int, bytes]]:
    """Group lines to records: (number of the first line, bytes)."""
    first = reader.next_line()
    if first is None:
        return
    number, line = first[0], first[1].strip(WHITESPACE)
    if line.startswith(b"["):
        raise _Refused(
            "expected one record, or one record on each line; got a list: write each record on its own line"
        )
    following = reader.next_line() if _is_open(line) else None
    if following is not None and not _starts_record(following[1]):
        between = b"\n" * (following[0] - number)
        yield number, b"".join([first[1], between, following[1], *reader.rest()])
        return
    yield first
    if following is not None:
        yield following
    while (following := reader.next_line()) is not None:
        yield following


def _is_open(line: bytes) -> bool:
    """Whether a line begins a JSON object that later lines go on with. A line cannot end inside a string."""
    if line.count(b"{") == line.count(b"}") and line.endswith(b"}"):
        return False
    # In pieces and without a pattern that tries each quote anew: the text may be hostile, and the
    # interpreter does nothing else while it searches.
    depth, inside, start = 0, False, 0
    while start < len(line):
        piece = line[start : start + CHUNK_BYTES]
        if (len(piece) - len(piece.rstrip(b"\\"))) % 2:  # an escape is never cut in two
            piece = line[start : start + len(piece) + 1]
        start += len(piece)
        parts = piece.replace(rb"\\", b"").replace(rb"\"", b"").split(b'"')
        bare = b"".join(parts[inside::2])
        depth += bare.count(b"{") + bare.count(b"[") - bare.count(b"}") - bare.count(b"]")
        inside ^= len(parts) % 2 == 0
    return not inside and depth > 0


def _starts_record(line: bytes) -> bool:
    """Whether a line looks like a whole record: then an open line before it was cut, not continued."""
    return line.lstrip(WHITESPACE).startswith(b"{") and b'"header"' in line and b'"steps"' in line


class _LineReader:
    """
    Lines that are not blank, with their numbers; undoes gzip; keeps the limits.

    `number` is the line that was given last. Runs of blank lines cost no work for each line.
    """

    def __init__(self, stream: ByteStream, *, gzipped_ok: bool, limits: Limits | None) -> None:
        self.number = 0
        self._limits = limits
        self._chunks = self._unpacked(stream, gzipped_ok)
        self._chunk = b""
        self._at = 0

    def next_line(self) -> tuple[int, bytes] | None:
        """The next line that is not blank, with its number and without its end, or None."""
        while self._at == len(self._chunk) or self._skip_blanks():
            if not self._next_chunk():
                return None
        parts: list[bytes] = []
        while (end := self._chunk.find(b"\n", self._at)) < 0:
            parts.append(self._chunk[self._at :])
            if not self._next_chunk():
                return self.number, b"".join(parts)
        parts.append(self._chunk[self._at : end])
        self._at = end
        return self.number, b"".join(parts)

    def rest(self) -> Iterator[bytes]:
        """Everything after the line that was given last, its line end included."""
        yield self._chunk[self._at :]
        while self._next_chunk():
            yield self._chunk
            self.number += self._chunk.count(b"\n")

    def _next_chunk(self) -> bool:
        self._chunk, self._at = next(self._chunks, b""), 0
        self.number = self.number or 1
        return bool(self._chunk)

    def _skip_blanks(self) -> bool:
        """Go to the start of the next line that is not blank; True where this chunk has none."""
        start, end = self._at, BLANKS.match(self._chunk, self._at).end()  # type: ignore[union-attr]
        self.number += self._chunk.count(b"\n", start, end)
        if end == len(self._chunk):
            return True
        self._at = max(self._chunk.rfind(b"\n", start, end) + 1, start)
        return False

    def _unpacked(self, stream: ByteStream, gzipped_ok: bool) -> Iterator[bytes]:
        """The text in chunks, its beginning checked for what is no text."""
        head, chunks = _peeked(self._raw(stream))
        if not head:
            raise _Refused("the file is empty")
        if head.startswith(GZIP_MAGIC):
            if not gzipped_ok:
                raise _Refused("gzipped, where plain text is expected")
            head, chunks = _peeked(self._gunzipped(chunks))
            if not head:
                raise _Refused("the gzipped file is empty")
            if head.startswith(GZIP_MAGIC):
                raise _Refused("gzipped twice: undo one of the two")
        _check_head(head[:HEAD_BYTES])  # however much came at once: the answer must not depend on that
        yield from chunks

    def _raw(self, stream: ByteStream) -> Iterator[bytes]:
        """The bytes as sent."""
        size = 0
        while chunk := stream.read(CHUNK_BYTES):
            size += len(chunk)
            if self._limits is not None and size > self._limits.file_bytes:
                raise _Refused(
                    f"larger than the limit of {self._limits.file_text}",
                    code="limit_exceeded",
                    limit=self._limits.file_bytes,
                )
            yield chunk

    def _gunzipped(self, chunks: Iterator[bytes]) -> Iterator[bytes]:
        """
        Undo gzip, of any number of members, never more than one chunk ahead.

        The packed bytes go in small pieces: zlib copies what a member leaves over, and a file may consist of
        nothing but tiny members.
        """
        size = 0
        inflater = zlib.decompressobj(wbits=GZIP_WBITS)
        for piece in _pieces(chunks):
            data = piece
            while data:
                if inflater.eof:
                    data = data.lstrip(b"\x00")  # padding after the last member is allowed
                    if not data:
                        break
                    inflater = zlib.decompressobj(wbits=GZIP_WBITS)
                try:
                    text = inflater.decompress(data, CHUNK_BYTES)
                except zlib.error as error:
                    raise _Refused("the gzip data is damaged") from error
                data = inflater.unused_data if inflater.eof else inflater.unconsumed_tail
                size += len(text)
                if self._limits is not None and size > self._limits.unpacked_bytes:
                    raise _Refused(
                        f"larger than the limit of {self._limits.unpacked_text}",
                        code="limit_exceeded",
                        limit=self._limits.unpacked_bytes,
                    )
                if text:
                    yield text
        if not inflater.eof:
            raise _Refused("the gzip data is cut: the file ends too early")


def _pieces(chunks: Iterator[bytes]) -> Iterator[bytes]:
    for chunk in chunks:
        for start in range(0, len(chunk), PACKED_PIECE_BYTES):
            yield chunk[start : start + PACKED_PIECE_BYTES]


def _peeked(chunks: Iterator[bytes]) -> tuple[bytes, Iterator[bytes]]:
    """At least the first HEAD_BYTES where there are so many, even from a slow pipe, and all chunks again."""
    head = b""
    for chunk in chunks:
        head += chunk
        if len(head) >= HEAD_BYTES:
            break
    return head, itertools.chain([head], chunks)


def _check_head(head: bytes) -> None:
    """Refuse what cannot be a record file, by how it begins."""
    for magic, name in FOREIGN_FILES:
        if head.startswith(magic):
            raise _Refused(f"expected run records as JSON text; this is {name}")
    if head.startswith(UTF8_MARK):
        raise _Refused("starts with a byte order mark: save it as UTF-8 without one")
    if (
        head.startswith((b"\xff\xfe", b"\xfe\xff", b"\x00\x00\xfe\xff"))
        or head[:1] == b"\x00"
        or head[1:2] == b"\x00"
    ):
        raise _Refused("this is UTF-16 or UTF-32 text: save it as UTF-8")
    if b"\x00" in head:
        raise _Refused("expected run records as JSON text; this is a binary file")
