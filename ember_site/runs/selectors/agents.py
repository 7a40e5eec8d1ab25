"""Read agents."""

from __future__ import annotations

from django.db.models import QuerySet

from ember_site.accounts.visitors import Viewer
from ember_site.core.errors import Forbidden, NotFound
from ember_site.runs.models import Agent, AgentKind
from ember_site.runs.visibility import agent_is_mine, agents_own, agents_visible


def agent_list(*, viewer: Viewer, kind: str = "", mine: bool = False) -> QuerySet[Agent]:
    """Agents that the viewer may find in a list, by name, with their owners. Paginate it."""
    agents = agents_visible(viewer=viewer, listed=True)
    if mine:
        agents = agents_own(agents, viewer=viewer)
    if kind:
        agents = agents.filter(kind=kind)
    return agents.select_related("owner").order_by("name", "id")


def agent_get(*, viewer: Viewer, slug: str) -> Agent:
    """
    One agent, by its link.

    Raises:
        NotFound: there is none, or the viewer may not see it.
    """
    agent = agents_visible(viewer=viewer, listed=False).select_related("owner").filter(slug=slug).first()
    if agent is None:
        raise NotFound("There is no agent at this address, or it is private.")
    return agent


def agent_get_own(*, viewer: Viewer, slug: str) -> Agent:
    """
    One agent that the viewer may change, by its link.

    Raises:
        NotFound: there is none, or the viewer may not see it.
        Forbidden: it is somebody else's.
    """
    agent = agent_get(viewer=viewer, slug=slug)
    if not agent_is_mine(viewer=viewer, agent=agent):
        raise Forbidden("This agent belongs to somebody else.")
    return agent


def agents_for_upload(*, viewer: Viewer) -> QuerySet[Agent]:
    """The agents that the viewer may upload runs for: own `model` agents, by name."""
    if not viewer.is_authenticated:
        return Agent.objects.none()
    return Agent.objects.filter(owner=viewer.pk, kind=AgentKind.MODEL).order_by("name", "id")


def agent_for_upload(*, viewer: Viewer, slug: str) -> Agent:
    """
    One of the viewer's agents by slug, for an upload. Kinds that take no uploads are judged later.

    Raises:
        NotFound: there is none that the viewer may see.
    """
    if not slug:
        raise NotFound(
            "Name the agent of these runs: its slug is the last part of its address.", place="agent"
        )
    agent = None
    if slug.isprintable():  # a database may refuse even to look for other text
        agent = agents_visible(viewer=viewer, listed=False).filter(slug=slug[:200]).first()
    if agent is None:
        raise NotFound(f"You have no agent {slug[:80]}.", place="agent")
    return agent
