"""One account's backlog never delays another's by more than a few jobs. Trial T08."""

from __future__ import annotations

import pytest
from django.db.models.signals import post_init
from django_tasks_db.models import DBTaskResult

from ember_site.runs import selectors, services
from ember_site.runs.models import Run, RunState, Verification
from ember_site.runs.services.queue import WINDOW
from simulator import policies, run_episode
from tests.site.runs.conftest import scenarios
from tests.site.runs.workers import run_tasks

pytestmark = pytest.mark.usefixtures("suite")


def records(count: int) -> bytes:
    """Different short records: a seed changes the bytes, not the run, of a deterministic scenario."""
    scenario = scenarios()[3]
    texts = (run_episode(scenario, policies.stay, seed=seed).to_json() for seed in range(count))
    return "\n".join(texts).encode()


def send(owner, name: str, count: int) -> list[Run]:
    agent = services.agent_create(owner=owner, fields={"name": name})
    submission = services.submission_create(
        owner=owner, agent=agent, payload=records(count), filename="", source="api"
    )
    return [line.run for line in submission.lines.select_related("run")]


def finished() -> int:
    return Run.objects.exclude(state__in=["queued", "running"]).count()


def test_a_newcomer_starts_within_the_next_few_jobs(ann, bob):
    heavy = send(ann, "heavy", 500)
    run_tasks(5)
    late = send(bob, "light", 1)[0]
    assert selectors.run_queue_position(run=late) == 1
    assert selectors.run_queue_position(run=heavy[-1]) == 500 - 5 + 1
    run_tasks(2)
    late.refresh_from_db()
    assert late.state == RunState.VERIFIED


def test_two_backlogs_share_the_worker(ann, bob):
    send(ann, "heavy", 100)
    run_tasks(30)
    send(bob, "heavy too", 40)
    run_tasks(60)
    share = Run.objects.filter(agent__owner=bob).exclude(state="queued").count()
    assert 25 <= share <= 40


def test_every_run_of_a_backlog_is_verified_oldest_first(ann):
    runs = send(ann, "heavy", 3 * WINDOW)
    assert DBTaskResult.objects.filter(task_path__endswith="verify_run").count() == WINDOW
    run_tasks(WINDOW // 2)
    done = set(Run.objects.filter(state=RunState.VERIFIED).values_list("pk", flat=True))
    assert done <= {run.pk for run in runs[:WINDOW]}
    run_tasks()
    assert finished() == len(runs)


def test_a_sweep_gives_every_account_its_tasks_and_reads_no_backlog_for_it(ann, bob):
    send(ann, "heavy", 3 * WINDOW)
    send(bob, "heavy too", 2 * WINDOW)
    baseline, text = services.baseline_agent("greedy"), records(1).decode()
    services.run_store(agent=baseline, record_text=text, source="baseline", ranked=True)
    for key in ("one guest", "another"):
        services.run_store(agent=None, guest_key=key, record_text=text, source="play", ranked=False)
    DBTaskResult.objects.all().delete()
    Verification.objects.update(task_id="")  # as if every worker and its queue had been lost
    loaded: list[Run] = []

    def count(instance: Run, **_: object) -> None:
        loaded.append(instance)

    post_init.connect(count, sender=Run)
    try:
        assert services.queue_sweep().enqueued == 2 * WINDOW + 3
    finally:
        post_init.disconnect(count, sender=Run)
    assert len(loaded) == 5, "one for each account, however long its backlog is"


def test_everybody_sees_a_position_that_only_falls(ann):
    runs = send(ann, "heavy", 2 * WINDOW)
    before = [selectors.run_queue_position(run=run) for run in runs]
    assert before == list(range(1, 2 * WINDOW + 1))
    run_tasks(3)
    assert selectors.run_queue_position(run=runs[-1]) < before[-1]
    assert selectors.queue_status().waiting < 2 * WINDOW
