"""The status page and its JSON twin: figures, versions, alerts, and nothing that is nobody's business."""

from __future__ import annotations

from datetime import timedelta
from uuid import uuid4

import pytest
from django.conf import settings as site_settings
from django.db import connection
from django.test import Client

from ember_site.accounts.models import User
from ember_site.catalog.models import Suite
from ember_site.core import clock, workers
from ember_site.core.audit import audit_record
from ember_site.core.models import AuditAction
from ember_site.core.workers import SILENT_AFTER, worker_beat
from ember_site.episodes.models import Episode
from ember_site.runs.models import Run, Verification
from ember_site.web.status_pages import LONG_WAIT_S, duration_words
from simulator import OBSERVATION_VERSION, SCHEMA_VERSION, SIMULATOR_VERSION

pytestmark = pytest.mark.django_db


def status(client: Client) -> dict:
    return client.get("/status.json").json()


def codes(client: Client) -> list[str]:
    return [alert["code"] for alert in status(client)["alerts"]]


def beat() -> None:
    worker_beat(worker_id=uuid4(), started_at=clock.now())


def queued(minutes: float = 0) -> None:
    run = Run.objects.create(
        scenario_hash="0" * 64, digest="1" * 64, seed="1", source="upload", record_size_bytes=1, guest_key="g"
    )
    Verification.objects.create(run=run, attempt=1, queued_at=clock.now() - timedelta(minutes=minutes))


def episode(suite: Suite, state: str, **fields: object) -> Episode:
    scenario = suite.entries.get(position=1).scenario
    values = {"mode": "practice", "guest_key": "g", "seed": "1", "last_active_at": clock.now()}
    return Episode.objects.create(scenario=scenario, state=state, **values | fields)


def test_a_quiet_site_with_a_worker_is_well(client: Client) -> None:
    beat()
    answer = status(client)
    assert answer["status"] == "ok"
    assert answer["queue"] == {"waiting": 0, "running": 0, "oldest_wait_s": 0}
    assert (answer["workers"]["alive"], answer["workers"]["silent"]) == (1, 0)
    assert answer["episodes"] == {"running": 0, "paused": 0, "frozen": 0}
    assert answer["versions"] == {
        "site": "1.0.0",
        "simulator": SIMULATOR_VERSION,
        "observation": OBSERVATION_VERSION,
        "schema": SCHEMA_VERSION,
    }
    page = client.get("/status/").content.decode()
    assert "Everything works" in page
    assert f"<dd>{SIMULATOR_VERSION}</dd>" in page


