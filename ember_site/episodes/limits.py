"""Limits of live play: those of the settings, and the inner ones that `EPISODE_LIMITS` may change."""

from __future__ import annotations

from dataclasses import dataclass, fields

from django.conf import settings

SLOWEST_STEPS_PER_S = 0.5
"""What a baseline's speed may be set to at least."""


@dataclass(frozen=True, slots=True)
class EpisodeLimits:
    """Every number that live play enforces; names carry the unit."""

    message_bytes: int = 64 * 1024
    messages_per_s: int = 20
    bad_messages: int = 3
    sockets_per_user: int = 5
    sockets_per_address: int = 20
    watchers_per_episode: int = 300
    hello_timeout_s: float = 15.0
    slow_reader_s: float = 20.0
    after_end_s: float = 60.0
    end_awaits_run_s: float = 10.0
    finish_at_once_steps: int = 2_000
    mailbox_frames: int = 32
    mailbox_bytes: int = 512 * 1024
    resume_deltas: int = 32
    idle_pause_s: float = 30 * 60
    paused_kept_s: float = 24 * 60 * 60
    agent_move_s: float = 10 * 60
    agent_idle_s: float = 15 * 60
    guest_runs_kept_s: float = 24 * 60 * 60
    stays_per_sweep: int = 500
    poll_s: float = 0.5
    sweep_s: float = 5.0
    rights_check_s: float = 20.0
    lease_s: float = 10.0
    audience_silent_s: float = 15.0
    baselines_running: int = 24
    baselines_per_viewer: int = 3
    baselines_per_address: int = 6
    open_episodes_per_viewer: int = 50
    live_episodes_in_memory: int = 256

    def public(self, *, remote: bool = False) -> dict[str, float]:
        """The limits that a client is told; for an agent that plays from elsewhere also its own."""
        both: dict[str, float] = {
            "message_bytes": self.message_bytes,
            "messages_per_s": self.messages_per_s,
            "idle_s": self.agent_idle_s if remote else self.idle_pause_s,
        }
        return both | {"move_s": self.agent_move_s} if remote else both


def episode_limits() -> EpisodeLimits:
    """The limits in force.

    Raises:
        TypeError: `EPISODE_LIMITS` names a limit that does not exist.
    """
    overrides = getattr(settings, "EPISODE_LIMITS", {})
    unknown = set(overrides) - {field.name for field in fields(EpisodeLimits)}
    if unknown:
        raise TypeError(f"EPISODE_LIMITS has unknown names: {sorted(unknown)}")
    from_settings = {
        "message_bytes": settings.EMBER_SOCKET_MESSAGE_MAX_BYTES,
        "messages_per_s": settings.EMBER_SOCKET_MESSAGES_PER_SECOND,
        "sockets_per_user": settings.EMBER_SOCKETS_PER_USER,
        "sockets_per_address": settings.EMBER_SOCKETS_PER_ADDRESS,
        "baselines_per_address": settings.EMBER_BASELINES_PER_ADDRESS,
        "watchers_per_episode": settings.EMBER_WATCHERS_PER_EPISODE,
        "idle_pause_s": settings.EMBER_PLAY_IDLE_S,
        "paused_kept_s": settings.EMBER_PAUSED_KEPT_S,
        "agent_move_s": settings.EMBER_AGENT_MOVE_S,
        "agent_idle_s": settings.EMBER_AGENT_IDLE_S,
        "guest_runs_kept_s": settings.EMBER_GUEST_RUNS_KEPT_S,
    }
    return EpisodeLimits(**{**from_settings, **overrides})
