"""One run: its verdict, its replay, its record."""

from __future__ import annotations

import hashlib
from typing import Any
from uuid import UUID

from django.contrib import messages
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_POST, require_safe

from ember_site.accounts.guests import guest_key_get
from ember_site.accounts.visitors import visitor_of
from ember_site.catalog.plan_svg import scenario_plan
from ember_site.core.errors import BadInput
from ember_site.core.lasting import ASKED_EACH_TIME, lasting_response
from ember_site.episodes.guests import guest_run_kept_until, guest_work
from ember_site.runs import selectors, services
from ember_site.runs.causes import run_cause
from ember_site.runs.models import Run, RunState, Visibility
from ember_site.runs.selectors.decisions import run_decisions
from ember_site.runs.tracks import place_person, step_index
from ember_site.web.runs_forms import RunVisibilityForm
from ember_site.web.runs_pages import run_facts

DECISIONS_SHOWN = 50

JSON_TYPE = "application/json"


@never_cache
@require_safe
def run_detail(request: HttpRequest, run_id: UUID) -> HttpResponse:
    """Verdict, replay, result and record of a run; a tombstone where it was withdrawn."""
    run = selectors.run_get(run_id=run_id, **visitor_of(request))
    mine = selectors.run_is_mine(run=run, **visitor_of(request))
    if run.withdrawn_at is not None and not mine:
        return render(request, "runs/withdrawn.html", {"run": run}, status=410)
    guest_key = guest_key_get(request.session) if mine and run.agent is None else ""
    parting, scene = selectors.run_parting(run=run)
    context = {
        "run": run,
        "mine": mine,
        "claim": guest_work(guest_key=guest_key),
        "kept_until": guest_run_kept_until(run=run),
        "history": selectors.run_history(run=run),
        "twins": selectors.run_twins(viewer=request.user, run=run)[:5],
        "cause": run_cause(run),
        "scene": scene,
        "parting": parting,
        "facts": run_facts(run),
        "plan": scenario_plan(run.scenario.content_hash) if run.scenario else "",
        "position": None if run.is_final else selectors.run_queue_position(run=run),
        "viewer_data": _viewer_data(run),
        "visibilities": Visibility.choices,
        "decisions": run_decisions(run=run, **visitor_of(request))[:DECISIONS_SHOWN],
    }
    return render(request, "runs/run.html", context)


def _viewer_data(run: Run) -> dict[str, Any] | None:
    """What the replay script needs: where the track is, and the place of a difference."""
    if not selectors.has_track(run):
        return None
    index = step_index(run.place) if run.state == RunState.REJECTED else None
    return {
        "track": reverse("run_track", args=[run.pk]),
        "difference": None if index is None else index + 1,
        "person": place_person(run.place),
    }


@never_cache
@require_safe
def run_status(request: HttpRequest, run_id: UUID) -> HttpResponse:
    """The state of a run, for a page that waits for its verdict."""
    run = selectors.run_get_unless_withdrawn(run_id=run_id, **visitor_of(request))
    position = None if run.is_final else selectors.run_queue_position(run=run)
    return JsonResponse({"state": run.state, "code": run.code, "final": run.is_final, "position": position})


@require_safe
def run_record(request: HttpRequest, run_id: UUID) -> HttpResponse:
    """The record, byte for byte as its digest was taken, to be kept and verified at home."""
    run, record = selectors.run_record_get(run_id=run_id, **visitor_of(request))
    return lasting_response(
        request,
        record,
        etag=run.digest,
        content_type=JSON_TYPE,
        cache=ASKED_EACH_TIME,
        filename=run.file_name,
    )


@require_safe
def run_track(request: HttpRequest, run_id: UUID) -> HttpResponse:
    """What the viewer draws, as JSON."""
    track = selectors.run_track_get(run_id=run_id, **visitor_of(request))
    etag = hashlib.sha256(track).hexdigest()
    return lasting_response(request, track, etag=etag, content_type=JSON_TYPE, cache=ASKED_EACH_TIME)


@require_POST
def run_withdraw(request: HttpRequest, run_id: UUID) -> HttpResponse:
    """Take a run out of lists and boards."""
    run = selectors.run_get(run_id=run_id, **visitor_of(request))
    services.run_withdraw(run=run, **visitor_of(request))
    messages.success(request, "The run is withdrawn. The next best run of its agent counts in its place.")
    return redirect("run_detail", run_id=run_id)


@require_POST
def run_visibility(request: HttpRequest, run_id: UUID) -> HttpResponse:
    """Change who may see a run."""
    form = RunVisibilityForm(request.POST)
    if not form.is_valid():
        raise BadInput("Expected public, unlisted or private.", place="visibility")
    run = selectors.run_get(run_id=run_id, **visitor_of(request))
    visibility = Visibility(form.cleaned_data["visibility"])
    services.run_set_visibility(viewer=request.user, run=run, visibility=visibility)
    messages.success(request, f"The run is {visibility.label} now.")
    return redirect("run_detail", run_id=run_id)


@require_POST
def run_verify(request: HttpRequest, run_id: UUID) -> HttpResponse:
    """Have a run verified again, for organisers."""
    run = selectors.run_get(run_id=run_id, **visitor_of(request))
    services.run_verify_again(viewer=request.user, run=run)
    messages.success(request, "Queued. The present verdict holds until the new one is in.")
    return redirect("run_detail", run_id=run_id)
