"""Who is there, over all web processes: the number of watchers, and the one socket that plays.

Each process writes how many sockets watch an episode there and says now and then that it lives. Who
plays is decided by when a socket was opened: the newest one wins, wherever it is.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime, timedelta
from uuid import UUID

from django.db import transaction
from django.db.models import Q

from ember_site.core import clock
from ember_site.episodes.limits import episode_limits
from ember_site.episodes.models import Audience, Episode


def audience_write(*, process: str, watchers: Mapping[UUID, int]) -> None:
    """Note how many sockets of this process watch the episodes; 0 takes the note back."""
    now, some = clock.now(), [episode_id for episode_id, count in watchers.items() if count]
    with transaction.atomic():
        gone = [episode_id for episode_id, count in watchers.items() if not count]
        Audience.objects.filter(process=process, episode__in=gone).delete()
        known = Episode.objects.filter(pk__in=some).values_list("pk", flat=True)
        Audience.objects.bulk_create(
            [
                Audience(episode_id=pk, process=process, watchers=watchers[pk], seen_at=now)
                for pk in sorted(known)
            ],
            update_conflicts=True,
            unique_fields=["episode", "process"],
            update_fields=["watchers", "seen_at"],
        )


def audience_beat(*, process: str) -> None:
    """Say that this process lives, and forget those that have been silent for long."""
    now = clock.now()
    Audience.objects.filter(process=process).update(seen_at=now)
    long_ago = now - 10 * timedelta(seconds=episode_limits().audience_silent_s)
    Audience.objects.filter(seen_at__lt=long_ago).delete()


def audience_leave(*, process: str) -> None:
    """Take back all notes of a process that ends."""
    Audience.objects.filter(process=process).delete()


def player_claim(*, episode_id: UUID, since: datetime) -> bool:
    """Make the socket opened at `since` the one that plays; false where a newer one plays already."""
    older = Q(player_since__isnull=True) | Q(player_since__lte=since)
    return bool(Episode.objects.filter(older, pk=episode_id).update(player_since=since))
