"""Write a file whole or not at all."""

from __future__ import annotations

import gzip
import os
import stat
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO, cast

from simulator.command.output import CommandError, os_reason

WriteText = Callable[[str], None]


@contextmanager
def file_replaced(name: str) -> Iterator[WriteText]:
    """
    Give a function that writes text; when the block ends well, the file of that name holds all of it.

    Until then the text is in a temporary file in the same directory, which is removed if the block
    raises: an older file of that name stays as it was. A name that ends in ``.gz`` is gzipped. What is no
    regular file (a pipe, ``/dev/null``) is written directly.

    Raises:
        CommandError: The file cannot be made there.
    """
    path = Path(os.path.realpath(name))
    try:
        with _opened(path) as stream:
            if name.endswith(".gz"):
                with gzip.GzipFile(filename="", fileobj=stream, mode="wb", mtime=0) as packed:
                    yield lambda text: _write(cast(BinaryIO, packed), text)
            else:
                yield lambda text: _write(stream, text)
    except _NotWritable as problem:
        message = f"cannot be written ({problem})"
        raise CommandError.wrong_use(message, file=name, code="file_unwritable") from problem


class _NotWritable(Exception):
    """Opening or making the file failed."""


def _write(stream: BinaryIO, text: str) -> None:
    stream.write(text.encode("utf-8"))


@contextmanager
def _opened(path: Path) -> Iterator[BinaryIO]:
    mode = _mode_of(path)
    if stat.S_ISDIR(mode):
        raise _NotWritable("it is a directory")
    if not stat.S_ISREG(mode):
        with _open_special(path) as stream:
            yield stream
        return
    handle, temporary = _temporary_beside(path)
    try:
        with os.fdopen(handle, "wb") as stream:
            yield stream
            stream.flush()
            os.fsync(stream.fileno())
        os.chmod(temporary, stat.S_IMODE(mode))
        os.replace(temporary, path)
    except BaseException:
        with suppress(OSError):
            os.unlink(temporary)
        raise


def _open_special(path: Path) -> BinaryIO:
    try:
        return open(path, "wb")
    except OSError as problem:
        raise _NotWritable(os_reason(problem)) from problem


def _temporary_beside(path: Path) -> tuple[int, str]:
    try:
        return tempfile.mkstemp(dir=path.parent, prefix=f".{path.name[:100]}.", suffix=".part")
    except OSError as problem:
        raise _NotWritable(os_reason(problem)) from problem


def _mode_of(path: Path) -> int:
    """Type and permissions of the file that is replaced, or those of a new regular file."""
    try:
        return path.stat().st_mode
    except FileNotFoundError:
        mask = os.umask(0)
        os.umask(mask)
        return stat.S_IFREG | (0o666 & ~mask)
    except OSError as problem:  # too long a name, a loop of links, a directory that may not be entered
        raise _NotWritable(os_reason(problem)) from problem
