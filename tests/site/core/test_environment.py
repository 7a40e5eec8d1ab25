"""Variables that cannot be right, and services that are not there, are told in plain words."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from django.core.exceptions import ImproperlyConfigured
from django.core.management.base import CommandError
from redis.exceptions import ConnectionError as RedisAway

from ember_site import environment
from ember_site.core.management.commands import serve
from tests.patience import PATIENCE_S
from tests.site_server import ROOT


def refusal(data: Path, *command: str, **variables: str) -> str:
    """What a command says that refuses to start; never a traceback."""
    kept = {name: os.environ[name] for name in ("PATH", "SYSTEMROOT") if name in os.environ}
    run = subprocess.run(
        [sys.executable, "-W", "ignore", "manage.py", *command],
        cwd=ROOT,
        env=kept | {"EMBER_DATA": str(data)} | variables,
        capture_output=True,
        text=True,
        timeout=PATIENCE_S,
    )
    assert run.returncode == 1, run.stdout
    assert "Traceback" not in run.stderr
    return run.stderr


@pytest.mark.parametrize(
    ("name", "value", "said"),
    [
        ("EMBER_UPLOADS_PER_HOUR", "many", "EMBER_UPLOADS_PER_HOUR: "),
        ("DATABASE_URL", "rubbish", "DATABASE_URL: expected an address"),
        ("STORAGE", "ftp://elsewhere", "STORAGE: expected file:///folder or s3://bucket/prefix"),
    ],
)
def test_a_variable_that_cannot_be_read_is_named(tmp_path: Path, name: str, value: str, said: str) -> None:
    assert said in refusal(tmp_path, "check", **{name: value})


@pytest.mark.parametrize("address", ["ember.example", "ftp://ember.example", "https://"])
def test_a_slip_in_the_public_address_does_not_leave_the_safeguards_off(
    monkeypatch: pytest.MonkeyPatch, address: str
) -> None:
    monkeypatch.setenv("EMBER_PUBLIC_URL", address)
    with pytest.raises(ImproperlyConfigured, match="EMBER_PUBLIC_URL: expected https://name"):
        environment.public_address()


def test_a_data_folder_that_cannot_be_is_told_with_what_to_do(tmp_path: Path) -> None:
    taken = tmp_path / "file"
    taken.touch()
    said = refusal(taken, "serve")
    assert f"The data folder {taken} cannot be made" in said
    assert "EMBER_DATA=/path/to/folder" in said


def test_a_data_folder_that_cannot_be_written_to_is_told(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("EMBER_DATA", str(tmp_path))
    monkeypatch.setattr(os, "access", lambda path, mode: False)
    with pytest.raises(ImproperlyConfigured, match="Nothing can be written"):
        environment.data_folder()


def test_a_file_that_is_no_database_is_told(tmp_path: Path) -> None:
    (tmp_path / "ember.sqlite3").write_text("no database at all, but a file of words\n" * 100)
    assert "The database cannot be used: " in refusal(tmp_path, "serve", "--port", "0")


def test_a_redis_that_is_not_there_is_told(settings: Any, monkeypatch: pytest.MonkeyPatch, db: None) -> None:
    def away(key: str) -> None:
        raise RedisAway("Connection refused")

    settings.REDIS_URL = "redis://127.0.0.1:1/0"
    monkeypatch.setattr(serve.cache, "get", away, raising=False)
    with pytest.raises(CommandError, match=r"Redis .*REDIS_URL.* Connection refused"):
        serve.services_reach()
