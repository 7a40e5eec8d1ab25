"""Reads of episodes. Who may see and who may play is decided here."""

from __future__ import annotations

import json
from collections.abc import Generator, Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta
from uuid import UUID

from django.db.models import Count, Max, Q, QuerySet, Sum

from ember_site.accounts.models import ApiToken
from ember_site.accounts.visitors import Viewer
from ember_site.catalog.models import Scenario
from ember_site.core import clock
from ember_site.core.errors import NotFound
from ember_site.episodes.limits import episode_limits
from ember_site.episodes.models import Episode, EpisodeStep
from ember_site.runs.models import Agent, RunState
from ember_site.runs.visibility import agent_is_named

LIVE_WITHIN = timedelta(minutes=10)
"""An episode without a step for longer is open, but nothing to watch."""

MOVING_WITHIN = timedelta(seconds=60)
"""An episode with a step in this time is shown to people who did not ask for one."""


@dataclass(frozen=True, slots=True)
class EpisodeChange:
    """What a hub needs to know to notice that something happened elsewhere."""

    step: int
    state: str
    run_id: UUID | None
    last_active_at: datetime
    player_since: datetime | None
    watchers_elsewhere: int


@dataclass(frozen=True, slots=True)
class EpisodeCounts:
    """How many episodes go on, rest, and were stopped because their log gave another state."""

    running: int
    paused: int
    frozen: int


def episode_counts() -> EpisodeCounts:
    """The episodes of the whole site, sealed ones included, by state. One query."""
    states = Episode.objects.values_list("state").annotate(n=Count("pk")).order_by()
    count = dict(states.filter(state__in=("running", "paused", "frozen")))
    return EpisodeCounts(
        running=count.get("running", 0), paused=count.get("paused", 0), frozen=count.get("frozen", 0)
    )


def episode_get(*, viewer: Viewer, guest_key: str = "", episode_id: UUID) -> Episode:
    """One episode with its scenario.

    Outside sealed evaluations everybody may watch; a sealed one exists for its player alone.

    Raises:
        NotFound: there is none, or the viewer may not know that there is.
    """
    episode = Episode.objects.select_related("scenario", "agent", "owner").filter(pk=episode_id).first()
    if episode is None or (
        episode.is_hidden and not episode_is_mine(viewer=viewer, guest_key=guest_key, episode=episode)
    ):
        raise NotFound("There is no such episode, or you may not see it.")
    return episode


def episode_agent_named(*, viewer: Viewer, episode: Episode) -> Agent | None:
    """The agent that this visitor may be told to play the episode.

    None for a guest's episode, in a sealed evaluation, and where the agent is in nobody's list: an
    episode may be watched by all, which names no agent that its owner does not name.
    """
    agent = episode.agent
    named = agent is not None and not episode.is_hidden and agent_is_named(viewer=viewer, agent=agent)
    return agent if named else None


def episode_is_mine(*, viewer: Viewer, guest_key: str, episode: Episode) -> bool:
    """Whether this visitor plays the episode. Nobody plays a baseline's."""
    return episode.mode != Episode.Mode.BASELINE and _is_of(viewer, guest_key, episode)


def episode_is_started_by(*, viewer: Viewer, guest_key: str, episode: Episode) -> bool:
    """Whether this visitor had the baseline of this episode started, and so may set its speed."""
    return episode.mode == Episode.Mode.BASELINE and _is_of(viewer, guest_key, episode)


def episode_may_act(*, viewer: Viewer, guest_key: str = "", scope: str = "", episode: Episode) -> bool:
    """Whether this visitor may make steps.

    A program, which comes with a token of some `scope`, plays only for `model` agents: the runs of a
    `human` agent are those that its owner plays on this site.
    """
    if scope and (scope != ApiToken.Scope.PLAY or not episode.is_remote):
        return False
    return episode_is_mine(viewer=viewer, guest_key=guest_key, episode=episode)


