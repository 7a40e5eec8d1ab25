"""
The limits of a record file: one place for the numbers and for the words that state them.

The command, the upload page and the API enforce these numbers and show these sentences, so
that a limit reads the same wherever somebody meets it.
"""

from __future__ import annotations

from dataclasses import dataclass

MIB = 1024 * 1024

#: What one active person adds to a record in one step, in bytes: about, for planning only.
RECORD_BYTES_PER_PERSON_STEP = 137


@dataclass(frozen=True, slots=True)
class Limits:
    """
    How large a record file may be.

    `file_bytes` counts the bytes as they are sent, `unpacked_bytes` the text after gzip is undone,
    `records` the records of one file and `steps` the steps of one record. Each limit itself is
    still allowed; one more is refused with the code `limit_exceeded`.

    Source: product design, section 5.
    """

    file_bytes: int = 16 * MIB
    unpacked_bytes: int = 64 * MIB
    records: int = 2_000
    steps: int = 100_000

    @property
    def file_text(self) -> str:
        return f"{size_text(self.file_bytes)} a file"

    @property
    def unpacked_text(self) -> str:
        return f"{size_text(self.unpacked_bytes)} unpacked"

    @property
    def records_text(self) -> str:
        return f"{self.records:,} records a file"

    @property
    def steps_text(self) -> str:
        return f"{self.steps:,} steps a record"

    @property
    def texts(self) -> tuple[str, str, str, str]:
        """All four limits in words, in the order in which a file meets them."""
        return (self.file_text, self.unpacked_text, self.records_text, self.steps_text)

    def person_steps(self) -> int:
        """About how many (person, step) pairs one unpacked file holds: 100 people for 10 steps are 1,000."""
        return self.unpacked_bytes // RECORD_BYTES_PER_PERSON_STEP


def size_text(size_bytes: int) -> str:
    """A size in words: `16 MiB` where it is a whole number of MiB or KiB, else `1,234 bytes`."""
    if size_bytes and size_bytes % MIB == 0:
        return f"{size_bytes // MIB:,} MiB"
    if size_bytes and size_bytes % 1024 == 0:
        return f"{size_bytes // 1024:,} KiB"
    return f"{size_bytes:,} byte" if size_bytes == 1 else f"{size_bytes:,} bytes"


LIMITS = Limits()
