"""What may be told of an episode: before its end nothing but observations and facts that they show."""

from __future__ import annotations

from datetime import timedelta

from ember_site.core import clock
from ember_site.episodes.answers import EpisodeView
from ember_site.episodes.deltas import Wire
from ember_site.episodes.limits import episode_limits
from ember_site.episodes.models import Episode
from simulator import Observation


def view_make(
    episode: Episode, *, step: int, observation: Observation, deltas: list[Wire] | None
) -> EpisodeView:
    """The view of an episode that stands at `step`.

    Run and seed are in it after the end only, and never those of a hidden episode.
    """
    shown = episode.state == Episode.State.ENDED and not episode.is_hidden
    return EpisodeView(
        step=step,
        state=episode.state,
        observation=observation,
        deltas=deltas,
        reason=episode.reason,
        run=str(episode.run_id) if shown and episode.run_id else None,
        storing=_is_storing(episode),
        seed=episode.seed if shown else None,
        hidden=episode.is_hidden,
        remote=episode.is_remote,
        move_due_at=episode.move_due_at,
        idle_due_at=episode.last_active_at + timedelta(seconds=episode_limits().agent_idle_s)
        if episode.is_remote
        else None,
        steps_per_second=episode.steps_per_second,
    )


def _is_storing(episode: Episode) -> bool:
    """Whether it ended a moment ago and its run is about to be stored, a hidden one's too."""
    ended_at = episode.ended_at
    if episode.state != Episode.State.ENDED or episode.run_id is not None or ended_at is None:
        return False
    return clock.now() - ended_at < timedelta(seconds=episode_limits().end_awaits_run_s)
