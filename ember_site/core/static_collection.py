"""Collecting static files into the data folder, only when they changed."""

import hashlib
from collections.abc import Iterator
from pathlib import Path

import django
from django.conf import settings
from django.contrib.staticfiles.finders import get_finders
from django.core.management import call_command

MARK = ".sources"


def static_sources() -> Iterator[tuple[str, Path]]:
    """Every static file: its name under the static address, and where it comes from."""
    for finder in get_finders():
        for path, storage in finder.list(ignore_patterns=[]):
            prefix = getattr(storage, "prefix", None)
            yield f"{prefix}/{path}" if prefix else path, Path(storage.path(path))


def static_fingerprint() -> str:
    """Give a text that changes when any static file was added, removed or changed."""
    digest = hashlib.sha256(django.get_version().encode())
    for name, source in static_sources():
        status = source.stat()
        digest.update(f"{name}\0{status.st_size}\0{status.st_mtime_ns}\n".encode())
    return digest.hexdigest()


def static_collect() -> bool:
    """
    Collect the static files if they changed since the last time; tell whether they had.

    Files under the names of earlier contents stay: a site that runs on the same folder, and pages that
    were opened before, still ask for them. The plain names are removed first, since a file that is older
    than the one it replaces would not be copied over it.
    """
    root = Path(settings.STATIC_ROOT)
    mark = root / MARK
    fingerprint = static_fingerprint()
    if mark.exists() and mark.read_text(encoding="ascii") == fingerprint:
        return False
    mark.unlink(missing_ok=True)
    for name, _ in static_sources():
        (root / name).unlink(missing_ok=True)
    call_command("collectstatic", interactive=False, verbosity=0)
    mark.write_text(fingerprint, encoding="ascii")
    return True
