"""Collecting static files into the data folder, only when they changed."""

import hashlib
from pathlib import Path

import django
from django.conf import settings
from django.contrib.staticfiles.finders import get_finders
from django.core.management import call_command

MARK = ".sources"


def static_fingerprint() -> str:
    """Give a text that changes when any static file was added, removed or changed."""
    digest = hashlib.sha256(django.get_version().encode())
    for finder in get_finders():
        for path, storage in finder.list(ignore_patterns=[]):
            status = Path(storage.path(path)).stat()
            digest.update(f"{path}\0{status.st_size}\0{status.st_mtime_ns}\n".encode())
    return digest.hexdigest()


def static_collect() -> bool:
    """Collect the static files if they changed since the last time; tell whether they had."""
    mark = Path(settings.STATIC_ROOT) / MARK
    fingerprint = static_fingerprint()
    if mark.exists() and mark.read_text(encoding="ascii") == fingerprint:
        return False
    call_command("collectstatic", interactive=False, clear=True, verbosity=0)
    mark.write_text(fingerprint, encoding="ascii")
    return True
