"""The limits of uploads: read from the settings, enforced and shown from here."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta

from django.conf import settings

from simulator.limits import RECORD_BYTES_PER_PERSON_STEP, Limits


@dataclass(frozen=True, slots=True)
class UploadLimits:
    """What one file may hold, and how many files an account may send in an hour."""

    file: Limits
    uploads_an_hour: int
    malformed_an_hour: int
    dry_runs_an_hour: int

    @property
    def uploads_text(self) -> str:
        """The limit on uploads in words."""
        return f"{self.uploads_an_hour:,} uploads an hour"

    @property
    def malformed_text(self) -> str:
        """The limit on refused files in words."""
        return f"{self.malformed_an_hour:,} malformed files an hour"

    @property
    def dry_runs_text(self) -> str:
        """The limit on dry runs in words."""
        return f"{self.dry_runs_an_hour:,} dry runs an hour"

    @property
    def holds_text(self) -> str:
        """What a file holds, in people and steps."""
        steps = self.file.person_steps() // 100
        return (
            f"About {RECORD_BYTES_PER_PERSON_STEP} bytes for each active person and step: "
            f"one file holds 100 people for about {steps:,} steps in all."
        )

    @property
    def texts(self) -> tuple[str, ...]:
        """Every limit in words, in the order in which an upload meets them."""
        return (*self.file.texts, self.uploads_text, self.malformed_text, self.dry_runs_text)


WINDOW = timedelta(hours=1)


def upload_limits() -> UploadLimits:
    """The limits in force."""
    return UploadLimits(
        file=Limits(
            file_bytes=settings.EMBER_UPLOAD_MAX_BYTES,
            unpacked_bytes=settings.EMBER_UPLOAD_MAX_UNPACKED_BYTES,
            records=settings.EMBER_UPLOAD_MAX_RECORDS,
            steps=settings.EMBER_RECORD_MAX_STEPS,
        ),
        uploads_an_hour=settings.EMBER_UPLOADS_PER_HOUR,
        malformed_an_hour=settings.EMBER_MALFORMED_PER_HOUR,
        dry_runs_an_hour=settings.EMBER_DRY_RUNS_PER_HOUR,
    )
