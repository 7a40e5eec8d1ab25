"""Look after the record store: find records that are missing or altered, sweep files that nobody needs."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import timedelta

from django.core.cache import cache

from ember_site.core import clock
from ember_site.runs.models import Run
from ember_site.runs.record_store import (
    RecordMissing,
    RecordStoreError,
    record_file_remove,
    record_files,
    record_read,
)

logger = logging.getLogger(__name__)

ORPHAN_AGE = timedelta(days=1)
"""A file without a run is kept that long: its row may be about to commit."""

FEW = 100
"""So many files go without a question; of more, at most half."""

SWEEP_KEY = "runs:orphans-swept"


@dataclass(frozen=True, slots=True)
class RecordFault:
    """A record that the store does not have as it was written, with the runs that need it."""

    digest: str
    kind: str
    run_ids: list[str]


@dataclass(frozen=True, slots=True)
class Orphan:
    """A file of the store that no run names; the digest is None where it is no record either."""

    name: str
    digest: str | None

    def is_named(self) -> bool:
        """Whether a run names it by now."""
        return _is_named(self.digest)


class ForeignStore(Exception):
    """The record store looks like that of another database."""


def records_check() -> Iterator[RecordFault | None]:
    """
    Read every stored record and compare it with its digest: a fault, or None where all is well.

    Raises:
        OSError: the storage as a whole cannot be read.
    """
    digests = Run.objects.order_by("digest").values_list("digest", flat=True).distinct()
    for digest in digests.iterator():
        try:
            record_read(digest)
        except RecordStoreError as error:
            kind = "missing" if isinstance(error, RecordMissing) else "altered"
            ids = Run.objects.filter(digest=digest).order_by("created_at", "id").values_list("pk", flat=True)
            yield RecordFault(digest, kind, [str(pk) for pk in ids])
        else:
            yield None


def orphans_find() -> tuple[list[Orphan], int]:
    """
    Files of the record store that no run names and that are older than a day, and the number of all files.

    Raises:
        OSError: the storage cannot be read now.
    """
    limit = clock.now() - ORPHAN_AGE
    orphans, count = [], 0
    for name, digest, written in record_files():
        count += 1
        if written <= limit and not _is_named(digest):
            orphans.append(Orphan(name, digest))
    return orphans, count


def orphans_sweep(*, force: bool = False) -> list[str]:
    """
    Remove the orphans of the record store; give the names of the files.

    Safe beside uploads: whoever stores a record makes its file young again, and each file is looked at
    once more when it has been put aside.

    Raises:
        ForeignStore: most of the files would go. With `force` they do.
        OSError: the storage cannot be read or changed now.
    """
    orphans, count = orphans_find()
    if not force and len(orphans) > max(FEW, count / 2):
        raise ForeignStore(
            f"{len(orphans):,} of {count:,} files in the record store have no run in this database; "
            "it seems to be the store of another one. Nothing was removed."
        )
    return [orphan.name for orphan in orphans if record_file_remove(orphan.name, unless=orphan.is_named)]


def orphans_sweep_daily() -> None:
    """Sweep unless it was done within the last day. A store that cannot be swept now is told in the log."""
    if not cache.add(SWEEP_KEY, True, ORPHAN_AGE.total_seconds()):
        return
    try:
        swept = orphans_sweep()
    except ForeignStore as error:
        logger.warning("%s Look at `sweep_records --dry-run`.", error)
    except OSError:
        logger.exception("the record store could not be swept")
    else:
        if swept:
            logger.info("swept %d files without a run from the record store", len(swept))


def _is_named(digest: str | None) -> bool:
    return digest is not None and Run.objects.filter(digest=digest).exists()
