"""One episode as one process serves it: who listens, and what was published last."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field
from datetime import datetime
from uuid import UUID

from ember_site.episodes.answers import EpisodeView
from ember_site.episodes.deltas import Wire, delta_between, observation_summary
from ember_site.episodes.limits import EpisodeLimits
from ember_site.episodes.mailbox import Mailbox
from ember_site.episodes.models import Episode
from ember_site.episodes.protocol import (
    CloseCode,
    frame_crowd,
    frame_delta,
    frame_end,
    frame_notice,
    frame_snapshot,
    frame_speed,
    frame_welcome,
)

PLAYER = "player"
WATCHER = "watcher"


@dataclass(frozen=True, slots=True)
class Dismissal:
    """Why a socket is to be closed; `retry_s` says when to come back, None for never by itself."""

    code: CloseCode
    why: str
    retry_s: float | None = None


TAKEN_OVER = Dismissal(CloseCode.TAKEN_OVER, "You play this episode in another window now.")


@dataclass(eq=False, slots=True)
class Member:
    """One socket in a room, opened at `since`."""

    role: str
    mailbox: Mailbox
    since: datetime
    session_key: str = ""
    identity: str = ""
    sending_since: float | None = None
    dismissed: asyncio.Future[Dismissal] = field(
        default_factory=lambda: asyncio.get_running_loop().create_future()
    )

    def dismiss(self, dismissal: Dismissal) -> None:
        """Ask the socket's own task to say goodbye and close; the first reason counts."""
        if not self.dismissed.done():
            self.dismissed.set_result(dismissal)


class Room:
    """The members of one episode and the last view that they were told.

    Belongs to the event loop. `lock` is held by whoever asks the database for a newer view and
    publishes it, so that views are published in order.
    """

    def __init__(self, episode_id: UUID, view: EpisodeView, limits: EpisodeLimits) -> None:
        """Start with a view that nobody was told yet."""
        self.episode_id = episode_id
        self.members: set[Member] = set()
        self.player: Member | None = None
        self.lock = asyncio.Lock()
        self.watchers_elsewhere = 0
        self.crowd_told = 0
        self.over_at: float | None = None
        self._view = view
        self._remote = view.remote
        self._limits = limits
        self._snapshot: str | None = None
        self._note_over()

    @property
    def view(self) -> EpisodeView:
        """The last published view."""
        return self._view

    @property
    def watchers(self) -> int:
        """Number of sockets of this process that watch."""
        return sum(member.role == WATCHER for member in self.members)

    @property
    def crowd(self) -> int:
        """Number of sockets that watch, over all processes."""
        return self.watchers + self.watchers_elsewhere

    def mailbox_make(self) -> Mailbox:
        """An empty mailbox whose snapshots come from here."""
        return Mailbox(
            max_frames=self._limits.mailbox_frames,
            max_bytes=self._limits.mailbox_bytes,
            snapshot=self.snapshot_frame,
        )

    def snapshot_frame(self) -> str:
        """The present state as one frame, encoded once for everybody."""
        if self._snapshot is None:
            self._snapshot = frame_snapshot(self._view.observation.to_dict())
        return self._snapshot

    def welcome(self, member: Member, deltas: list[Wire] | None) -> None:
        """Greet a member and bring it up to the present: by the deltas it misses or by a snapshot."""
        self.members.add(member)
        if member.role == PLAYER:
            self._seat(member)
        member.mailbox.put_control(
            frame_welcome(
                step=self._view.step,
                role=member.role,
                state=self._view.state,
                watchers=self.crowd,
                limits=self._limits.public(remote=self._remote),
            )
        )
        if deltas is None or len(deltas) > self._limits.resume_deltas:
            member.mailbox.put_snapshot()
        else:
            for delta in deltas:
                member.mailbox.put_delta(frame_delta(delta))
        if self._view.state == Episode.State.ENDED:
            member.mailbox.put_control(self._end_frame())

    def leave(self, member: Member) -> None:
        """Forget a member; safe to call twice."""
        self.members.discard(member)
        if self.player is member:
            self.player = None

    def publish(self, view: EpisodeView) -> None:
        """Tell everybody what is new in a later view. An older or equal one changes nothing but state."""
        before = self._view
        if view.step < before.step:
            return
        if view.step > before.step:
            self._publish_steps(view)
        self._view = view
        if view.steps_per_second is not None and view.steps_per_second != before.steps_per_second:
            self._publish_speed(view.steps_per_second)
        if view.state != before.state or (view.run is not None and before.run is None):
            self._publish_state(view)

    def crowd_tell(self) -> None:
        """Tell everybody the number of watchers, if it changed since it was told."""
        watchers = self.crowd
        if watchers == self.crowd_told:
            return
        self.crowd_told = watchers
        frame = frame_crowd(watchers)
        for member in self.members:
            member.mailbox.put_control(frame)

    def player_newest(self, since: datetime) -> None:
        """The player's newest socket was opened at `since`, here or elsewhere; an older one goes."""
        if self.player is not None and self.player.since < since:
            self.player.dismiss(TAKEN_OVER)

    def dismiss_all(self, dismissal: Dismissal) -> None:
        """Ask every socket to close."""
        for member in self.members:
            member.dismiss(dismissal)

    def _seat(self, member: Member) -> None:
        """Give the one seat to the socket that was opened last; a slow handshake makes none newer."""
        if self.player is not None and self.player.since > member.since:
            member.dismiss(TAKEN_OVER)
            return
        if self.player is not None:
            self.player.dismiss(TAKEN_OVER)
        self.player = member

    def _publish_steps(self, view: EpisodeView) -> None:
        before = self._view
        if view.step == before.step + 1:
            deltas: list[Wire] | None = [delta_between(before.observation, view.observation)]
        else:
            deltas = view.deltas
        self._view = view
        self._snapshot = None
        if deltas is None or len(deltas) != view.step - before.step:
            for member in self.members:
                member.mailbox.put_snapshot()
            return
        for delta in deltas:
            frame = frame_delta(delta)
            for member in self.members:
                member.mailbox.put_delta(frame)

    def _publish_speed(self, steps_per_second: float) -> None:
        frame = frame_speed(steps_per_second)
        for member in self.members:
            member.mailbox.put_control(frame)

    def _note_over(self) -> None:
        """Remember since when no step can come any more, so that sockets do not stay open for nothing."""
        if self.over_at is None and self._view.state not in (Episode.State.RUNNING, Episode.State.PAUSED):
            self.over_at = asyncio.get_running_loop().time()

    def _publish_state(self, view: EpisodeView) -> None:
        self._note_over()
        match view.state:
            case Episode.State.ENDED:
                frame = self._end_frame()
            case Episode.State.PAUSED:
                frame = frame_notice(
                    "paused", "Paused, because nothing happened for long. The next step resumes it."
                )
            case Episode.State.FROZEN:
                frame = frame_notice(
                    "episode_frozen", "This episode is frozen because of a fault on our side."
                )
            case Episode.State.ABANDONED:
                frame = frame_notice(
                    "abandoned", "This episode was given up, because nobody went on with it."
                )
            case _:
                frame = frame_notice("resumed", "The episode goes on.")
        for member in self.members:
            member.mailbox.put_control(frame)

    def _end_frame(self) -> str:
        view = self._view
        return frame_end(
            reason=view.reason,
            summary=observation_summary(view.observation),
            run=view.run,
            seed=view.seed,
        )
