"""
The same tests on PostgreSQL, in a pytest of their own, where a server is reachable.

`TEST_DATABASE_URL` names a server whose account may make databases; without it one on this machine is
tried. The databases made are removed afterwards.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from urllib.parse import urlsplit

import psycopg
import pytest

ROOT = Path(__file__).parents[2]
AT_HOME = "postgres://postgres@127.0.0.1:5432/postgres"
AREAS = ("boards", "episodes/test_two_processes.py", "runs/test_killed_at_random.py")


def server_url() -> str | None:
    """A server that answers, or None; one that was named must answer."""
    named = os.environ.get("TEST_DATABASE_URL", "")
    try:
        psycopg.connect(named or AT_HOME, connect_timeout=3).close()
    except psycopg.OperationalError:
        if named:
            raise
        return None
    return named or AT_HOME


@pytest.mark.parametrize("area", AREAS)
def test_the_tests_of_an_area_pass_on_postgresql(area: str):
    url = server_url()
    if url is None:
        pytest.skip(f"No PostgreSQL answers at {AT_HOME}, and TEST_DATABASE_URL names none.")
    database = urlsplit(url)._replace(path=f"/ember_{Path(area).stem}_{os.getpid()}").geturl()
    environment = {name: value for name, value in os.environ.items() if not name.startswith("PYTEST_")}
    finished = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-n", "0", f"tests/site/{area}"],
        cwd=ROOT,
        env=environment | {"DATABASE_URL": database},
        capture_output=True,
        text=True,
        timeout=900,
        check=False,
    )
    assert finished.returncode == 0, finished.stdout[-8000:] + finished.stderr[-2000:]
