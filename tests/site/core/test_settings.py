"""Settings are safe without any variable set, and strict with a public address."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from django.core.checks import run_checks

from ember_site import environment
from tests.site_server import ROOT

REPORT = """
import json
from django.conf import settings as s
names = ["DEBUG", "SECRET_KEY", "ALLOWED_HOSTS", "SESSION_COOKIE_SECURE", "CSRF_COOKIE_SECURE",
         "CSRF_TRUSTED_ORIGINS", "ACCOUNT_EMAIL_VERIFICATION", "EMAIL_BACKEND"]
report = {name: getattr(s, name) for name in names}
report["redirect"] = s.SECURE_SSL_REDIRECT
report["engine"] = s.DATABASES["default"]["ENGINE"]
report["options"] = s.DATABASES["default"]["OPTIONS"]
report["records"] = s.STORAGES["records"]["OPTIONS"]["location"]
report["layer"] = s.CHANNEL_LAYERS["default"]["BACKEND"]
print(json.dumps(report))
"""


def settings_with(data: Path, **variables: str) -> dict[str, Any]:
    """Read the site's settings in a fresh process with only these variables set."""
    kept = {name: os.environ[name] for name in ("PATH", "SYSTEMROOT") if name in os.environ}
    run = subprocess.run(
        [sys.executable, "-c", REPORT],
        cwd=ROOT,
        env=kept | {"DJANGO_SETTINGS_MODULE": "ember_site.settings", "EMBER_DATA": str(data)} | variables,
        capture_output=True,
        text=True,
        check=True,
    )
    return json.loads(run.stdout)


def test_a_site_at_home_needs_no_variable_and_shows_no_debug_pages(tmp_path: Path) -> None:
    report = settings_with(tmp_path)
    assert report["DEBUG"] is False
    assert len(report["SECRET_KEY"]) >= 50
    assert report["ALLOWED_HOSTS"] == ["localhost", "127.0.0.1", "[::1]"]
    assert report["engine"] == "django.db.backends.sqlite3"
    assert report["options"]["transaction_mode"] == "IMMEDIATE"
    assert "journal_mode=WAL" in report["options"]["init_command"]
    assert report["records"] == str(tmp_path / "records")
    assert report["layer"] == "channels.layers.InMemoryChannelLayer"
    assert report["ACCOUNT_EMAIL_VERIFICATION"] == "none"
    assert report["EMAIL_BACKEND"].endswith("console.EmailBackend")
    assert report["redirect"] is False
    assert settings_with(tmp_path)["SECRET_KEY"] == report["SECRET_KEY"], "the key is kept"


def test_a_public_address_switches_the_safeguards_on(tmp_path: Path) -> None:
    report = settings_with(
        tmp_path,
        EMBER_PUBLIC_URL="https://ember.example/",
        SECRET_KEY="k" * 60,
        DATABASE_URL="postgres://ember:secret@db.example:5433/ember",
        REDIS_URL="redis://cache.example:6379/0",
        EMAIL_URL="smtp+tls://post:secret@mail.example:587",
    )
    assert report["SECRET_KEY"] == "k" * 60
    assert not (tmp_path / "secret_key").exists()
    assert "ember.example" in report["ALLOWED_HOSTS"]
    assert report["CSRF_TRUSTED_ORIGINS"] == ["https://ember.example"]
    assert report["SESSION_COOKIE_SECURE"]
    assert report["CSRF_COOKIE_SECURE"]
    assert report["redirect"] is True
    assert report["engine"] == "django.db.backends.postgresql"
    assert report["layer"].startswith("channels_redis.")
    assert report["ACCOUNT_EMAIL_VERIFICATION"] == "mandatory"
    assert report["EMAIL_BACKEND"].endswith("smtp.EmailBackend")


def test_the_first_process_makes_the_secret_key_and_the_others_read_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("SECRET_KEY", raising=False)
    first = environment.secret_key(tmp_path)
    assert environment.secret_key(tmp_path) == first
    assert [path.name for path in tmp_path.iterdir()] == ["secret_key"]


def test_every_connection_to_sqlite_uses_the_write_ahead_log(db: None) -> None:
    from django.db import connection

    if connection.vendor == "sqlite":
        with connection.cursor() as cursor:
            assert cursor.execute("PRAGMA journal_mode").fetchone() == ("wal",)


@pytest.mark.parametrize(
    ("mail", "address", "warnings"),
    [(True, "", ["ember.W001"]), (True, "https://ember.example", []), (False, "", [])],
)
def test_mails_without_an_address_of_the_site_are_warned_of(
    mail: bool, address: str, warnings: list[str], settings: Any
) -> None:
    settings.HAS_MAIL_SERVER, settings.PUBLIC_URL = mail, address
    assert [found.id for found in run_checks() if str(found.id).startswith("ember.")] == warnings
