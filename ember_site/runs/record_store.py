"""Run records as files: compressed, named by their digest, behind Django's storage API.

A record is written before the row that names it commits, so a row never points at nothing; what a
failed transaction leaves behind is an unused file with correct content. Writing the same record
again is harmless, and makes its file young again. Reading checks the digest: a changed or missing file
is noticed, never served. A sweep takes files that no row names once they are a day old.
"""

from __future__ import annotations

import gzip
import hashlib
import os
import re
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from datetime import datetime
from pathlib import Path
from uuid import uuid4

from django.core.files.base import ContentFile
from django.core.files.storage import FileSystemStorage, Storage, storages

STORAGE_ALIAS = "records"
COMPRESSION = 6
DIGEST = re.compile(r"[0-9a-f]{64}")
RECORD_FILE = re.compile(r"([0-9a-f]{64})\.json\.gz")


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
    with _storage_errors():
        if storage.exists(name):
            if not _is_intact(storage, digest):
                storage.delete(name)
            elif _renewed(storage, name):
                return digest
        _save(storage, name, gzip.compress(data, COMPRESSION, mtime=0))
    return digest


def record_read(digest: str) -> bytes:
    """
    The canonical bytes of a record.

    Raises:
        RecordMissing: there is no such file.
        RecordDamaged: the file is not what was written.
        OSError: the storage cannot be read now.
    """
    with _storage_errors():
        return _read(storages[STORAGE_ALIAS], digest)


def record_files() -> Iterator[tuple[str, str | None, datetime]]:
    """
    Every file in the store: its name, the digest that it is named by, and when it was last written.

    The digest is None for a file that is no record, such as the rest of a write that was killed.

    Raises:
        OSError: the storage cannot be read now.
    """
    storage = storages[STORAGE_ALIAS]
    with _storage_errors():
        for folder in ("", *_folders(storage, "")):
            for file in _listed(storage, folder)[1]:
                name = f"{folder}{file}"
                found = RECORD_FILE.fullmatch(file)
                with suppress(FileNotFoundError):  # swept or finished meanwhile
                    yield name, found[1] if found else None, storage.get_modified_time(name)


def record_file_remove(name: str, *, unless: Callable[[], bool]) -> bool:
    """
    Delete a file of the store, unless it turns out to be wanted once it is out of everybody's way.

    On a file system it is put aside first: a writer who comes meanwhile finds nothing and writes anew. An
    object store has no such way aside; there the question is asked right before the deletion.

    Raises:
        OSError: the storage cannot be changed now.
    """
    storage = storages[STORAGE_ALIAS]
    with _storage_errors():
        path = _path(storage, name)
        if path is None:
            if unless():
                return False
            storage.delete(name)
            return True
        aside = path.with_name(f".{path.name}.{uuid4().hex}.aside")
        try:
            path.rename(aside)
            wanted = True
            try:
                wanted = unless()
            finally:
                if wanted and not path.exists():
                    aside.rename(path)
                else:
                    aside.unlink()
        except FileNotFoundError:
            return False
        return not wanted


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


@contextmanager
def _storage_errors() -> Iterator[None]:
    """Object stores fail with errors of their libraries: here all of them are `OSError`, our side."""
    try:
        yield
    except (RecordStoreError, OSError):
        raise
    except Exception as error:
        if type(error).__module__.startswith("botocore."):
            raise OSError(f"the record store failed: {type(error).__name__}") from error
        raise


def _folders(storage: Storage, parent: str) -> Iterator[str]:
    for folder in _listed(storage, parent)[0]:
        yield f"{parent}{folder}/"
        yield from _folders(storage, f"{parent}{folder}/")


def _listed(storage: Storage, folder: str) -> tuple[list[str], list[str]]:
    """Folders and files in a folder, sorted; nothing where there is no such folder yet."""
    try:
        folders, files = storage.listdir(folder)
    except FileNotFoundError:
        return [], []
    return sorted(name for name in folders if name), sorted(name for name in files if name)


def _renewed(storage: Storage, name: str) -> bool:
    """Make a file young again, so that no sweep takes it before its row commits; False: write it anew."""
    path = _path(storage, name)
    if path is None:
        return False
    try:
        os.utime(path)
    except FileNotFoundError:
        return False
    return True


def _path(storage: Storage, name: str) -> Path | None:
    """Where a file lies on disk; None in an object store."""
    return Path(storage.path(name)) if isinstance(storage, FileSystemStorage) else None


def _is_intact(storage: Storage, digest: str) -> bool:
    try:
        _read(storage, digest)
    except RecordStoreError:
        return False
    return True


def _save(storage: Storage, name: str, packed: bytes) -> None:
    target = _path(storage, name)
    if target is None:
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
