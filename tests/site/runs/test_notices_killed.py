"""Real workers, killed around verdict and mail: one notice for each upload, never a second mail."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path

import pytest
from django.core.management import call_command

from ember_site.accounts import notices
from ember_site.accounts.models import MailState, Notice
from ember_site.runs import services
from ember_site.runs.models import Run, RunState, Submission, Verification
from simulator import policies, run_episode
from tests.patience import PATIENCE_S
from tests.site.runs.conftest import scenarios
from tests.site.runs.test_killed_worker import (
    LEASE_OF_SURVIVORS_S,
    LEASE_S,
    kill_when,
    leases_lapse,
    worker_start,
)

pytestmark = pytest.mark.django_db(transaction=True)

UPLOADS = 16


@pytest.fixture
def uploads(suite, agent, ann, settings) -> list[Submission]:
    settings.EMBER_VERIFICATION_LEASE_S = LEASE_S
    ann.email = "ann@example.org"
    ann.save()
    texts = [
        run_episode(scenarios()[0], policies.make_random(seed), seed=seed).to_json()
        for seed in range(2 * UPLOADS)
    ]
    return [
        services.submission_create(
            owner=ann,
            agent=agent,
            payload="\n".join(texts[2 * number : 2 * number + 2]).encode(),
            filename=f"{number}.jsonl",
            source="api",
        )
        for number in range(UPLOADS)
    ]


def test_each_upload_is_told_of_once_however_often_workers_are_killed(
    uploads, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    mails = tmp_path / "mails"
    monkeypatch.setenv("EMAIL_URL", f"filemail:///{mails.as_posix()}")
    monkeypatch.setattr(notices, "LOST_AFTER", timedelta(0))
    moments: list[Callable[[], bool]] = [
        lambda: Verification.objects.filter(live=True).count() >= 3,
        lambda: Notice.objects.count() >= 5,
        lambda: Notice.objects.exclude(mail_state=MailState.DUE).exists(),
    ]
    for moment in moments:
        kill_when(tmp_path, moment)
        leases_lapse()

    for _ in range(2):
        call_command("sweep_runs", verbosity=0)
        workers = [worker_start(tmp_path, "--batch", lease_s=LEASE_OF_SURVIVORS_S) for _ in range(2)]
        for worker in workers:
            _, errors = worker.communicate(timeout=5 * PATIENCE_S)
            assert worker.returncode == 0, errors.decode()

    assert set(Run.objects.values_list("state", flat=True)) == {RunState.VERIFIED}
    assert not Submission.objects.filter(finished_at__isnull=True).exists()
    assert Notice.objects.count() == UPLOADS
    text = "".join(path.read_text(encoding="utf-8") for path in mails.iterdir())
    sent = Counter({notice.pk: text.count(f"\n{notice.path}\n") for notice in Notice.objects.all()})
    assert max(sent.values()) == 1, "no mail twice"
    states = dict(Notice.objects.values_list("pk", "mail_state"))
    assert all(sent[pk] == 1 for pk, state in states.items() if state == MailState.SENT)
    cut = [pk for pk, state in states.items() if state != MailState.SENT]
    assert all(states[pk] == MailState.SENDING for pk in cut), "only a kill in the very act loses a mail"
    assert len(cut) <= len(moments)
