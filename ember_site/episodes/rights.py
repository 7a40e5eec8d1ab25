"""Rights that were lost while a socket was open."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from uuid import UUID

from ember_site.episodes.models import Episode
from ember_site.episodes.protocol import CloseCode
from ember_site.episodes.selectors import episode_is_mine, episode_may_act
from ember_site.episodes.sessions import NOBODY, Visitor, session_visitors


@dataclass(frozen=True, slots=True)
class Seat:
    """What a socket was let in for, and by which session or token."""

    episode_id: UUID
    plays: bool
    session_key: str
    identity: str


def seats_lost(*, seats: Iterable[Seat]) -> dict[Seat, CloseCode]:
    """The seats whose right is gone, with the code to close them with. For the server only.

    A player needs the session or token of the handshake and the right to act; a watcher may stay as
    long as anybody may watch.
    """
    asked = set(seats)
    visitors = session_visitors(session_keys={seat.session_key for seat in asked if seat.session_key})
    episodes = Episode.objects.in_bulk([*{seat.episode_id for seat in asked}])
    lost = {
        seat: _lost(seat, visitors.get(seat.session_key, NOBODY), episodes.get(seat.episode_id))
        for seat in asked
    }
    return {seat: code for seat, code in lost.items() if code is not None}


def _lost(seat: Seat, visitor: Visitor, episode: Episode | None) -> CloseCode | None:
    if episode is None:
        return CloseCode.NO_SUCH_EPISODE
    viewer, guest_key = visitor.viewer, visitor.guest_key
    if seat.plays and visitor.identity != seat.identity:
        return CloseCode.SIGN_IN
    if seat.plays:
        stays = episode_may_act(viewer=viewer, guest_key=guest_key, scope=visitor.scope, episode=episode)
    else:
        stays = not episode.is_hidden or episode_is_mine(viewer=viewer, guest_key=guest_key, episode=episode)
    return None if stays else CloseCode.NOT_ALLOWED