def test_the_queue_is_counted_with_its_longest_wait(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    now = clock.now()
    monkeypatch.setattr(clock, "now", lambda: now)
    beat()
    queued(minutes=1)
    answer = status(client)
    assert answer["queue"]["waiting"] == 1
    assert answer["queue"]["oldest_wait_s"] == 60
    assert answer["status"] == "ok"


def test_a_long_wait_with_a_worker_is_an_alert(client: Client) -> None:
    beat()
    queued(minutes=LONG_WAIT_S / 60 + 1)
    assert codes(client) == ["long_wait"]


def test_a_site_without_a_living_worker_says_so(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    assert codes(client) == ["no_worker"]
    beat()
    assert codes(client) == []
    later = clock.now() + SILENT_AFTER + timedelta(seconds=1)
    monkeypatch.setattr(clock, "now", lambda: later)
    assert codes(client) == ["no_worker"]
    assert status(client)["workers"]["silent"] == 1
    assert "silent" in client.get("/status/").content.decode()


def test_a_worker_with_another_simulator_is_an_alert(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(workers, "SIMULATOR_VERSION", "0.1.9")
    beat()
    assert codes(client) == ["versions_differ"]


def test_live_and_frozen_episodes_are_counted_and_frozen_ones_are_an_alert(
    client: Client, suite: Suite
) -> None:
    beat()
    for state in ("running", "running", "paused", "ended", "abandoned"):
        episode(suite, state)
    assert codes(client) == []
    episode(suite, "frozen")
    answer = status(client)
    assert answer["episodes"] == {"running": 2, "paused": 1, "frozen": 1}
    assert codes(client) == ["episode_frozen"]
    assert "1 episode is frozen" in client.get("/status/").content.decode()


def test_the_status_names_kinds_of_services_and_no_secrets(
    client: Client, organiser: User, settings: pytest.FixtureRequest
) -> None:
    beat()
    settings.REDIS_URL = "redis://:hunter2@cache.internal:6379/0"
    texts = [client.get("/status.json").content.decode(), client.get("/status/").content.decode()]
    kind = {"sqlite": "SQLite", "postgresql": "PostgreSQL"}[connection.vendor]
    assert kind in texts[0]
    assert "Redis" in texts[0]
    secrets = ["hunter2", "cache.internal", str(connection.settings_dict["NAME"]), site_settings.SECRET_KEY]
    for text in texts:
        for secret in (*secrets, workers.worker_name()):
            assert secret not in text
    client.force_login(organiser)
    assert workers.worker_name() in client.get("/status/").content.decode(), "organisers see which machine"


def test_the_address_of_the_page_gives_json_to_a_program(client: Client) -> None:
    answer = client.get("/status/", headers={"accept": "application/json"})
    assert answer.json() == status(client)
    assert "no-store" in answer["Cache-Control"]


def test_every_page_links_to_the_status(client: Client) -> None:
    assert 'href="/status/"' in client.get("/docs/").content.decode()


def test_the_status_takes_few_queries_however_much_goes_on(
    client: Client, suite: Suite, django_assert_num_queries: object
) -> None:
    beat()
    with django_assert_num_queries(4):  # type: ignore[operator]
        status(client)
    for _ in range(5):
        beat()
        episode(suite, "running")
    with django_assert_num_queries(4):  # type: ignore[operator]
        status(client)


@pytest.mark.parametrize(
    ("seconds", "words"), [(0, "0 s"), (59, "59 s"), (185, "3 min 5 s"), (7800, "2 h 10 min")]
)
def test_durations_are_told_in_two_units(seconds: int, words: str) -> None:
    assert duration_words(seconds) == words


class TestLogOfDecisions:
    def test_it_is_for_organisers_alone(self, client: Client, user: User, organiser: User) -> None:
        assert "/accounts/login/" in client.get("/audit/")["Location"]
        client.force_login(user)
        assert client.get("/audit/").status_code == 403
        assert "/audit/" not in client.get("/status/").content.decode()
        client.force_login(organiser)
        assert client.get("/audit/").status_code == 200
        assert "/audit/" in client.get("/status/").content.decode()

    def test_it_filters_by_object_decision_and_account(
        self, client: Client, user: User, organiser: User
    ) -> None:
        for number in range(3):
            audit_record(
                actor=user if number else None,
                action=AuditAction.RUN_VISIBILITY if number else AuditAction.VERDICT,
                object_kind="run",
                object_id=f"run-{number}",
                data={"from": "public", "to": "private"},
            )
        client.force_login(organiser)
        for query, shown in [
            ("", {"run-0", "run-1", "run-2"}),
            ("?object_kind=run&object_id=run-1", {"run-1"}),
            ("?action=run.verdict", {"run-0"}),
            (f"?actor={user.pk}", {"run-1", "run-2"}),
            ("?object_kind=suite", set()),
            ("?actor=x&page=99", {"run-0", "run-1", "run-2"}),
        ]:
            page = client.get(f"/audit/{query}").content.decode()
            assert {name for name in ("run-0", "run-1", "run-2") if f"<code>{name}</code>" in page} == shown
        assert ">ada</a>" in client.get("/audit/").content.decode()

    def test_what_it_shows_is_escaped(self, client: Client, organiser: User) -> None:
        audit_record(
            actor=None, action=AuditAction.SUITE_IMPORTED, object_kind="suite", object_id="<script>x", data={}
        )
        client.force_login(organiser)
        assert "<script>x" not in client.get("/audit/").content.decode()