def episode_live_list() -> QuerySet[Episode]:
    """Episodes that somebody plays now and anybody may watch, the last active first. Paginate it."""
    lately = clock.now() - LIVE_WITHIN
    return (
        Episode.objects.filter(_not_hidden(), state=Episode.State.RUNNING, last_active_at__gte=lately)
        .select_related("scenario", "agent", "owner")
        .order_by("-last_active_at", "id")
    )


def episode_moving() -> Episode | None:
    """The episode to show on the front page: one in which something happens now. One query.

    The most people first, then the newest, so that the choice does not flicker from step to step.
    """
    lately = clock.now() - MOVING_WITHIN
    moving = episode_live_list().filter(last_active_at__gte=lately, step__gte=1)
    return moving.order_by("-scenario__population", "-created_at", "id").first()


def episode_own_open(
    *, viewer: Viewer, guest_key: str, scenario: Scenario | None = None
) -> QuerySet[Episode]:
    """The visitor's own episodes that can still go on, the most recently active first. Paginate it."""
    open_ones = _own(viewer, guest_key).filter(state__in=(Episode.State.RUNNING, Episode.State.PAUSED))
    if scenario is not None:
        open_ones = open_ones.filter(scenario=scenario)
    return open_ones.select_related("scenario", "agent").order_by("-last_active_at", "id")


def episode_own_best(*, viewer: Viewer, guest_key: str) -> dict[str, int]:
    """The most people that the visitor got out of each scenario, by content hash. One query."""
    verified = _own(viewer, guest_key).filter(_not_hidden(), run__state=RunState.VERIFIED)
    return dict(verified.order_by().values_list("scenario_id").annotate(Max("run__evacuated")))


def episode_changes(*, episode_ids: Iterable[UUID], process: str = "") -> dict[UUID, EpisodeChange]:
    """Where the given episodes stand now, with the watchers of all processes but this. One query."""
    lately = clock.now() - timedelta(seconds=episode_limits().audience_silent_s)
    elsewhere = Sum(
        "audience__watchers",
        filter=~Q(audience__process=process) & Q(audience__seen_at__gte=lately),
        default=0,
    )
    episodes = Episode.objects.filter(pk__in=list(episode_ids)).annotate(elsewhere=elsewhere)
    rows = episodes.values_list(
        "pk", "step", "state", "run_id", "last_active_at", "player_since", "elsewhere"
    )
    return {row[0]: EpisodeChange(*row[1:]) for row in rows}


def episode_log(
    *, episode_id: UUID, after: int = 0
) -> Generator[tuple[int, dict[str, str], str], None, None]:
    """Logged steps later than `after`: number, actions, digest of the state. For the server only.

    Close it where reading may stop before the end: it holds a cursor of the database until then.
    """
    rows = EpisodeStep.objects.filter(episode_id=episode_id, step__gt=after).order_by("step")
    for number, actions, digest in rows.values_list("step", "actions", "state_digest").iterator(
        chunk_size=500
    ):
        yield number, json.loads(actions), digest


def _is_of(viewer: Viewer, guest_key: str, episode: Episode) -> bool:
    """Whether this visitor began the episode, by account or by the key of a guest."""
    if episode.owner_id is not None:
        return bool(viewer.is_authenticated) and viewer.pk == episode.owner_id
    return bool(guest_key) and episode.guest_key == guest_key


def _own(viewer: Viewer, guest_key: str) -> QuerySet[Episode]:
    played = Episode.objects.exclude(mode=Episode.Mode.BASELINE).filter(move_due_at__isnull=True)
    if viewer.is_authenticated:
        return played.filter(owner=viewer.pk)
    if guest_key:
        return played.filter(owner__isnull=True, guest_key=guest_key)
    return played.none()


def _not_hidden() -> Q:
    return Q(hidden_until__isnull=True, hidden_ref="")
