"""The upload page, the list of uploads and one upload's page."""

from __future__ import annotations

from typing import Any, cast
from uuid import UUID

from django.contrib.auth.decorators import login_required
from django.core.files.uploadedfile import UploadedFile
from django.core.paginator import Paginator
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import redirect, render
from django.template.loader import render_to_string
from django.urls import reverse
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_safe

from ember_site.accounts.models import User
from ember_site.accounts.notices import notices_mark_read
from ember_site.core.errors import BadInput, DomainError, SignInRequired
from ember_site.core.responses import wants_json
from ember_site.runs import selectors, services
from ember_site.runs.errors import SubmissionRefused
from ember_site.runs.limits import upload_limits
from ember_site.runs.models import Agent, Submission, SubmissionSource
from ember_site.web.runs_pages import (
    LINES_PER_PAGE,
    RECENT_UPLOADS,
    UPLOADS_PER_PAGE,
    changed_rows,
    line_rows,
    progress_parts,
)

NEW_AGENT = "+"


@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
def submit(request: HttpRequest) -> HttpResponse:
    """Limits first, then the form; a sent file leads to its page, or to JSON where a script asks."""
    if request.method != "POST":
        return _submit_page(request)
    if not request.user.is_authenticated:
        raise SignInRequired("Sign in to submit runs.")
    if request.POST.get("dry_run"):
        return _dry_run(request)
    try:
        submission = _submission_from(request)
    except DomainError as error:
        if wants_json(request):
            raise
        return _submit_page(request, error=error)
    if wants_json(request):
        used, limit = selectors.uploads_used(owner=submission.owner)
        return JsonResponse(_addresses(submission) | {"used": used, "limit": limit}, status=201)
    return redirect("submission_detail", submission_id=submission.pk)


def _dry_run(request: HttpRequest) -> HttpResponse:
    """The verdicts on the sent file, of which nothing is kept; a new agent is not made either."""
    owner = cast(User, request.user)
    slug = request.POST.get("agent", "")
    try:
        agent = None if slug in ("", NEW_AGENT) else selectors.agent_for_upload(viewer=owner, slug=slug)
        file = _file_from(request)
        result = services.submission_dry_run(owner=owner, agent=agent, payload=cast(Any, file))
    except DomainError as error:
        if wants_json(request):
            raise
        return _submit_page(request, error=error)
    checked = {
        "rows": line_rows(result.lines, result.sentences),
        "counts": result.counts,
        "parts": progress_parts(result.counts),
        "filename": file.name,
    }
    if wants_json(request):
        html = render_to_string("runs/dry_run.html", checked, request=request)
        return JsonResponse({"dry_run": True, "html": html})
    return _submit_page(request, checked=checked)


def _file_from(request: HttpRequest) -> UploadedFile[Any]:
    files = request.FILES.getlist("file")
    if not files:
        raise BadInput("Choose a file first.", place="file")
    if len(files) > 1:
        raise BadInput(f"Expected one file at a time, got {len(files)}.", place="file")
    return files[0]


def _submission_from(request: HttpRequest) -> Submission:
    """Hand the sent file to the service, for an agent that exists or is made now."""
    owner = cast(User, request.user)
    file = _file_from(request)
    return services.submission_create(
        owner=owner,
        agent=_agent_from(request, owner),
        payload=cast(Any, file),
        filename=file.name or "",
        source=SubmissionSource.PAGE,
    )


def _agent_from(request: HttpRequest, owner: User) -> Agent:
    slug = request.POST.get("agent", "")
    if slug in ("", NEW_AGENT):
        return services.agent_ensure_named(owner=owner, name=request.POST.get("agent_name", ""))
    return selectors.agent_for_upload(viewer=owner, slug=slug)


def _submit_page(
    request: HttpRequest, *, error: DomainError | None = None, checked: dict[str, Any] | None = None
) -> HttpResponse:
    agents = list(selectors.agents_for_upload(viewer=request.user))
    chosen = request.POST.get("agent") or request.GET.get("agent", "")
    name = request.POST.get("agent_name", "")
    if chosen == NEW_AGENT:  # it may have been made before the file was refused
        chosen = next((agent.slug for agent in agents if agent.name == " ".join(name.split())), NEW_AGENT)
    context: dict[str, Any] = {
        "limits": upload_limits(),
        "agents": agents,
        "chosen": chosen,
        "agent_name": name,
        "queue": selectors.queue_status(),
        "error": error,
        "error_rows": line_rows(error.lines) if isinstance(error, SubmissionRefused) else [],
        "dry": bool(request.POST.get("dry_run")),
        "checked": checked,
        "NEW_AGENT": NEW_AGENT,
    }
    if request.user.is_authenticated:
        used, limit = selectors.uploads_used(owner=request.user)
        context |= {
            "used": used,
            "limit": limit,
            "recent": selectors.submission_list(viewer=request.user, mine=True)[:RECENT_UPLOADS],
        }
    status = error.http_status if error else 200
    return render(request, "runs/submit.html", context, status=status)


@login_required
@never_cache
@require_safe
def submission_list(request: HttpRequest) -> HttpResponse:
    """Every upload that the visitor sent, newest first."""
    submissions = Paginator(selectors.submission_list(viewer=request.user, mine=True), UPLOADS_PER_PAGE)
    context = {"page": submissions.get_page(request.GET.get("page"))}
    return render(request, "runs/submission_list.html", context)


@never_cache
@require_safe
def submission_detail(request: HttpRequest, submission_id: UUID) -> HttpResponse:
    """One upload with the verdict of each record; a script keeps it fresh, a reload shows the same."""
    submission = selectors.submission_get(viewer=request.user, submission_id=submission_id)
    if submission.finished_at is not None and submission.owner_id == request.user.pk:
        notices_mark_read(user=submission.owner, key=services.submission_notice_key(submission.pk))
    lines = Paginator(selectors.submission_lines(submission=submission), LINES_PER_PAGE)
    page = lines.get_page(request.GET.get("page"))
    counts = selectors.submission_counts(submission=submission)
    context = _addresses(submission) | {
        "submission": submission,
        "page": page,
        "rows": line_rows(page.object_list),
        "counts": counts,
        "parts": progress_parts(counts),
        "limits": upload_limits(),
        "queue": selectors.queue_status(),
    }
    return render(request, "runs/submission.html", context)


@never_cache
@require_safe
def submission_status(request: HttpRequest, submission_id: UUID) -> HttpResponse:
    """
    What has changed in one page of an upload's rows, as JSON.

    `have` holds one letter for each row that the page shows; only rows whose letter differs come back,
    as the same HTML that the page itself has.
    """
    submission = selectors.submission_get(viewer=request.user, submission_id=submission_id)
    lines = Paginator(selectors.submission_lines(submission=submission), LINES_PER_PAGE)
    page = lines.get_page(request.GET.get("page"))
    counts = selectors.submission_counts(submission=submission)
    parts = {"counts": counts, "parts": progress_parts(counts), "submission": submission}
    body = {
        "finished": counts.is_finished,
        "progress": render(request, "runs/progress.html", parts).content.decode(),
        "rows": changed_rows(request, page.object_list, have=request.GET.get("have", "")),
    }
    return JsonResponse(body | _addresses(submission))


def _addresses(submission: Submission) -> dict[str, str]:
    return {
        "id": str(submission.pk),
        "url": reverse("submission_detail", args=[submission.pk]),
        "status_url": reverse("submission_status", args=[submission.pk]),
    }
