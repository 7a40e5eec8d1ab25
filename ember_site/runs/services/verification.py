"""Verify runs by replay: nothing that a record claims counts, only what the replay says."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import timedelta
from uuid import UUID

from django.conf import settings
from django.db import transaction
from django.db.models import Max

from ember_site.accounts.visitors import Viewer, is_organiser
from ember_site.catalog.scenario_cache import scenario_load
from ember_site.catalog.selectors import scenario_hash_latest
from ember_site.core import clock
from ember_site.core.audit import audit_record
from ember_site.core.errors import Forbidden, NotFound
from ember_site.core.models import AuditAction
from ember_site.core.workers import worker_name
from ember_site.runs.models import FINAL_STATES, OPEN_STATES, Run, RunState, Verification
from ember_site.runs.record_store import RecordStoreError, record_read
from ember_site.runs.services.finish import run_concluded
from ember_site.runs.services.queue import (
    account_top_up,
    run_enqueue,
    verification_give_up,
    verification_lock,
)
from ember_site.runs.text import PLACE_CHARS, column_text
from simulator import SIMULATOR_VERSION, Metrics, Verdict, VerdictCode, record_header, record_unknown, replay

logger = logging.getLogger(__name__)

LEASE_BYTES_PER_SECOND = 200_000
"""A replay reads records much faster than this; a lease that is too short only costs a second replay."""

VALUE_CHARS = 2000

OUR_FAILURES = (
    RecordStoreError,
    OSError,
    MemoryError,
    RecursionError,
    ArithmeticError,
    LookupError,
    TypeError,
    ValueError,
)
"""What a replay should never raise, and what is our fault where it does."""

METRIC_COLUMNS = (
    "population",
    "evacuated",
    "casualties",
    "entered_fire",
    "fire_spread",
    "unresolved",
    "trapped_at_start",
    "steps",
    "last_evacuation_step",
    "evacuation_step_total",
    "exit_step_total",
)


@dataclass(frozen=True, slots=True)
class Judgement:
    """A verdict in the words of the rows: what `simulator.replay` said, as text."""

    state: RunState
    code: str
    place: str
    expected: str
    actual: str
    message: str
    metrics: Metrics | None
    ended: bool | None

    @classmethod
    def of(cls, verdict: Verdict) -> Judgement:
        """A record that the replay confirms but that stops early is verified and not ended: never scored."""
        confirmed = verdict.metrics is not None
        return cls(
            state=RunState.VERIFIED if confirmed else RunState.REJECTED,
            code=str(verdict.code),
            place=verdict.place or "",
            expected=verdict.expected or "",
            actual=verdict.actual or "",
            message=verdict.message,
            metrics=verdict.metrics,
            ended=verdict.verified if confirmed else None,
        )

    @property
    def verdict_columns(self) -> Mapping[str, str]:
        """The columns that run and verification share."""
        return {
            "state": self.state,
            "code": self.code,
            "place": column_text(self.place, PLACE_CHARS),
            "expected": column_text(self.expected, VALUE_CHARS),
            "actual": column_text(self.actual, VALUE_CHARS),
            "message": column_text(self.message, VALUE_CHARS),
        }


def run_verify(*, run_id: UUID | str) -> Run:
    """
    Replay a queued run and write its one live verdict.

    Safe to call twice and from two workers: a run with a verdict, or under somebody's lease, is left
    alone. A failure on our side ends the attempt and queues another, three times at most.

    Raises:
        NotFound: there is no such run.
    """
    verification = _claim(run_id=run_id)
    if verification is None:
        return Run.objects.get(pk=run_id)
    try:
        judgement = _judge(verification.run)
    except OUR_FAILURES:
        logger.exception("verification of run %s failed on our side", run_id)
        _die(verification_id=verification.pk)
    else:
        _conclude(verification_id=verification.pk, judgement=judgement)
    run = Run.objects.select_related("agent").get(pk=run_id)
    with transaction.atomic():
        account_top_up(run=run)
    return run


@transaction.atomic
def run_verify_again(*, viewer: Viewer, run: Run) -> None:
    """
    Queue a further verification; the present verdict stays live until the new one is in.

    Raises:
        Forbidden: only organisers may ask for it.
    """
    if not is_organiser(viewer):
        raise Forbidden("Only organisers may have a run verified again.")
    run_enqueue(run=run)
    audit_record(actor=viewer, action=AuditAction.REVERIFICATION, object_kind="run", object_id=run.pk)


@transaction.atomic
def _claim(*, run_id: UUID | str) -> Verification | None:
    """Take the run under a lease; None where there is nothing to do for this worker."""
    run = Run.objects.select_for_update(no_key=True).filter(pk=run_id).first()
    if run is None:
        raise NotFound("There is no such run.")
    open_one = run.verifications.filter(state__in=OPEN_STATES).first()
    if open_one is None:
        if run.state in FINAL_STATES:
            return None
        attempt = (run.verifications.aggregate(n=Max("attempt"))["n"] or 0) + 1
        open_one = Verification(run=run, attempt=attempt, queued_at=clock.now())
    elif open_one.state == RunState.RUNNING:
        return None
    now = clock.now()
    open_one.state = RunState.RUNNING
    open_one.worker = worker_name()
    open_one.simulator_version = SIMULATOR_VERSION
    open_one.started_at = now
    open_one.lease_until = now + lease_for(run.record_size_bytes)
    open_one.save()
    if run.state not in FINAL_STATES:
        run.state = RunState.RUNNING
        run.save(update_fields=["state"])
    open_one.run = run
    return open_one


def lease_for(size_bytes: int) -> timedelta:
    """How long a worker may take over a record of this size before it counts as dead."""
    return timedelta(seconds=settings.EMBER_VERIFICATION_LEASE_S + size_bytes / LEASE_BYTES_PER_SECOND)


def _judge(run: Run) -> Judgement:
    """Replay the stored record on the scenario that its header names."""
    judgement = record_judge(record_read(run.digest), scenario_hash=run.scenario_hash)
    if judgement.code == VerdictCode.RECORD_FORMAT:
        raise ValueError(f"a stored record has become unreadable: {judgement.message}")
    return judgement


def record_judge(record: bytes, *, scenario_hash: str) -> Judgement:
    """
    The verdict on a record whose header names that scenario, by the replay or for want of the scenario.

    Where another version of the scenario is here, the refusal shows its hash beside the record's.
    """
    try:
        scenario = scenario_load(scenario_hash)
    except NotFound:
        here = scenario_hash_latest(record_header(record).scenario_id)
        return Judgement.of(record_unknown(scenario_hash, here=here))
    return Judgement.of(replay(record, scenario))


@transaction.atomic
def _conclude(*, verification_id: int, judgement: Judgement) -> None:
    """Write the verdict, unless a sweep has taken the run from this worker meanwhile."""
    verification = verification_lock(verification_id=verification_id, states=(RunState.RUNNING,))
    if verification is None:
        return
    now = clock.now()
    old = Verification.objects.filter(run=verification.run_id, live=True)
    before = old.values_list("state", flat=True).first() or ""
    old.update(live=False)
    for name, value in judgement.verdict_columns.items():
        setattr(verification, name, value)
    verification.live, verification.lease_until, verification.finished_at = True, None, now
    verification.save()

    run = Run.objects.get(pk=verification.run_id)
    judgement_write(run, judgement)
    if judgement.code != VerdictCode.SCENARIO_UNKNOWN:
        run.scenario_id = run.scenario_hash
    run.verified_at = now
    run.save()
    run_concluded(run=run, verification=verification, before=before)


def judgement_write(run: Run, judgement: Judgement) -> None:
    """Put a verdict with its metrics into the columns of a run, without saving it."""
    for name, value in judgement.verdict_columns.items():
        setattr(run, name, value)
    _write_metrics(run, judgement.metrics)
    run.ended = judgement.ended


def _write_metrics(run: Run, metrics: Metrics | None) -> None:
    for column in METRIC_COLUMNS:
        setattr(run, column, None if metrics is None else getattr(metrics, column))
    run.blocked = None if metrics is None else {str(kind): count for kind, count in metrics.blocked.items()}


@transaction.atomic
def _die(*, verification_id: int) -> None:
    verification = verification_lock(verification_id=verification_id, states=(RunState.RUNNING,))
    if verification is not None:
        verification_give_up(
            verification=verification,
            message="Something failed on our side; the run was put back in the queue.",
        )
