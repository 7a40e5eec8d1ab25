"""
Which baselines run that guests of one address started: who drops cookies is another guest each time.

The address is kept as a digest under the site's key, in the cache, and for no longer than a baseline can run.
"""

from __future__ import annotations

from collections.abc import Sequence
from uuid import UUID

from django.core.cache import cache
from django.utils.crypto import salted_hmac

from ember_site.core import clock
from ember_site.episodes.limits import SLOWEST_STEPS_PER_S
from ember_site.episodes.models import Episode

Note = tuple[UUID, float]
"""A baseline, and the instant in seconds from which it cannot run any more."""


def baselines_of_address(address: str) -> int:
    """How many baselines of this address run."""
    ids = [episode_id for episode_id, _ in _notes(address)]
    return Episode.objects.filter(pk__in=ids, state=Episode.State.RUNNING).count() if ids else 0


def baseline_note(address: str, episode: Episode) -> None:
    """Remember that a guest of this address started the baseline."""
    now = clock.now().timestamp()
    notes = [*_notes(address), (episode.pk, now + episode.scenario.max_steps / SLOWEST_STEPS_PER_S)]
    cache.set(_key(address), notes, max(until for _, until in notes) - now)


def _notes(address: str) -> list[Note]:
    """What is remembered of the address and still matters."""
    now = clock.now().timestamp()
    kept: Sequence[Note] = cache.get(_key(address), ())
    return [(episode_id, until) for episode_id, until in kept if until > now]


def _key(address: str) -> str:
    return f"episodes:baselines-{salted_hmac(__name__, address, algorithm='sha256').hexdigest()}"
