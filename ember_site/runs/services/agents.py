"""Write agents."""

from __future__ import annotations

from decimal import Decimal
from typing import TypedDict
from uuid import uuid4

from django.core.exceptions import ValidationError
from django.db import IntegrityError, transaction
from django.utils.text import slugify

from ember_site.accounts.models import User
from ember_site.core.audit import audit_record
from ember_site.core.errors import BadInput, Forbidden
from ember_site.core.models import AuditAction
from ember_site.core.names import name_read
from ember_site.runs.models import Agent, AgentKind, Visibility
from ember_site.runs.visibility import agent_is_mine
from simulator import policies

RESERVED_SLUGS = frozenset({"new", *policies.BASELINES})
SLUG_CHARS = 60
NAME_CHARS = 80


class AgentFields(TypedDict, total=False):
    """What an owner may say about an agent."""

    name: str
    url: str
    note: str
    provider: str
    cost_usd: Decimal | None
    tokens: int | None
    visibility: str


def agent_create(*, owner: User, fields: AgentFields) -> Agent:
    """
    Make a `model` agent, the one kind that an account makes by hand.

    Raises:
        BadInput: a field is not acceptable; `place` names it.
    """
    agent = Agent(owner=owner, kind=AgentKind.MODEL)
    _agent_fill(agent, fields)
    return _agent_insert(agent)


@transaction.atomic
def agent_ensure_named(*, owner: User, name: str) -> Agent:
    """
    The account's `model` agent of that name, made if there is none.

    So a form that is sent again after a refusal, or once for each of several files, makes one agent.

    Raises:
        BadInput: the name is not acceptable.
    """
    User.objects.select_for_update(no_key=True).get(pk=owner.pk)  # one at a time
    agent = Agent(owner=owner, kind=AgentKind.MODEL)
    _agent_fill(agent, {"name": name})
    same = Agent.objects.filter(owner=owner, kind=AgentKind.MODEL, name=agent.name)
    return same.order_by("created_at", "id").first() or _agent_insert(agent)


@transaction.atomic
def agent_update(*, viewer: User, agent: Agent, fields: AgentFields) -> Agent:
    """
    Change what an agent says about itself. Kind, owner and slug stay, so links keep working.

    Raises:
        Forbidden: the agent is not the viewer's.
        BadInput: a field is not acceptable; `place` names it.
    """
    if not agent_is_mine(viewer=viewer, agent=agent):
        raise Forbidden("This agent belongs to somebody else.")
    before = (
        Agent.objects.select_for_update(no_key=True).values_list("visibility", flat=True).get(pk=agent.pk)
    )
    _agent_fill(agent, fields)
    agent.save()
    if before != agent.visibility:
        audit_record(
            actor=viewer,
            action=AuditAction.AGENT_VISIBILITY,
            object_kind="agent",
            object_id=agent.pk,  # the slug was made from words of the owner, which must be erasable
            data={"from": before, "to": str(agent.visibility)},
        )
    return agent


def human_agent_for(user: User) -> Agent:
    """The account's one `human` agent, made when it is first needed."""
    existing = Agent.objects.filter(owner=user, kind=AgentKind.HUMAN).first()
    if existing is not None:
        return existing
    try:
        with transaction.atomic():
            return _agent_insert(Agent(owner=user, kind=AgentKind.HUMAN, name=user.public_name))
    except IntegrityError:  # a parallel request was faster
        return Agent.objects.get(owner=user, kind=AgentKind.HUMAN)


def baseline_agent(name: str) -> Agent:
    """The organiser's agent of a baseline policy; its slug is the policy's name."""
    agent, _ = Agent.objects.get_or_create(
        slug=name,
        defaults={
            "name": name,
            "kind": AgentKind.BASELINE,
            "note": "A baseline policy that ships with the simulator.",
            "visibility": Visibility.PUBLIC,
        },
    )
    return agent


def _agent_fill(agent: Agent, fields: AgentFields) -> None:
    for name, value in fields.items():
        if isinstance(value, str) and "\0" in value:
            raise BadInput("Null characters are not allowed.", place=name)
        setattr(agent, name, value)
    agent.name = name_read(agent.name, longest=NAME_CHARS, place="name")
    agent.provider = name_read(agent.provider, longest=NAME_CHARS, place="provider")
    if not agent.name:
        raise BadInput("A name is needed.", place="name")
    try:
        agent.clean_fields(exclude=["slug", "owner"])
    except ValidationError as error:
        field, messages = next(iter(error.message_dict.items()))
        raise BadInput(messages[0], place=field) from error


def _agent_insert(agent: Agent) -> Agent:
    """Save a new agent under a slug made from its name, with a random tail where that is taken."""
    stem = slugify(agent.name)[:SLUG_CHARS].strip("-_")
    free = stem and stem not in RESERVED_SLUGS and not Agent.objects.filter(slug=stem).exists()
    agent.slug = stem if free else f"{stem or 'agent'}-{uuid4().hex[:6]}"
    agent.save(force_insert=True)
    return agent
