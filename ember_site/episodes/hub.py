"""The hub: one for each process. It joins sockets to episodes and publishes what the log says."""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections import Counter
from collections.abc import Coroutine, Iterable, Mapping
from dataclasses import replace
from datetime import datetime
from typing import Any
from uuid import UUID

from django.db import DatabaseError

from ember_site.episodes.answers import EpisodeView, StepAnswer, StepResult
from ember_site.episodes.audience import audience_beat, audience_leave, audience_write, player_claim
from ember_site.episodes.baselines import BaselineRunner, process_name
from ember_site.episodes.deltas import Wire
from ember_site.episodes.guests import guests_forget
from ember_site.episodes.hints import Hints
from ember_site.episodes.idle import agents_keep_limits, episodes_pause_idle
from ember_site.episodes.limits import EpisodeLimits, episode_limits
from ember_site.episodes.models import Episode
from ember_site.episodes.protocol import CloseCode
from ember_site.episodes.rights import Seat, seats_lost
from ember_site.episodes.room import PLAYER, TAKEN_OVER, WATCHER, Dismissal, Member, Room
from ember_site.episodes.selectors import EpisodeChange, episode_changes
from ember_site.episodes.services import episode_step, episode_view, episodes_finish_pending
from ember_site.episodes.threads import in_thread, in_writing_thread

logger = logging.getLogger(__name__)

LOST = {
    CloseCode.SIGN_IN: "You are signed out. Sign in to play on.",
    CloseCode.NOT_ALLOWED: "You may not do this any more.",
    CloseCode.NO_SUCH_EPISODE: "This episode was deleted.",
}


class TooManySockets(Exception):
    """A person, an address or an episode has as many sockets as it may have."""

    def __init__(self, why: str) -> None:
        """`why` is the sentence for the client."""
        super().__init__(why)
        self.why = why


