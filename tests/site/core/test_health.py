"""What machines that watch the site are told."""

from typing import Any

import pytest
from django.db import OperationalError
from django.test import Client

from ember_site.web import health_views


def test_healthz_answers_without_asking_the_database(client: Client) -> None:
    answer = client.get("/healthz")
    assert answer.status_code == 200
    assert answer.json() == {"status": "ok"}


@pytest.mark.django_db
def test_readyz_is_ready_when_every_migration_is_applied(client: Client) -> None:
    assert client.get("/readyz").json() == {"status": "ok", "database": "ok"}


@pytest.mark.django_db
def test_readyz_waits_for_migrations(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(health_views.MigrationExecutor, "migration_plan", lambda self, targets: [1, 2])
    answer = client.get("/readyz")
    assert answer.status_code == 503
    assert answer.json()["migrations_waiting"] == 2


@pytest.mark.django_db
def test_readyz_says_when_the_database_is_away(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    def away(connection: Any) -> None:
        raise OperationalError("password of the database")

    monkeypatch.setattr(health_views, "MigrationExecutor", away)
    answer = client.get("/readyz")
    assert answer.status_code == 503
    assert "password" not in answer.content.decode()


@pytest.mark.django_db
def test_readyz_says_when_the_cache_is_away(client: Client, settings: Any) -> None:
    nowhere = "redis://:password@127.0.0.1:1/0"
    settings.CACHES = {
        "default": {"BACKEND": "django.core.cache.backends.redis.RedisCache", "LOCATION": nowhere}
    }
    answer = client.get("/readyz")
    assert (answer.status_code, answer.json()["cache"]) == (503, "no answer")
    assert "password" not in answer.content.decode()
    assert client.get("/healthz").status_code == 200
