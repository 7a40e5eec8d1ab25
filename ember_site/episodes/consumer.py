"""The websocket of one episode: `/ws/episodes/<id>/`."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import MutableMapping
from typing import Any
from urllib.parse import parse_qs
from uuid import UUID

from ember_site.core import clock
from ember_site.core.errors import NotFound, SignInRequired
from ember_site.episodes.consumer_base import Budget, Receive, Send, SocketConsumer
from ember_site.episodes.hub import Hub, TooManySockets, hub
from ember_site.episodes.models import Episode
from ember_site.episodes.protocol import (
    Act,
    ClientMessage,
    CloseCode,
    Got,
    Hello,
    MessageError,
    Ping,
    Sync,
    frame_ack,
    frame_err,
    frame_pong,
    message_read,
)
from ember_site.episodes.room import PLAYER, WATCHER, Dismissal, Member, Room
from ember_site.episodes.selectors import episode_get, episode_may_act
from ember_site.episodes.sessions import Visitor, visitor_of
from ember_site.episodes.threads import in_thread

ACTS_WAITING = 8


class EpisodeConsumer(SocketConsumer):
    """Plays or watches one episode. It decides nothing: it reads messages and hands them on."""

    def __init__(self, scope: MutableMapping[str, Any], receive: Receive, send: Send) -> None:
        """`?watch` in the address asks to watch an episode that one could play."""
        super().__init__(scope, receive, send)
        self._hub: Hub = hub()
        self._budget = Budget(self._hub.limits.messages_per_s)
        self._bad_messages = 0
        self._socket_key = ""
        self._room: Room | None = None
        self._member: Member | None = None
        self._acts: asyncio.Queue[Act] = asyncio.Queue(ACTS_WAITING)
        self._tasks: list[asyncio.Task[Any]] = []

    async def serve(self) -> Dismissal | None:
        """Let the visitor in, wait for its hello, then read, write and act at once until one of them ends."""
        self._hub.start()
        since = clock.now()
        episode_id = self.scope["url_route"]["kwargs"]["episode_id"]
        try:
            visitor = await in_thread(visitor_of, self.scope["headers"])
            role = await in_thread(_role, visitor, episode_id, "watch" in self._query())
            self._count(visitor)
            hello = await self._hello()
            self._room, self._member = await self._hub.join(
                episode_id,
                role=role,
                have=None if hello.have is None else hello.have.step,
                since=since,
                session_key=visitor.session_key,
                identity=visitor.identity,
            )
        except SignInRequired as error:
            return Dismissal(CloseCode.SIGN_IN, error.message)
        except NotFound as error:
            return Dismissal(CloseCode.NO_SUCH_EPISODE, error.message)
        except TooManySockets as error:
            return Dismissal(CloseCode.TOO_MANY, error.why)
        except TimeoutError:
            return Dismissal(CloseCode.BAD_MESSAGES, "No hello came.")
        except _Dismissed as dismissed:
            return dismissed.dismissal
        return await self._converse(episode_id, self._room, self._member)

    async def finish(self) -> None:
        """Leave the room, give the socket back, end the tasks."""
        if self._member is not None and self._room is not None:
            self._member.mailbox.close()
            self._hub.leave(self._room, self._member)
        if self._socket_key:
            self._hub.socket_close(self._socket_key)
            self._socket_key = ""
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    async def _hello(self) -> Hello:
        async with asyncio.timeout(self._hub.limits.hello_timeout_s):
            while True:
                message = await self._read(None)
                if isinstance(message, Hello):
                    return message
                if message is not None:
                    await self._bad(None, "message_invalid", "The first message must be hello.")

    async def _converse(self, episode_id: UUID, room: Room, member: Member) -> Dismissal | None:
        read = asyncio.create_task(self._read_all(room, member))
        write = asyncio.create_task(self.pump(member.mailbox, _stopwatch(member)))
        # A step that is on its way to the log is never cancelled: it runs in the hub's care.
        act = asyncio.create_task(self._act_all(episode_id, member))
        self._tasks = [read, write, act]
        waits: set[asyncio.Future[Any]] = {read, write, act, member.dismissed}
        done, _pending = await asyncio.wait(waits, return_when=asyncio.FIRST_COMPLETED)
        if member.dismissed in done:
            dismissal = member.dismissed.result()
            return await self._drain(write, member, dismissal)
        for task in done:
            try:
                task.result()
            except _Dismissed as dismissed:
                return await self._drain(write, member, dismissed.dismissal)
        return None

    async def _drain(self, write: asyncio.Task[None], member: Member, dismissal: Dismissal) -> Dismissal:
        """Send what waits before the goodbye, but not to a reader that has stopped."""
        member.mailbox.close()
        if dismissal.code is not CloseCode.TOO_SLOW:
            with contextlib.suppress(TimeoutError, OSError):
                await asyncio.wait_for(asyncio.shield(write), 2.0)
        write.cancel()
        await asyncio.gather(write, return_exceptions=True)
        return dismissal

    async def _read_all(self, room: Room, member: Member) -> None:
        while True:
            message = await self._read(member)
            if message is None:
                continue
            match message:
                case Ping():
                    member.mailbox.put_control(frame_pong(room.view.step))
                case Got():
                    pass  # what a client has seen changes nothing here; it may say so
                case Sync():
                    member.mailbox.put_snapshot()
                case Act() if member.role != PLAYER:
                    await self._bad(
                        member, "not_the_player", "You watch this episode; only its player may act."
                    )
                case Act():
                    self._enqueue(room, member, message)
                case Hello():
                    await self._bad(member, "message_invalid", "hello was said already.")

    def _enqueue(self, room: Room, member: Member, message: Act) -> None:
        try:
            self._acts.put_nowait(message)
        except asyncio.QueueFull:
            text = "Too many steps wait to be saved. Nothing happened; send it again."
            member.mailbox.put_control(
                frame_ack(step=message.step, result="rejected", now=room.view.step, code="busy", message=text)
            )

    async def _act_all(self, episode_id: UUID, member: Member) -> None:
        while True:
            message = await self._acts.get()
            work = self._hub.act(
                episode_id, step=message.step, actions=message.actions, assist=message.assist
            )
            answer = await asyncio.shield(self._hub.keep(work))
            member.mailbox.put_control(
                frame_ack(
                    step=answer.step,
                    result=answer.result,
                    now=answer.now,
                    code=answer.code,
                    place=answer.place,
                    message=answer.message,
                )
            )
            if answer.code in ("episode_over", "episode_frozen"):
                raise _Dismissed(Dismissal(CloseCode.OVER, answer.message))

    async def _read(self, member: Member | None) -> ClientMessage | None:
        """One message; None where it was refused and the client told so."""
        text = await self.receive_text()
        if not self._budget.spend():
            limit = self._hub.limits.messages_per_s
            raise _Dismissed(Dismissal(CloseCode.TOO_MANY, f"At most {limit} messages a second."))
        try:
            return message_read(text, max_bytes=self._hub.limits.message_bytes)
        except MessageError as error:
            await self._bad(member, error.code, error.message)
            return None

    async def _bad(self, member: Member | None, code: str, message: str) -> None:
        frame = frame_err(code, message)
        if member is None:
            await self.send_text(frame)
        else:
            member.mailbox.put_control(frame)
        self._bad_messages += 1
        if self._bad_messages >= self._hub.limits.bad_messages:
            raise _Dismissed(
                Dismissal(CloseCode.BAD_MESSAGES, f"Too many bad messages; the last one: {message}")
            )

    def _count(self, visitor: Visitor) -> None:
        limits = self._hub.limits
        if visitor.viewer.is_authenticated:
            key, limit = visitor.identity, limits.sockets_per_user
        else:
            client = self.scope.get("client") or ("", 0)
            key, limit = f"address:{client[0]}", limits.sockets_per_address
        self._hub.socket_open(key, limit)
        self._socket_key = key

    def _query(self) -> dict[str, list[str]]:
        return parse_qs(self.scope.get("query_string", b"").decode("latin-1"), keep_blank_values=True)


class _Dismissed(Exception):
    """Ends the conversation with a goodbye."""

    def __init__(self, dismissal: Dismissal) -> None:
        super().__init__(dismissal.why)
        self.dismissal = dismissal


def _role(visitor: Visitor, episode_id: UUID, wants_to_watch: bool) -> str:
    episode: Episode = episode_get(viewer=visitor.viewer, guest_key=visitor.guest_key, episode_id=episode_id)
    may_act = episode_may_act(
        viewer=visitor.viewer, guest_key=visitor.guest_key, scope=visitor.scope, episode=episode
    )
    return PLAYER if may_act and not (wants_to_watch and not episode.is_hidden) else WATCHER


def _stopwatch(member: Member) -> Any:
    loop = asyncio.get_running_loop()

    def sending(now: bool) -> None:
        member.sending_since = loop.time() if now else None

    return sending
