"""How the site is doing, for everybody; what was decided, for organisers."""

from __future__ import annotations

from typing import Any
from urllib.parse import urlencode

from django.contrib.auth.decorators import login_required
from django.core.paginator import Paginator
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import render
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe
from django.views.decorators.vary import vary_on_headers

from ember_site.accounts.selectors import user_names
from ember_site.core.audit import audit_list
from ember_site.core.models import AuditAction
from ember_site.core.responses import wants_json
from ember_site.web import status_pages

ENTRIES_PER_PAGE = 100
FILTERS = ("action", "object_kind", "object_id")


@require_safe
@never_cache
@vary_on_headers("Accept")
def status(request: HttpRequest) -> HttpResponse:
    """Queue, workers, episodes, versions: a page, or JSON for whoever prefers it."""
    if wants_json(request):
        return status_json(request)
    context: dict[str, Any] = {
        "site": status_pages.site_status(),
        "versions": status_pages.versions(),
        "services": status_pages.services_used(),
    }
    return render(request, "web/status.html", context)


@require_safe
@never_cache
def status_json(request: HttpRequest) -> HttpResponse:
    """The same figures for programs. Always 200: `status` says whether something needs attention."""
    return JsonResponse(status_pages.status_json(status_pages.site_status()))


@login_required
@require_safe
@never_cache
def audit(request: HttpRequest) -> HttpResponse:
    """The log of decisions, filtered by decision, object or account."""
    wanted = {name: request.GET.get(name, "").strip() for name in FILTERS}
    actor = request.GET.get("actor", "").strip()
    actor_id = int(actor) if actor.isascii() and actor.isdigit() and len(actor) < 19 else None
    entries = audit_list(viewer=request.user, actor_id=actor_id, **wanted)
    page = Paginator(entries, ENTRIES_PER_PAGE).get_page(request.GET.get("page"))
    context = {
        "page": page,
        "names": user_names(user_ids=[entry.actor_id for entry in page if entry.actor_id is not None]),
        "actions": AuditAction.choices,
        "wanted": wanted | {"actor": "" if actor_id is None else actor},
        "query": urlencode({name: value for name, value in (*wanted.items(), ("actor", actor)) if value}),
    }
    return render(request, "web/audit.html", context)
