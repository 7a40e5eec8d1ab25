"""What happens when nobody acts: people's episodes rest, agents' go on without them.

Everything here is called again and again by every web process. It is safe to run in several at once:
changes of state are single conditional updates, and steps are made exactly once like all others.
"""

from __future__ import annotations

import logging
from dataclasses import dataclass, field
from datetime import timedelta
from uuid import UUID

from django.db.models import QuerySet

from ember_site.core import clock
from ember_site.core.errors import DomainError, NotFound
from ember_site.episodes.answers import StepResult
from ember_site.episodes.limits import episode_limits
from ember_site.episodes.models import Episode
from ember_site.episodes.services import episode_step, episode_view
from simulator import PersonStatus

logger = logging.getLogger(__name__)


class EpisodeOver(DomainError):
    """The episode takes no steps any more, so that nothing can keep it open."""

    code = "episode_over"
    http_status = 422


@dataclass(slots=True)
class Stays:
    """Steps in which everybody stayed because an agent was late: the last one of each episode."""

    made: dict[UUID, int] = field(default_factory=dict)
    more: bool = False


def episodes_pause_idle() -> int:
    """Pause the episodes of people who did nothing for long; give up those that nobody took up again.

    What was done stays in the log of an abandoned episode; it becomes no run.
    """
    now, limits = clock.now(), episode_limits()
    rests_since = now - timedelta(seconds=limits.idle_pause_s)
    people = Episode.objects.exclude(mode=Episode.Mode.BASELINE).filter(move_due_at__isnull=True)
    paused = people.filter(state=Episode.State.RUNNING, last_active_at__lt=rests_since).update(
        state=Episode.State.PAUSED
    )
    people.filter(
        state=Episode.State.PAUSED, last_active_at__lt=rests_since - timedelta(seconds=limits.paused_kept_s)
    ).update(state=Episode.State.ABANDONED, ended_at=now, reason="abandoned")
    return paused


def episode_heartbeat(*, episode_id: UUID) -> None:
    """Note that the player is still there. It moves nobody and gives no more time for the step itself.

    Raises:
        NotFound: there is no such episode.
        EpisodeOver: it takes no steps any more.
    """
    going = Episode.objects.filter(pk=episode_id, state=Episode.State.RUNNING).exclude(reason=Episode.IDLE)
    if going.update(last_active_at=clock.now()):
        return
    episode = Episode.objects.filter(pk=episode_id).first()
    if episode is None:
        raise NotFound("There is no such episode.")
    if not episode.is_open or episode.is_given_up:
        raise EpisodeOver(code="episode_frozen" if episode.state == Episode.State.FROZEN else None)


def agents_keep_limits() -> Stays:
    """Hold agents that play from elsewhere to their limits, on the server's clock.

    Where the time for a step is over, everybody stays for that step. An agent of which nothing was
    heard for the idle limit is given up: everybody stays until its episode ends, which then becomes a
    complete run. At most `stays_per_sweep` steps are made in one call; `more` says that some are left.
    """
    now, limits = clock.now(), episode_limits()
    running = Episode.objects.filter(state=Episode.State.RUNNING, move_due_at__isnull=False)
    idle_since = now - timedelta(seconds=limits.agent_idle_s)
    running.filter(last_active_at__lt=idle_since, reason="").update(reason=Episode.IDLE)
    stays, budget = Stays(), limits.stays_per_sweep
    late = running.filter(move_due_at__lte=now, reason="").order_by("move_due_at")
    for episode_id, step in late.values_list("pk", "step")[:budget]:
        _stay(episode_id, step, stays)
    for episode_id, step in _given_up(running):
        while budget and _stay(episode_id, step, stays):
            budget, step = budget - 1, step + 1
    stays.more = budget == 0
    return stays


def _given_up(running: QuerySet[Episode]) -> list[tuple[UUID, int]]:
    """Episodes that only wait for their end, with the last step made; first those that waited longest."""
    return list(running.filter(reason=Episode.IDLE).order_by("last_active_at").values_list("pk", "step"))


def _stay(episode_id: UUID, step: int, stays: Stays) -> bool:
    """Have everybody stay in the step after `step`; whether the episode goes on after it.

    Where the agent was faster after all, nothing happens. A fault in one episode holds up no other.
    """
    try:
        view = episode_view(episode_id=episode_id)
        if view.step != step or view.state != Episode.State.RUNNING:
            return False
        active = [person.id for person in view.observation.people if person.status is PersonStatus.ACTIVE]
        actions = dict.fromkeys(active, "stay")
        answer = episode_step(episode_id=episode_id, step=step + 1, actions=actions, by_server=True)
    except Exception:
        logger.exception("episode %s: step %s could not be made for its agent", episode_id, step + 1)
        return False
    if answer.result is StepResult.APPLIED:
        stays.made[episode_id] = answer.now
    return answer.result is StepResult.APPLIED and answer.state == Episode.State.RUNNING
