"""Store runs and withdraw them."""

from __future__ import annotations

import threading
from collections.abc import Iterable, Sequence
from contextlib import nullcontext, suppress
from dataclasses import dataclass
from datetime import datetime

from django.db import transaction
from django.db.models import QuerySet

from ember_site.accounts.visitors import Viewer
from ember_site.catalog.models import Scenario
from ember_site.catalog.scenario_cache import scenario_load
from ember_site.core import clock
from ember_site.core.audit import audit_record, audit_record_many
from ember_site.core.errors import Forbidden, NotFound
from ember_site.core.models import AuditAction
from ember_site.runs.errors import AgentKindRefused, StoreUnavailable
from ember_site.runs.models import Agent, AgentKind, Run, RunSource, RunState, Visibility
from ember_site.runs.record_store import record_write
from ember_site.runs.services.queue import run_enqueue
from ember_site.runs.text import column_text
from ember_site.runs.visibility import run_is_mine
from simulator import SIMULATOR_VERSION, RecordHeader, RunRecord, is_canonical_replay, record_header

SOURCES_OF_KIND = {
    AgentKind.MODEL: (RunSource.UPLOAD, RunSource.REMOTE),
    AgentKind.HUMAN: (RunSource.PLAY,),
    AgentKind.BASELINE: (RunSource.BASELINE, RunSource.UPLOAD),
}

LARGE_CHARS = 4_000_000
large_load = threading.BoundedSemaphore(1)
"""Loading takes about four times a record's size in memory: one large record at a time in each process."""


@dataclass(frozen=True, slots=True)
class StoredRecord:
    """A record in the store, with what its header says. None of it is believed before the replay."""

    digest: str
    size_bytes: int
    scenario_hash: str
    seed: str
    simulator_version: str
    observation_version: str


@dataclass(frozen=True, slots=True)
class RunOrigin:
    """Whose run it is and how it came."""

    agent: Agent | None
    guest_key: str
    source: RunSource
    ranked: bool
    hidden_until: datetime | None = None
    hidden_ref: str = ""


def run_store(
    *,
    agent: Agent | None,
    record_text: str | bytes,
    source: RunSource | str,
    ranked: bool,
    guest_key: str = "",
    hidden_until: datetime | None = None,
    hidden_ref: str = "",
    enqueue: bool = True,
) -> Run:
    """
    Store a record as a run and ask for its verification.

    The same record again from the same agent (or guest) gives the run that exists. With `enqueue` off
    the caller verifies at once with `run_verify`.

    Raises:
        RecordFormatError: the loader refuses the record.
        AgentKindRefused: runs of this source are not for agents of this kind.
        StoreUnavailable: the record could not be stored.
    """
    origin = RunOrigin(agent, guest_key, RunSource(source), ranked, hidden_until, hidden_ref)
    agent_check_source(agent=agent, source=origin.source)
    stored = record_store(text=record_text)
    with transaction.atomic():
        run, _ = runs_insert(origin=origin, records=[stored])[0]
        if enqueue and run_needs_verdict(run):
            run_enqueue(run=run)
    return run


def record_store(*, text: str | bytes) -> StoredRecord:
    """
    Load a record and write its canonical form to the store, before any row names it.

    Raises:
        RecordFormatError: the loader refuses the record.
        StoreUnavailable: the store cannot be written.
    """
    header, canonical = _loaded(text)
    try:
        digest = record_write(canonical)
    except OSError as error:
        raise StoreUnavailable from error
    return stored_of(header, digest=digest, size_bytes=len(canonical))


def stored_of(header: RecordHeader, *, digest: str, size_bytes: int) -> StoredRecord:
    """What a row says of a record, from its header."""
    return StoredRecord(
        digest=digest,
        size_bytes=size_bytes,
        scenario_hash=header.scenario_hash,
        seed=str(header.seed),
        simulator_version=column_text(header.simulator_version, 64),
        observation_version=column_text(header.observation_version, 64),
    )


def _loaded(text: str | bytes) -> tuple[RecordHeader, bytes]:
    """
    Header and canonical bytes of a record.

    The loader is five times as slow as a replay of a record that is as the simulator writes it. So that is
    tried first: where the replay gives the very bytes, they are well formed and canonical. It is no
    verdict; the queue gives that.
    """
    with large_load if len(text) > LARGE_CHARS else nullcontext():
        return record_load(text)


def record_load(text: str | bytes) -> tuple[RecordHeader, bytes]:
    """
    As above, for who has seen to it that few large records are loaded at once.

    Raises:
        RecordFormatError: the loader refuses the record.
    """
    header = record_header(text)
    raw = (text.encode("utf-8", "surrogatepass") if isinstance(text, str) else text).strip(b" \t\r\n")
    with suppress(NotFound):
        if is_canonical_replay(raw, scenario_load(header.scenario_hash)):
            return header, raw
    record = RunRecord.from_json(text)
    return record.header, record.to_json().encode("ascii")


def runs_insert(*, origin: RunOrigin, records: Sequence[StoredRecord]) -> list[tuple[Run, bool]]:
    """
    Make the runs of stored records, in order; the flag says that the run existed before.

    The caller holds a transaction. A run that was practice becomes ranked when it comes again ranked.
    """
    if origin.agent is not None:
        Agent.objects.select_for_update(no_key=True).get(pk=origin.agent.pk)  # one writer for each agent
    digests = {record.digest for record in records}
    known = {run.digest: run for run in _runs_of(origin).filter(digest__in=digests)}
    scenarios = scenarios_known({record.scenario_hash for record in records})
    fresh: dict[str, Run] = {}
    for record in records:
        if record.digest not in known and record.digest not in fresh:
            fresh[record.digest] = _run_new(origin, record, scenarios.get(record.scenario_hash))
    Run.objects.bulk_create(fresh.values())
    _refresh_known(origin, known.values(), scenarios)
    seen: set[str] = set()
    result: list[tuple[Run, bool]] = []
    for record in records:
        repeated = record.digest in known or record.digest in seen
        seen.add(record.digest)
        result.append((known.get(record.digest) or fresh[record.digest], repeated))
    return result


