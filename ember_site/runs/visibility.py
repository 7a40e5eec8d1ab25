"""Who may see an agent, a run or a submission: decided here, once, for pages, API and exports."""

from __future__ import annotations

from django.db.models import Q, QuerySet

from ember_site.accounts.visitors import Viewer, is_organiser
from ember_site.core import clock
from ember_site.runs.models import Agent, Run, Submission, Visibility

LINKED = (Visibility.PUBLIC, Visibility.UNLISTED)


def agents_visible(*, viewer: Viewer, listed: bool) -> QuerySet[Agent]:
    """
    The agents that the viewer may see.

    With `listed`, those that a list may name: public ones and the viewer's own. Otherwise also
    unlisted ones, for whoever has the link.
    """
    if is_organiser(viewer):
        return Agent.objects.all()
    allowed = Q(visibility=Visibility.PUBLIC) if listed else Q(visibility__in=LINKED)
    return Agent.objects.filter(allowed | _owned(viewer, "owner"))


def runs_visible(*, viewer: Viewer, guest_key: str = "", listed: bool) -> QuerySet[Run]:
    """
    The runs that the viewer may see; the stricter of the run's and its agent's visibility holds.

    Runs that are hidden until a later instant are in nobody's list. Withdrawn ones are no longer
    listed, but their link still leads to a tombstone. A guest's run, which has no agent, is seen by
    its guest, and by others through its link.
    """
    runs = Run.objects.filter(not_hidden())
    if listed:
        runs = runs.filter(withdrawn_at__isnull=True)
    if is_organiser(viewer):
        return runs
    mine = _owned(viewer, "agent__owner")
    if guest_key:
        mine |= Q(agent__isnull=True, guest_key=guest_key)
    if listed:
        return runs.filter(Q(visibility=Visibility.PUBLIC, agent__visibility=Visibility.PUBLIC) | mine)
    by_link = Q(visibility__in=LINKED) & (Q(agent__isnull=True) | Q(agent__visibility__in=LINKED))
    return runs.filter(by_link | mine)


def agents_own(agents: QuerySet[Agent], *, viewer: Viewer) -> QuerySet[Agent]:
    """Those of the agents that belong to the viewer."""
    return agents.filter(_owned(viewer, "owner"))


def runs_own(runs: QuerySet[Run], *, viewer: Viewer, guest_key: str = "") -> QuerySet[Run]:
    """Those of the runs that belong to the viewer's agents, or to the guest."""
    own = _owned(viewer, "agent__owner")
    return runs.filter(own | Q(agent__isnull=True, guest_key=guest_key) if guest_key else own)


def submissions_visible(*, viewer: Viewer) -> QuerySet[Submission]:
    """The viewer's own uploads; an organiser sees all."""
    if is_organiser(viewer):
        return Submission.objects.all()
    return Submission.objects.filter(_owned(viewer, "owner"))


def submissions_own(submissions: QuerySet[Submission], *, viewer: Viewer) -> QuerySet[Submission]:
    """Those of the uploads that the viewer sent."""
    return submissions.filter(_owned(viewer, "owner"))


def not_hidden() -> Q:
    """
    Condition on runs: no evaluation keeps them secret at this instant.

    One that an evaluation holds without having named an instant stays secret: whoever forgets the
    instant must not publish a seed.
    """
    return Q(hidden_until__isnull=True, hidden_ref="") | Q(hidden_until__lte=clock.now())


def agent_is_named(*, viewer: Viewer, agent: Agent) -> bool:
    """Whether a page or a list that anybody may open names the agent to the viewer."""
    return (
        agent.visibility == Visibility.PUBLIC
        or is_organiser(viewer)
        or agent_is_mine(viewer=viewer, agent=agent)
    )


def agent_is_mine(*, viewer: Viewer, agent: Agent) -> bool:
    """Whether the viewer may change the agent: its owner, or an organiser for a baseline."""
    if agent.owner_id is None:
        return is_organiser(viewer)
    return viewer.is_authenticated and agent.owner_id == viewer.pk


def run_is_mine(*, viewer: Viewer, guest_key: str = "", run: Run) -> bool:
    """Whether the run belongs to the viewer, as the owner of its agent or as its guest."""
    if run.agent is None:
        return bool(guest_key) and run.guest_key == guest_key
    return agent_is_mine(viewer=viewer, agent=run.agent)


def _owned(viewer: Viewer, field: str) -> Q:
    """Condition `field is the viewer`; nothing for visitors without an account."""
    return Q(**{field: viewer.pk}) if viewer.is_authenticated else Q(pk__in=())
