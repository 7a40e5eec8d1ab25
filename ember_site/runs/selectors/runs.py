"""Read runs, their records and their replay data."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import Any
from uuid import UUID

from django.contrib.auth.models import AnonymousUser
from django.db.models import Min, Q, QuerySet

from ember_site.accounts.visitors import Viewer
from ember_site.catalog.scenario_cache import scenario_load
from ember_site.core import clock
from ember_site.core.errors import NotFound
from ember_site.runs.errors import RunUnavailable, RunWithdrawn, StoreUnavailable
from ember_site.runs.models import Agent, Run, RunState, Verification
from ember_site.runs.record_store import RecordStoreError, record_read
from ember_site.runs.tracks import mismatch_track_json, step_index, track_json
from ember_site.runs.visibility import run_is_mine, runs_own, runs_visible


def run_list(
    *,
    viewer: Viewer,
    guest_key: str = "",
    agent: Agent | None = None,
    scenario_hash: str = "",
    state: str = "",
    source: str = "",
    mine: bool = False,
) -> QuerySet[Run]:
    """
    Runs that the viewer may find in a list, newest first, with agent and scenario. Paginate it.

    With `mine`, only those of the viewer's own agents, or of the guest.
    """
    runs = runs_visible(viewer=viewer, guest_key=guest_key, listed=True)
    if mine:
        runs = runs_own(runs, viewer=viewer, guest_key=guest_key)
    if agent is not None:
        runs = runs.filter(agent=agent)
    for field, value in (("scenario_hash", scenario_hash), ("state", state), ("source", source)):
        if value:
            runs = runs.filter(**{field: value})
    return with_relations(runs).order_by("-created_at", "id")


def run_get(*, viewer: Viewer, run_id: UUID | str, guest_key: str = "") -> Run:
    """
    One run, by its link. It may be withdrawn: then its page is a tombstone.

    Raises:
        NotFound: there is none, or the viewer may not see it; the two look alike.
    """
    visible = runs_visible(viewer=viewer, guest_key=guest_key, listed=False)
    run = with_relations(visible).filter(pk=run_id).first()
    if run is None:
        raise NotFound("There is no run at this address, or it is private or not published yet.")
    return run


def run_get_unless_withdrawn(*, viewer: Viewer, run_id: UUID | str, guest_key: str = "") -> Run:
    """
    One run, by its link, for who shows more of it than a tombstone.

    Raises:
        NotFound: the viewer may not see the run.
        RunWithdrawn: its owner has withdrawn it, and the viewer is somebody else.
    """
    run = run_get(viewer=viewer, guest_key=guest_key, run_id=run_id)
    if run.withdrawn_at is not None and not run_is_mine(viewer=viewer, guest_key=guest_key, run=run):
        raise RunWithdrawn(f"This run was withdrawn by its owner on {run.withdrawn_at:%Y-%m-%d}.")
    return run


def run_record_get(*, viewer: Viewer, run_id: UUID | str, guest_key: str = "") -> tuple[Run, bytes]:
    """
    A run with the canonical bytes of its record.

    Raises:
        NotFound: the viewer may not see the run.
        RunWithdrawn: it was withdrawn.
        StoreUnavailable: the record is not there as it was written.
    """
    run = run_get_unless_withdrawn(viewer=viewer, guest_key=guest_key, run_id=run_id)
    try:
        return run, record_read(run.digest)
    except (RecordStoreError, OSError) as error:
        raise StoreUnavailable("The record cannot be read just now. This is our fault.") from error


def run_track_get(*, viewer: Viewer, run_id: UUID | str, guest_key: str = "") -> bytes:
    """
    The track of a run: what the board viewer draws, as JSON.

    For a verified run it is the whole run. For one that the replay contradicts it is the replay up to
    and with the first step that differs.

    Raises:
        NotFound: the viewer may not see the run.
        RunUnavailable: there is no replay to show.
        RunWithdrawn: it was withdrawn.
        StoreUnavailable: the record is not there as it was written.
    """
    run, record = run_record_get(viewer=viewer, guest_key=guest_key, run_id=run_id)
    if not has_track(run):
        raise RunUnavailable("This run has no replay to show.")
    scenario = scenario_load(run.scenario_hash)
    if run.state == RunState.VERIFIED:
        return track_json(digest=run.digest, record=record, scenario=scenario)
    return mismatch_track_json(digest=run.digest, record=record, scenario=scenario, place=run.place)


def has_track(run: Run) -> bool:
    """Whether a replay can be shown: the run was confirmed, or contradicted at one of its steps."""
    if run.state == RunState.VERIFIED:
        return True
    return (
        run.state == RunState.REJECTED and run.code == "replay_mismatch" and step_index(run.place) is not None
    )


def run_scene(*, run: Run) -> dict[str, Any] | None:
    """What came of a move in the step at which a refused run and its replay part, as `scenes.Scene`."""
    return run_parting(run=run)[1]


def run_parting(*, run: Run) -> tuple[dict[str, Any] | None, dict[str, Any] | None]:
    """
    The step at which a refused run and its replay part, as `partings.Parting` and as `scenes.Scene`.

    None where the two part at no step, or not about a person's move.
    """
    if run.state != RunState.REJECTED or not has_track(run):
        return None, None
    try:
        record = record_read(run.digest)
    except (RecordStoreError, OSError):
        return None, None
    scenario = scenario_load(run.scenario_hash)
    track = json.loads(
        mismatch_track_json(digest=run.digest, record=record, scenario=scenario, place=run.place)
    )
    return track["parting"], track["scene"]


def run_history(*, run: Run) -> list[Verification]:
    """Every attempt to verify the run, newest first."""
    return list(run.verifications.order_by("-attempt"))


def run_twins(*, viewer: Viewer, run: Run) -> QuerySet[Run]:
    """Runs of other agents with the very same actions, as far as the viewer may find them."""
    visible = runs_visible(viewer=viewer, listed=True)
    return with_relations(visible.filter(digest=run.digest).exclude(pk=run.pk)).order_by("created_at", "id")


def runs_for_slots(
    *,
    slots: Iterable[tuple[str, str]],
    agent_ids: Sequence[int] | None = None,
    viewer: Viewer | None = None,
    hidden_ref: str = "",
) -> QuerySet[Run]:
    """
    The runs that may count in an evaluation: ranked, verified, ended, not withdrawn, on its slots.

    Args:
        slots: pairs of scenario hash and seed in decimal.
        agent_ids: only runs of these agents.
        viewer: only what this viewer may find; None is a visitor without an account.
        hidden_ref: count the runs hidden under this reference instead of those in the open. For the
            evaluation's own arithmetic, never for a page.

    Returns:
        Runs with their agents, in no order.
    """
    if hidden_ref:
        runs = Run.objects.filter(hidden_ref=hidden_ref)
    else:
        runs = runs_visible(viewer=viewer or AnonymousUser(), listed=True)
    counted = runs.filter(
        _on_slots(slots),
        ranked=True,
        state=RunState.VERIFIED,
        ended=True,
        withdrawn_at__isnull=True,
        agent__isnull=False,
    )
    if agent_ids is not None:
        counted = counted.filter(agent__in=agent_ids)
    return counted.select_related("agent")


def runs_reveal_at(*, slots: Iterable[tuple[str, str]]) -> datetime | None:
    """The next instant at which a run on these slots stops being hidden; None where none is."""
    hidden = Run.objects.filter(_on_slots(slots), hidden_until__gt=clock.now())
    return hidden.aggregate(at=Min("hidden_until"))["at"]


def with_relations(runs: QuerySet[Run]) -> QuerySet[Run]:
    """Runs with agent, owner and scenario in one query."""
    return runs.select_related("agent", "agent__owner", "scenario")


def _on_slots(slots: Iterable[tuple[str, str]]) -> Q:
    seeds: dict[str, list[str]] = defaultdict(list)
    for scenario_hash, seed in slots:
        seeds[scenario_hash].append(seed)
    condition = Q(pk__in=())
    for scenario_hash, of_scenario in seeds.items():
        condition |= Q(scenario=scenario_hash, seed__in=of_scenario)
    return condition
