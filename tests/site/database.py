"""The database of the tests, for the processes that they start."""

from __future__ import annotations

from pathlib import Path
from urllib.parse import quote

from django.db import connection


def database_url() -> str:
    """The address of the test database, as `DATABASE_URL` takes it."""
    at = {name: str(connection.settings_dict[name]) for name in ("NAME", "USER", "PASSWORD", "HOST", "PORT")}
    if connection.vendor == "sqlite":
        return f"sqlite:///{Path(at['NAME']).as_posix()}"
    who = f"{quote(at['USER'])}:{quote(at['PASSWORD'])}".rstrip(":")
    return f"postgres://{who}@{at['HOST']}:{at['PORT'] or 5432}/{at['NAME']}"
