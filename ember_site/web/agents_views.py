"""Agents and the visitor's own corner."""

from __future__ import annotations

from copy import copy
from typing import cast

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.core.paginator import Paginator
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_safe

from ember_site.accounts.guests import guest_key_get
from ember_site.accounts.models import User
from ember_site.accounts.selectors import notice_list
from ember_site.boards.selectors import entries_of_agent
from ember_site.core.errors import BadInput
from ember_site.episodes.guests import guest_work
from ember_site.runs import selectors, services
from ember_site.runs.models import Agent, AgentKind
from ember_site.web.forms import Refusals
from ember_site.web.runs_forms import AgentForm
from ember_site.web.runs_pages import RECENT_UPLOADS, RUNS_PER_PAGE


@require_safe
def agent_list(request: HttpRequest) -> HttpResponse:
    """Every agent that may be listed, by name."""
    kind = request.GET.get("kind", "")
    if kind not in ("", *AgentKind.values):
        raise BadInput(f"Expected one of {', '.join(AgentKind.values)}, got {kind[:40]!r}.", place="kind")
    agents = Paginator(selectors.agent_list(viewer=request.user, kind=kind), RUNS_PER_PAGE)
    page = agents.get_page(request.GET.get("page"))
    return render(request, "runs/agent_list.html", {"page": page, "kind": kind})


@require_safe
def agent_detail(request: HttpRequest, slug: str) -> HttpResponse:
    """One agent: profile, entries on boards, runs."""
    agent = selectors.agent_get(viewer=request.user, slug=slug)
    runs = Paginator(selectors.run_list(viewer=request.user, agent=agent), RUNS_PER_PAGE)
    context = {
        "agent": agent,
        "mine": selectors.agent_is_mine(viewer=request.user, agent=agent),
        "page": runs.get_page(request.GET.get("page")),
        "entries": entries_of_agent(agent=agent, viewer=request.user),
    }
    return render(request, "runs/agent.html", context)


@login_required
@require_http_methods(["GET", "HEAD", "POST"])
def agent_create(request: HttpRequest) -> HttpResponse:
    """A new agent."""
    form = AgentForm(request.POST or None)
    if request.method == "POST" and form.is_valid():
        with Refusals(form):
            agent = services.agent_create(owner=cast(User, request.user), fields=_fields(form))
            messages.success(request, f"{agent.name} is ready for runs.")
            return redirect("agent_detail", slug=agent.slug)
    return _agent_form(request, form)


@login_required
@require_http_methods(["GET", "HEAD", "POST"])
def agent_edit(request: HttpRequest, slug: str) -> HttpResponse:
    """Change what an agent says about itself."""
    viewer = cast(User, request.user)
    agent = selectors.agent_get_own(viewer=viewer, slug=slug)
    # Form and service fill what they are given; the page goes on with the agent as it is kept.
    form = AgentForm(request.POST or None, instance=copy(agent))
    if request.method == "POST" and form.is_valid():
        with Refusals(form):
            services.agent_update(viewer=viewer, agent=copy(agent), fields=_fields(form))
            messages.success(request, "Saved.")
            return redirect("agent_detail", slug=agent.slug)
    return _agent_form(request, form, agent=agent)


def _fields(form: AgentForm) -> services.AgentFields:
    return cast(services.AgentFields, form.cleaned_data)


def _agent_form(request: HttpRequest, form: AgentForm, *, agent: Agent | None = None) -> HttpResponse:
    status = 422 if form.errors else 200
    return render(request, "runs/agent_form.html", {"form": form, "agent": agent}, status=status)


@login_required
@never_cache
@require_safe
def me(request: HttpRequest) -> HttpResponse:
    """My agents, runs and uploads, and what I was told last."""
    viewer = cast(User, request.user)
    runs = Paginator(selectors.run_list(viewer=viewer, mine=True), RUNS_PER_PAGE)
    context = {
        "agents": selectors.agent_list(viewer=viewer, mine=True),
        "page": runs.get_page(request.GET.get("page")),
        "submissions": selectors.submission_list(viewer=viewer, mine=True)[:RECENT_UPLOADS],
        "notices": notice_list(viewer=viewer)[:3],
        "claim": guest_work(guest_key=guest_key_get(request.session)),
    }
    return render(request, "runs/me.html", context)
