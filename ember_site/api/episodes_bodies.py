"""What the API says about a live episode: observations, and facts that they show. Nothing else."""

from __future__ import annotations

from typing import Any

from rest_framework.request import Request
from rest_framework.reverse import reverse

from ember_site.episodes.answers import EpisodeView
from ember_site.episodes.deltas import observation_summary
from ember_site.episodes.limits import episode_limits
from ember_site.episodes.models import Episode
from ember_site.episodes.selectors import episode_agent_named

Body = dict[str, Any]

PARTS = {
    "self": "api_episode_detail",
    "steps": "api_episode_steps",
    "observation": "api_episode_observation",
    "heartbeat": "api_episode_heartbeat",
    "html": "live_detail",
}


def present_body(view: EpisodeView) -> Body:
    """Where the episode stands, with the whole observation."""
    return standing_body(view) | {"observation": view.observation.to_dict()}


def standing_body(view: EpisodeView) -> Body:
    """Where the episode stands: step, state, deadlines of the agent, and the end once it is there."""
    return {
        "step": view.step,
        "state": view.state,
        "move_due_at": view.move_due_at,
        "idle_due_at": view.idle_due_at,
        "end": _end_body(view) if view.state == Episode.State.ENDED else None,
    }


def episode_body(episode: Episode, view: EpisodeView, request: Request) -> Body:
    """One episode. Of a sealed evaluation neither scenario nor agent is named."""
    named = not episode.is_hidden
    agent = episode_agent_named(viewer=request.user, episode=episode)
    return {
        "id": str(episode.pk),
        "mode": episode.mode,
        "agent": agent.slug if agent else None,
        "scenario_hash": episode.scenario_id if named else None,
        "created_at": episode.created_at,
        "limits": episode_limits().public(remote=episode.is_remote),
        "links": _links(episode, view, request),
        **standing_body(view),
    }


def listed_body(episode: Episode, request: Request) -> Body:
    """One episode of a list, from its row alone; of a sealed one neither scenario nor agent is named."""
    named = not episode.is_hidden
    agent = episode_agent_named(viewer=request.user, episode=episode)
    return {
        "id": str(episode.pk),
        "mode": episode.mode,
        "state": episode.state,
        "step": episode.step,
        "agent": agent.slug if agent else None,
        "scenario_hash": episode.scenario_id if named else None,
        "created_at": episode.created_at,
        "last_active_at": episode.last_active_at,
        "links": {
            name: reverse(PARTS[name], args=[episode.pk], request=request) for name in ("self", "html")
        },
    }


def started_body(episode: Episode, view: EpisodeView, request: Request) -> Body:
    """A new episode with its first observation."""
    return {
        "id": str(episode.pk),
        "mode": episode.mode,
        "limits": episode_limits().public(remote=episode.is_remote),
        "links": _links(episode, view, request),
        **present_body(view),
    }


def _links(episode: Episode, view: EpisodeView, request: Request) -> Body:
    links: Body = {name: reverse(part, args=[episode.pk], request=request) for name, part in PARTS.items()}
    scheme = "wss" if request.is_secure() else "ws"
    links["ws"] = f"{scheme}://{request.get_host()}/ws/episodes/{episode.pk}/"
    links["run"] = reverse("api_run_detail", args=[view.run], request=request) if view.run else None
    return links


def _end_body(view: EpisodeView) -> Body:
    """The same as the socket's `end`; run and seed are null where they must stay hidden."""
    return {
        "reason": view.reason,
        "summary": observation_summary(view.observation),
        "run": view.run,
        "seed": view.seed,
    }
