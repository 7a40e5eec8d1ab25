"""
The verification queue: fair between accounts, and safe against workers that die.

Tasks of one priority run first in, first out, so fairness comes from the priority given at enqueue:
it falls with the number of the account's tasks that wait already. An account has at most `WINDOW`
tasks in the queue; the rest of its runs wait without a task and follow, oldest first, as the others
finish. So a newcomer goes before all but a few of another account's jobs, however many there are.

The task backend leaves the task of a killed worker running for ever. Here a queued attempt names its
task and a running attempt holds a lease, and `queue_sweep` puts back whatever was lost.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import timedelta
from uuid import UUID

from django.conf import settings
from django.db import transaction
from django.db.models import Exists, Max, Min, OuterRef, Q, QuerySet
from django_tasks import TaskResultStatus
from django_tasks.base import TASK_MAX_PRIORITY
from django_tasks_db.models import DBTaskResult

from ember_site.accounts.notices import notices_mail_requeue
from ember_site.core import clock
from ember_site.runs.models import OPEN_STATES, Run, RunState, Verification
from ember_site.runs.services.finish import run_given_up, submissions_finish

WINDOW = 16
MAX_DEATHS = 3
ATTENDED_AT_ONCE = 100
LONGEST_SWEEP_PAUSE_S = 20.0
SWEEP_PAUSE_S = 5.0
_swept: dict[str, float] = {}


@dataclass(frozen=True, slots=True)
class SweepResult:
    """What a sweep did: runs put back, runs given up, tasks made for waiting runs."""

    requeued: int
    failed: int
    enqueued: int


@transaction.atomic
def run_enqueue(*, run: Run) -> None:
    """Ask for a verification of the run, unless one is queued or running already."""
    runs_enqueue(runs=[run])


@transaction.atomic
def runs_enqueue(*, runs: list[Run]) -> None:
    """Ask for a verification of each run, all of one account. Order is kept."""
    ids = [run.pk for run in runs]
    if not ids:
        return
    runs_lock(ids)
    open_ids = set(
        Verification.objects.filter(run__in=ids, state__in=OPEN_STATES).values_list("run_id", flat=True)
    )
    last = dict(
        Verification.objects.filter(run__in=ids)
        .values("run_id")
        .annotate(n=Max("attempt"))
        .values_list("run_id", "n")
    )
    now = clock.now()
    Verification.objects.bulk_create(
        Verification(run=run, attempt=last.get(run.pk, 0) + 1, state=RunState.QUEUED, queued_at=now)
        for run in runs
        if run.pk not in open_ids
    )
    waiting = [pk for pk in ids if pk not in open_ids]
    Run.objects.filter(pk__in=waiting).exclude(state=RunState.VERIFIED).update(state=RunState.QUEUED)
    account_top_up(run=runs[0])


def runs_lock(ids: Iterable[UUID]) -> None:
    """
    Keep everybody else from changing these runs and their verifications until the transaction ends.

    Who locks a verification locks its run first, and runs go in order of their keys: so two never wait
    for each other.
    """
    list(Run.objects.select_for_update(no_key=True).filter(pk__in=ids).order_by("pk").values_list("pk"))


def verification_lock(*, verification_id: int, states: Sequence[RunState]) -> Verification | None:
    """The verification under a lock, and its run under another; None where it is in none of the states."""
    found = Verification.objects.filter(pk=verification_id, state__in=states)
    runs_lock(found.values_list("run_id", flat=True))
    return found.select_for_update(no_key=True).first()


def account_top_up(*, run: Run) -> int:
    """
    Give tasks to the waiting runs of the run's account, oldest first, up to the window.

    Runs that another process gives tasks at this moment are left to it.
    """
    mine = account_open(run=run)
    queued = mine.filter(state=RunState.QUEUED)
    taken = queued.exclude(task_id="").count()
    waiting = queued.filter(task_id="").order_by("queued_at", "pk")
    room = max(0, WINDOW - taken)
    fresh = list(waiting.select_for_update(of=("self",), skip_locked=True, no_key=True)[:room])
    for place, verification in enumerate(fresh, start=taken):
        verification.task_id = _task_make(run_id=verification.run_id, priority=-place)
    Verification.objects.bulk_update(fresh, ["task_id"])
    return len(fresh)


def account_open(*, run: Run) -> QuerySet[Verification]:
    """The queued and running attempts of the account that the run belongs to."""
    mine = Verification.objects.filter(state__in=OPEN_STATES)
    if run.agent is None:
        return mine.filter(run__agent__isnull=True, run__guest_key=run.guest_key)
    if run.agent.owner_id is None:
        return mine.filter(run__agent__isnull=False, run__agent__owner__isnull=True)
    return mine.filter(run__agent__owner=run.agent.owner_id)


def queue_sweep() -> SweepResult:
    """
    Put back every run that was lost: its lease lapsed, its task is gone, ended or stuck, or nobody is at it.

    Safe to call at any time and from several processes at once.
    """
    requeued = failed = 0
    for pk in [*_lapsed_ids(), *_taskless_ids()]:
        outcome = _put_back(verification_id=pk)
        requeued += outcome is RunState.QUEUED
        failed += outcome is RunState.FAILED
    requeued += _attend()
    notices_mail_requeue()
    return SweepResult(requeued=requeued, failed=failed, enqueued=_top_up_all())


def queue_sweep_now_and_then() -> None:
    """Sweep, and schedule the next sweep, unless this process did so in the last few seconds."""
    now = time.monotonic()
    if now - _swept.get("at", -SWEEP_PAUSE_S) >= SWEEP_PAUSE_S:
        _swept["at"] = now
        queue_sweep()
        sweep_schedule()


def verification_give_up(*, verification: Verification, message: str) -> RunState:
    """
    End an attempt that died on our side, and queue another one unless this was the third.

    The caller holds `verification_lock` and has made sure that the attempt is open.
    """
    now = clock.now()
    verification.state = RunState.FAILED
    verification.code, verification.message = "internal", message
    verification.lease_until, verification.finished_at = None, now
    verification.save()
    run = Run.objects.select_related("agent").get(pk=verification.run_id)
    if _deaths(run) < MAX_DEATHS:
        runs_enqueue(runs=[run])
        return RunState.QUEUED
    live = run.verifications.filter(live=True).first()
    if live is None:
        run.state, run.code, run.place = RunState.FAILED, "internal", ""
        run.message = f"Verification died {MAX_DEATHS} times. This is our fault; it costs you nothing."
        run.expected = run.actual = ""
        run.save(update_fields=["state", "code", "place", "message", "expected", "actual"])
        run_given_up(run=run, verification=verification)
    elif run.state != live.state:  # it was to be judged again; the verdict that counts holds, words and all
        run.state = live.state
        run.save(update_fields=["state"])
        submissions_finish(run=run)
    return RunState.FAILED


def sweep_schedule() -> None:
    """
    Make sure that a sweep comes after the leases held now, even if every worker dies meanwhile.

    One waiting sweep is enough; it schedules the next while runs are open.
    """
    from ember_site.runs.tasks import sweep_queue

    if not Verification.objects.filter(state__in=OPEN_STATES).exists():
        return
    if not DBTaskResult.objects.filter(
        task_path=sweep_queue.module_path, status=TaskResultStatus.READY
    ).exists():
        sweep_queue.using(priority=TASK_MAX_PRIORITY, run_after=clock.now() + _sweep_pause()).enqueue()


def _sweep_pause() -> timedelta:
    return timedelta(seconds=min(settings.EMBER_VERIFICATION_LEASE_S, LONGEST_SWEEP_PAUSE_S))


def _task_make(*, run_id: UUID, priority: int) -> str:
    from ember_site.runs.tasks import verify_run  # the task calls services in turn

    return str(verify_run.using(priority=priority).enqueue(run_id=str(run_id)).id)


def _lapsed_ids() -> list[int]:
    lapsed = Verification.objects.filter(state=RunState.RUNNING).filter(
        Q(lease_until__isnull=True) | Q(lease_until__lt=clock.now())
    )
    return list(lapsed.values_list("pk", flat=True))


def _taskless_ids() -> list[int]:
    """Queued attempts whose task will not come: it is gone, over, or was taken long ago."""
    queued = dict(
        Verification.objects.filter(state=RunState.QUEUED).exclude(task_id="").values_list("pk", "task_id")
    )
    if not queued:
        return []
    patience = clock.now() - timedelta(seconds=settings.EMBER_VERIFICATION_LEASE_S)
    coming = DBTaskResult.objects.filter(pk__in=queued.values()).filter(
        Q(status=TaskResultStatus.READY) | Q(status=TaskResultStatus.RUNNING, started_at__gt=patience)
    )
    alive = {str(pk) for pk in coming.values_list("pk", flat=True)}
    return [pk for pk, task_id in queued.items() if str(UUID(task_id)) not in alive]


def _unattended() -> QuerySet[Run]:
    """Runs without a verdict for which no attempt waits or runs: whoever was about to ask for one died."""
    at_it = Verification.objects.filter(run=OuterRef("pk"), state__in=OPEN_STATES)
    return Run.objects.filter(~Exists(at_it), state__in=OPEN_STATES)


@transaction.atomic
def _attend() -> int:
    """Ask for a verification of each unattended run, having looked again under the lock; how many."""
    ids = list(_unattended().order_by("pk").values_list("pk", flat=True)[:ATTENDED_AT_ONCE])
    if not ids:
        return 0
    runs_lock(ids)
    runs = list(_unattended().filter(pk__in=ids).select_related("agent").order_by("created_at", "pk"))
    for run in runs:
        run_enqueue(run=run)
    return len(runs)


@transaction.atomic
def _put_back(*, verification_id: int) -> RunState | None:
    """Put one lost attempt back, having looked again under the lock."""
    verification = verification_lock(verification_id=verification_id, states=OPEN_STATES)
    if verification is None:
        return None
    if verification.state == RunState.QUEUED:
        # No work had begun: the same attempt gets another task.
        verification.task_id = ""
        verification.save(update_fields=["task_id"])
        return RunState.QUEUED
    if verification.lease_until is not None and verification.lease_until >= clock.now():
        return None
    return verification_give_up(
        verification=verification, message="The worker was lost; the run was put back in the queue."
    )


@transaction.atomic
def _top_up_all() -> int:
    """
    Give tasks to the waiting runs of every account that has room in the queue.

    Reads one row for each account that waits, however long its backlog is.
    """
    waiting = Verification.objects.filter(state=RunState.QUEUED, task_id="")
    accounts = waiting.values("run__agent__owner", "run__guest_key", guest=Q(run__agent__isnull=True))
    firsts = list(accounts.annotate(first=Min("pk")).order_by("first").values_list("first", flat=True))
    found = Verification.objects.select_related("run__agent").in_bulk(firsts)
    return sum(account_top_up(run=found[pk].run) for pk in firsts if pk in found)


def _deaths(run: Run) -> int:
    """How many attempts in a row died on our side since the last verdict."""
    last = (
        run.verifications.exclude(code="internal")
        .filter(finished_at__isnull=False)
        .aggregate(n=Max("attempt"))["n"]
    )
    return run.verifications.filter(state=RunState.FAILED, attempt__gt=last or 0).count()