def run_needs_verdict(run: Run) -> bool:
    """
    Whether a verification should be asked for: there is no verdict, or it may have changed since.

    It may where it was our fault, where the scenario was unknown, or where the record was made by a later
    simulator, which this site has by now.
    """
    if run.state != RunState.REJECTED:
        return run.state in (RunState.QUEUED, RunState.FAILED)
    if run.code == "scenario_unknown":
        return True
    return run.place == "header.simulator_version" and run.simulator_version == SIMULATOR_VERSION


@transaction.atomic
def run_withdraw(*, viewer: Viewer, run: Run, guest_key: str = "") -> Run:
    """
    Take a run out of every list and board; its page stays as a tombstone. Twice is once.

    Raises:
        Forbidden: the run is not the viewer's.
    """
    if not run_is_mine(viewer=viewer, guest_key=guest_key, run=run):
        raise Forbidden("This run belongs to somebody else.")
    if Run.objects.filter(pk=run.pk, withdrawn_at__isnull=True).update(withdrawn_at=clock.now()):
        audit_record(actor=viewer, action=AuditAction.RUN_WITHDRAWN, object_kind="run", object_id=run.pk)
    run.refresh_from_db()
    return run


@transaction.atomic
def run_set_visibility(*, viewer: Viewer, run: Run, visibility: Visibility) -> Run:
    """
    Change who may see a run. The agent's own visibility still holds where it is stricter.

    Raises:
        Forbidden: the run is not the viewer's.
    """
    if not run_is_mine(viewer=viewer, run=run):
        raise Forbidden("This run belongs to somebody else.")
    before = Run.objects.select_for_update(no_key=True).values_list("visibility", flat=True).get(pk=run.pk)
    if before != visibility:
        run.visibility = visibility
        run.save(update_fields=["visibility"])
        audit_record(
            actor=viewer,
            action=AuditAction.RUN_VISIBILITY,
            object_kind="run",
            object_id=run.pk,
            data={"from": before, "to": str(visibility)},
        )
    return run


@transaction.atomic
def runs_hide(*, runs: Iterable[Run], hidden_until: datetime | None, hidden_ref: str) -> None:
    """Keep runs from everybody until an instant, or show them with None. Evaluations call this."""
    ids = [run.pk for run in runs]
    Run.objects.filter(pk__in=ids).update(hidden_until=hidden_until, hidden_ref=hidden_ref)
    audit_record_many(
        actor=None,
        action=AuditAction.RUN_HIDDEN,
        object_kind="run",
        object_ids=ids,
        data={"until": hidden_until and hidden_until.isoformat(), "ref": hidden_ref},
    )


def agent_check_source(*, agent: Agent | None, source: RunSource) -> None:
    """
    Make sure that runs of this source may be given to the agent.

    Raises:
        AgentKindRefused: the kinds do not fit.
    """
    if agent is None or source in SOURCES_OF_KIND[AgentKind(agent.kind)]:
        return
    why = {
        AgentKind.HUMAN: "A human agent gets runs only from play on this site.",
        AgentKind.BASELINE: "A baseline gets runs only from the organiser.",
        AgentKind.MODEL: "A model agent gets runs from uploads and remote play.",
    }
    raise AgentKindRefused(why[AgentKind(agent.kind)], place="agent")


def _runs_of(origin: RunOrigin) -> QuerySet[Run]:
    runs = Run.objects.select_related("agent", "scenario")
    if origin.agent is None:
        return runs.filter(agent__isnull=True, guest_key=origin.guest_key)
    return runs.filter(agent=origin.agent)


def scenarios_known(hashes: set[str]) -> dict[str, Scenario]:
    """The scenarios of these hashes that are here, by hash, without their documents."""
    found = Scenario.objects.defer("document").filter(content_hash__in=hashes)
    return {scenario.content_hash: scenario for scenario in found}


def _run_new(origin: RunOrigin, record: StoredRecord, scenario: Scenario | None) -> Run:
    return Run(
        agent=origin.agent,
        guest_key=origin.guest_key if origin.agent is None else "",
        scenario=scenario,
        scenario_hash=record.scenario_hash,
        digest=record.digest,
        seed=record.seed,
        simulator_version=record.simulator_version,
        observation_version=record.observation_version,
        source=origin.source,
        ranked=origin.ranked,
        visibility=Visibility.UNLISTED if origin.agent is None else origin.agent.visibility,
        hidden_until=origin.hidden_until,
        hidden_ref=origin.hidden_ref,
        record_size_bytes=record.size_bytes,
    )


def _refresh_known(origin: RunOrigin, runs: Iterable[Run], scenarios: dict[str, Scenario]) -> None:
    """A known run that comes again may become ranked, and may by now have its scenario here."""
    for run in runs:
        scenario = run.scenario or scenarios.get(run.scenario_hash)
        ranked = run.ranked or origin.ranked
        if (scenario, ranked) != (run.scenario, run.ranked):
            run.scenario, run.ranked = scenario, ranked
            run.save(update_fields=["scenario", "ranked"])