class Hub:
    """Rooms of the episodes that this process serves, and the loops that keep them true.

    All methods belong to one event loop, but `wake`.
    """

    def __init__(self, limits: EpisodeLimits | None = None) -> None:
        """Nothing runs before `start`."""
        self.limits = limits or episode_limits()
        self._rooms: dict[UUID, Room] = {}
        self._sockets: Counter[str] = Counter()
        self._tasks: set[asyncio.Task[None]] = set()
        self._kept: set[asyncio.Task[StepAnswer]] = set()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._started_at = 0.0
        self._process = process_name()
        self._audience: dict[UUID, int] = {}
        self._beat_at = 0.0
        self._hints = Hints(self._heard)
        self._baselines = BaselineRunner(self.act, self.limits)

    # --- Life -------------------------------------------------------------------------------

    def start(self) -> None:
        """Start the loops of this process; again does nothing."""
        loop = asyncio.get_running_loop()
        if self._loop is loop:
            return
        self._loop = loop
        self._started_at = loop.time()
        self._spawn(self._every(self.limits.poll_s, self._poll))
        self._spawn(self._every(self.limits.poll_s, self._tell_audience))
        self._spawn(self._every(self.limits.sweep_s, self._sweep))
        self._spawn(self._every(self.limits.rights_check_s, self._check_rights))
        self._spawn(self._hints.listen())
        self._spawn(self._baselines.run())

    async def stop(self) -> None:
        """Say goodbye to every socket and stop the loops."""
        for room in self._rooms.values():
            room.dismiss_all(Dismissal(CloseCode.RESTART, "The server restarts.", retry_s=1.0))
        for task in list(self._tasks):
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        if self._audience:
            with contextlib.suppress(DatabaseError):  # the notes run out by themselves
                await in_writing_thread(audience_leave, process=self._process)
        self._loop = None

    # --- Sockets ----------------------------------------------------------------------------

    def socket_open(self, key: str, limit: int) -> None:
        """Count a socket of a person or an address.

        Raises:
            TooManySockets: it has `limit` of them already.
        """
        if self._sockets[key] >= limit:
            raise TooManySockets(f"At most {limit} pages of live episodes may be open at once.")
        self._sockets[key] += 1

    def socket_close(self, key: str) -> None:
        """Take a socket off the count."""
        self._sockets[key] -= 1
        if self._sockets[key] <= 0:
            del self._sockets[key]

    async def join(
        self,
        episode_id: UUID,
        *,
        role: str,
        have: int | None,
        since: datetime,
        session_key: str,
        identity: str,
    ) -> tuple[Room, Member]:
        """Add a socket, opened at `since`, to an episode's room and bring it up to the present.

        Raises:
            NotFound: there is no such episode.
            TooManySockets: it has as many watchers as it may have.
        """
        while True:
            room = await self._room(episode_id)
            async with room.lock:
                if self._rooms.get(episode_id) is not room:
                    continue  # it was given up while we waited
                deltas = await self._missed(room, have)
                if role == WATCHER and room.crowd >= (limit := self.limits.watchers_per_episode):
                    raise TooManySockets(f"{limit} people watch already; the room is full.")
                member = Member(
                    role=role,
                    mailbox=room.mailbox_make(),
                    since=since,
                    session_key=session_key,
                    identity=identity,
                )
                room.welcome(member, deltas)
                if room.player is member:
                    self._spawn(self._claim(room, member))
                return room, member

    def leave(self, room: Room, member: Member) -> None:
        """Take a socket out of its room; an empty room is given up."""
        room.leave(member)
        if not room.members and self._rooms.get(room.episode_id) is room and not room.lock.locked():
            del self._rooms[room.episode_id]
            self._hints.forget(room.episode_id)

    # --- Steps ------------------------------------------------------------------------------

    async def act(
        self, episode_id: UUID, *, step: int, actions: Mapping[str, str], assist: int
    ) -> StepAnswer:
        """Make a step and publish it; the answer comes after everybody's mailbox has the step."""
        answer = await in_writing_thread(
            episode_step, episode_id=episode_id, step=step, actions=actions, assist=assist
        )
        # The lock only now: a step that waits for the database keeps nobody out of the room.
        if (room := self._rooms.get(episode_id)) is not None:
            async with room.lock:
                await self._publish_answer(room, answer)
        if answer.result is StepResult.APPLIED:
            self._spawn(self._hints.tell(episode_id, answer.now))  # no step waits for other processes
        return answer

    async def _claim(self, room: Room, member: Member) -> None:
        """Say to all processes that this socket plays now, as soon as the database can be written."""
        while member in room.members:
            try:
                newest = await in_writing_thread(player_claim, episode_id=room.episode_id, since=member.since)
            except DatabaseError as error:
                logger.warning("episode %s: its player could not be noted yet: %s", room.episode_id, error)
                await asyncio.sleep(self.limits.poll_s)
                continue
            if newest:
                await self._hints.tell(room.episode_id, None)
            else:
                member.dismiss(TAKEN_OVER)
            break

    def stepped(self, episode_id: UUID, step: int) -> None:
        """Publish a step that was made outside of the hub, here and in other processes; from any thread."""
        if self._loop is not None:
            self._loop.call_soon_threadsafe(self._stepped, episode_id, step)

    def wake_baselines(self) -> None:
        """Have a new baseline episode driven now, if this process has a hub; from any thread."""
        if self._loop is not None:
            self._loop.call_soon_threadsafe(self._baselines.wake)

    def keep(self, work: Coroutine[Any, Any, StepAnswer]) -> asyncio.Task[StepAnswer]:
        """Run work to its end, whatever becomes of the socket that asked for it."""
        task = asyncio.get_running_loop().create_task(work)
        self._kept.add(task)
        task.add_done_callback(self._kept.discard)
        return task

    async def _publish_answer(self, room: Room, answer: StepAnswer) -> None:
        plain = answer.state == Episode.State.RUNNING and answer.observation is not None
        if plain and answer.observation is not None and answer.now in (room.view.step, room.view.step + 1):
            room.publish(
                EpisodeView(
                    step=answer.now,
                    state=answer.state,
                    observation=answer.observation,
                    steps_per_second=answer.steps_per_second,
                )
            )
            return
        await self._refresh_locked(room)

    async def _refresh(self, episode_id: UUID, step: int | None = None) -> None:
        """Publish what the log says; not where `step` is all the news and was published meanwhile."""
        room = self._rooms.get(episode_id)
        if room is not None:
            async with room.lock:
                if step is None or step > room.view.step:
                    await self._refresh_locked(room)

    async def _refresh_locked(self, room: Room) -> None:
        room.publish(await self._view(room.episode_id, after=room.view.step))

    async def _view(self, episode_id: UUID, after: int | None = None) -> EpisodeView:
        """What the log says; an end is held back until its run is stored, so that it is told once."""
        view = await in_thread(episode_view, episode_id=episode_id, after=after)
        return replace(view, state=Episode.State.RUNNING) if view.storing else view

    async def _room(self, episode_id: UUID) -> Room:
        room = self._rooms.get(episode_id)
        if room is not None:
            return room
        view = await self._view(episode_id)
        changes = await in_thread(episode_changes, episode_ids=[episode_id], process=self._process)
        room = Room(episode_id, view, self.limits)
        if episode_id in changes:
            room.watchers_elsewhere = changes[episode_id].watchers_elsewhere
        self._hints.follow(episode_id)
        # Nothing is awaited from here to the caller's lock: a room without members may be given up.
        return self._rooms.setdefault(episode_id, room)

    def _stepped(self, episode_id: UUID, step: int) -> None:
        self._heard(episode_id, step)
        self._spawn(self._hints.tell(episode_id, step))

    async def _missed(self, room: Room, have: int | None) -> list[Wire] | None:
        """Bring the room up to date; the deltas after step `have`, None where a snapshot is needed."""
        await self._refresh_locked(room)
        if have is None:
            return None
        deltas = (await in_thread(episode_view, episode_id=room.episode_id, after=have)).deltas
        # Another process may have gone on between the two reads.
        return None if deltas is None else [delta for delta in deltas if delta["step"] <= room.view.step]

    # --- Loops ------------------------------------------------------------------------------

    def _heard(self, episode_id: UUID, step: int | None) -> None:
        """Somebody says that an episode went on, or that somebody came or went; look where that is news."""
        room = self._rooms.get(episode_id)
        if room is not None and step is None:
            self._spawn(self._look([episode_id]))
        elif room is not None and step is not None and step > room.view.step:
            self._spawn(self._refresh(episode_id, step))

    async def _poll(self) -> None:
        now = asyncio.get_running_loop().time()
        for room in list(self._rooms.values()):
            room.crowd_tell()
            self._dismiss_slow(room, now)
            if room.over_at is not None and now - room.over_at > self.limits.after_end_s:
                room.dismiss_all(Dismissal(CloseCode.OVER, "The episode is over."))
            if not room.members and not room.lock.locked():
                self._rooms.pop(room.episode_id, None)
                self._hints.forget(room.episode_id)
        if self._rooms and self._hints.poll_due():
            await self._look(self._rooms)

    async def _look(self, episode_ids: Iterable[UUID]) -> None:
        """Ask the database, in one query, what became of episodes elsewhere, and tell the rooms."""
        changes = await in_thread(episode_changes, episode_ids=list(episode_ids), process=self._process)
        for episode_id, change in changes.items():
            room = self._rooms.get(episode_id)
            if room is None:
                continue
            room.watchers_elsewhere = change.watchers_elsewhere
            room.crowd_tell()
            if change.player_since is not None:
                room.player_newest(change.player_since)
            if _is_news(room, change):
                await self._refresh(episode_id)

    async def _tell_audience(self) -> None:
        """Write for the other processes how many watch here, where that changed; and that this one lives."""
        now = asyncio.get_running_loop().time()
        counts = {room.episode_id: room.watchers for room in self._rooms.values()}
        changed = {
            episode_id: counts.get(episode_id, 0)
            for episode_id in counts.keys() | self._audience.keys()
            if counts.get(episode_id, 0) != self._audience.get(episode_id, 0)
        }
        if changed:
            await in_writing_thread(audience_write, process=self._process, watchers=changed)
            self._audience = {episode_id: count for episode_id, count in counts.items() if count}
            for episode_id in changed:
                await self._hints.tell(episode_id, None)
        if self._audience and now - self._beat_at > self.limits.audience_silent_s / 3:
            self._beat_at = now
            await in_writing_thread(audience_beat, process=self._process)

    def _dismiss_slow(self, room: Room, now: float) -> None:
        for member in list(room.members):
            since = member.sending_since
            if since is not None and now - since > self.limits.slow_reader_s:
                member.dismiss(Dismissal(CloseCode.TOO_SLOW, "The line is too slow.", retry_s=5.0))

    async def _sweep(self) -> None:
        await in_writing_thread(episodes_pause_idle)
        await in_writing_thread(episodes_finish_pending)
        await in_writing_thread(guests_forget)
        # Agents get their time back where the site itself was down.
        if asyncio.get_running_loop().time() - self._started_at >= self.limits.agent_move_s:
            await self._keep_agents_limits()

    async def _keep_agents_limits(self) -> None:
        more = True
        while more:
            stays = await in_writing_thread(agents_keep_limits)
            more = stays.more
            for episode_id, step in stays.made.items():
                self._stepped(episode_id, step)

    async def _check_rights(self) -> None:
        """Close sockets whose session ended or changed hands, or whose visitor lost the right."""
        seats = {
            member: Seat(room.episode_id, member.role == PLAYER, member.session_key, member.identity)
            for room in self._rooms.values()
            for member in room.members
        }
        if not seats:
            return
        lost = await in_thread(seats_lost, seats=set(seats.values()))
        for member, seat in seats.items():
            if seat in lost:
                member.dismiss(Dismissal(lost[seat], LOST[lost[seat]]))

    async def _every(self, seconds: float, work: Any) -> None:
        while True:
            await asyncio.sleep(seconds)
            try:
                await work()
            except Exception:
                logger.exception("A loop of the hub failed and goes on")

    def _spawn(self, work: Coroutine[Any, Any, None]) -> None:
        task = asyncio.get_running_loop().create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._done)

    def _done(self, task: asyncio.Task[None]) -> None:
        self._tasks.discard(task)
        with contextlib.suppress(asyncio.CancelledError):
            error = task.exception()
            if error is not None:
                logger.error("A task of the hub failed", exc_info=error)


def _is_news(room: Room, change: EpisodeChange) -> bool:
    view = room.view
    if view.state == change.state == Episode.State.FROZEN:
        return False  # nothing comes after the last state that agreed with the log
    run_came = change.run_id is not None and view.run is None and not view.hidden
    return change.step > view.step or change.state != view.state or run_came


_hub: Hub | None = None


def hub() -> Hub:
    """The hub of this process, made at first use."""
    global _hub
    if _hub is None:
        _hub = Hub()
    return _hub
