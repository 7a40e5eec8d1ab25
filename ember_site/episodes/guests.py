"""What visitors without an account did: kept for a while, and given to the account that they make."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta

from django.db import transaction
from django.db.models import QuerySet

from ember_site.accounts.models import User
from ember_site.core import clock
from ember_site.episodes.limits import episode_limits
from ember_site.episodes.models import Episode
from ember_site.runs.models import Run
from ember_site.runs.services.agents import human_agent_for
from ember_site.runs.services.guests import guest_runs_claim, guest_runs_delete, guest_runs_old

BATCH = 100
"""Runs and episodes forgotten in one call, so that no call holds the database for long."""


@dataclass(frozen=True, slots=True)
class GuestWork:
    """What a guest has: runs, and episodes that can still go on."""

    runs: int
    open_episodes: int

    def __bool__(self) -> bool:
        """Whether there is anything to claim."""
        return bool(self.runs or self.open_episodes)

    @property
    def words(self) -> str:
        """For people, for example `2 runs and 1 unfinished game`."""
        counts = ((self.runs, "run"), (self.open_episodes, "unfinished game"))
        return " and ".join(f"{count} {noun}{'s' * (count > 1)}" for count, noun in counts if count)


def guest_work(*, guest_key: str) -> GuestWork:
    """What could be claimed with this key."""
    if not guest_key:
        return GuestWork(0, 0)
    runs = Run.objects.filter(agent__isnull=True, guest_key=guest_key, withdrawn_at__isnull=True).count()
    games = _games(guest_key).filter(state__in=(Episode.State.RUNNING, Episode.State.PAUSED))
    return GuestWork(runs, games.count())


def guest_run_kept_until(*, run: Run) -> datetime | None:
    """When a guest's run will be forgotten; None for a run that has an agent and so stays."""
    kept = timedelta(seconds=episode_limits().guest_runs_kept_s)
    return run.created_at + kept if run.agent_id is None else None


@transaction.atomic
def guest_claim(*, user: User, guest_key: str) -> GuestWork:
    """Give everything that a guest did to an account. Twice is once.

    Runs go to the account's human agent and stay practice, which is never ranked; episodes that have
    not ended are played on by the account.
    """
    work = guest_work(guest_key=guest_key)
    if not work:
        return work
    agent = human_agent_for(user)
    _games(guest_key).update(owner=user, agent=agent, guest_key="")
    guest_runs_claim(agent=agent, guest_key=guest_key)
    return work


def guests_forget() -> int:
    """Delete what guests did and nobody claimed in time; how many runs went. Safe to call in parallel."""
    before = clock.now() - timedelta(seconds=episode_limits().guest_runs_kept_s)
    run_ids = guest_runs_old(before=before, limit=BATCH)
    games = Episode.objects.filter(owner__isnull=True, agent__isnull=True)
    over = games.filter(state=Episode.State.ABANDONED, ended_at__lt=before)
    gone = list(over.values_list("pk", flat=True)[:BATCH])
    with transaction.atomic():
        # The episodes first: one that has ended and has no run would make its run again.
        games.filter(run__in=run_ids).delete()
        games.filter(pk__in=gone).delete()
        guest_runs_delete(run_ids=run_ids)
    return len(run_ids)


def _games(guest_key: str) -> QuerySet[Episode]:
    """Everything that a guest played."""
    games = Episode.objects.filter(owner__isnull=True, guest_key=guest_key)
    return games.exclude(mode=Episode.Mode.BASELINE)
