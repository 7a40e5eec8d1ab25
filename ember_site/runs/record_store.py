"""Run records as files: compressed, named by their digest, behind Django's storage API.

A record is written before the row that names it commits, so a row never points at nothing; what a
failed transaction leaves behind is an unused file with correct content. Writing the same record
again is harmless. Reading checks the digest: a changed or missing file is noticed, never served.
"""

from __future__ import annotations

import gzip
import hashlib
import os
import re
import zlib
from pathlib import Path
from uuid import uuid4

from django.core.files.base import ContentFile
from django.core.files.storage import Storage, storages

STORAGE_ALIAS = "records"
COMPRESSION = 6
DIGEST = re.compile(r"[0-9a-f]{64}")


class RecordStoreError(Exception):
    """The store does not have the record as it was written. The site's fault, never the sender's."""


class RecordMissing(RecordStoreError):
    """No file for this digest."""


class RecordDamaged(RecordStoreError):
    """The file for this digest holds something else."""


def record_write(text: str | bytes) -> str:
    """
    Store a record in canonical form and give its digest. The file is complete or absent, never partial.

    Raises:
        OSError: the storage refused, for instance because it is full; nothing is left behind.
    """
    data = text.encode("ascii") if isinstance(text, str) else text
    digest = hashlib.sha256(data).hexdigest()
    storage, name = storages[STORAGE_ALIAS], record_name(digest)
    if storage.exists(name):
        if _is_intact(storage, digest):
            return digest
        storage.delete(name)
    _save(storage, name, gzip.compress(data, COMPRESSION, mtime=0))
    return digest


def record_read(digest: str) -> bytes:
    """
    The canonical bytes of a record.

    Raises:
        RecordMissing: there is no such file.
        RecordDamaged: the file is not what was written.
    """
    return _read(storages[STORAGE_ALIAS], digest)


def record_name(digest: str) -> str:
    """Where a record lies in the storage: two levels of folders keep each of them small."""
    if not DIGEST.fullmatch(digest):
        raise RecordMissing("a record digest is 64 lower-case hexadecimal digits")
    return f"{digest[:2]}/{digest[2:4]}/{digest}.json.gz"


def _read(storage: Storage, digest: str) -> bytes:
    name = record_name(digest)
    try:
        with storage.open(name, "rb") as file:
            packed = file.read()
    except FileNotFoundError as error:
        raise RecordMissing(f"no record {digest} in the store") from error
    try:
        data = gzip.decompress(packed)
    except (OSError, EOFError, zlib.error) as error:
        raise RecordDamaged(f"record {digest} cannot be unpacked") from error
    if hashlib.sha256(data).hexdigest() != digest:
        raise RecordDamaged(f"record {digest} has other content than its digest says")
    return data


def _is_intact(storage: Storage, digest: str) -> bool:
    try:
        _read(storage, digest)
    except RecordStoreError:
        return False
    return True


def _save(storage: Storage, name: str, packed: bytes) -> None:
    try:
        target = Path(storage.path(name))
    except NotImplementedError:
        _save_object(storage, name, packed)
    else:
        _save_file(target, packed)


def _save_object(storage: Storage, name: str, packed: bytes) -> None:
    """An object store puts atomically; the other name it gives where a twin was faster is not needed."""
    given = storage.save(name, ContentFile(packed))
    if given != name:
        storage.delete(given)


def _save_file(target: Path, packed: bytes) -> None:
    """Write beside the target, then rename: readers see the whole file or none."""
    target.parent.mkdir(parents=True, exist_ok=True)
    part = target.with_name(f".{target.name}.{uuid4().hex}.part")
    try:
        with part.open("wb") as file:
            file.write(packed)
            file.flush()
            os.fsync(file.fileno())
        os.replace(part, target)
    finally:
        part.unlink(missing_ok=True)
