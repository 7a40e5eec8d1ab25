"""Who may start which episode, and how many at once."""

from __future__ import annotations

from dataclasses import dataclass

from django.db.models import QuerySet

from ember_site.accounts.models import User
from ember_site.core import clock
from ember_site.core.errors import BadInput, Forbidden, LimitExceeded, SignInRequired
from ember_site.episodes.addresses import baselines_of_address
from ember_site.episodes.limits import EpisodeLimits, episode_limits
from ember_site.episodes.models import Episode
from ember_site.episodes.seeds import seed_check
from ember_site.runs.models import Agent, RunSource
from ember_site.runs.services.agents import baseline_agent, human_agent_for
from ember_site.runs.services.runs import agent_check_source
from simulator.policies import BASELINES


@dataclass(frozen=True, slots=True)
class Start:
    """
    A wish to start an episode.

    `agent` is the `model` agent that plays it from elsewhere, if one does; `address` is where a guest asks
    from, empty where nobody does over the network.
    """

    owner: User | None
    guest_key: str
    mode: str
    seed: int | None
    policy: str
    agent: Agent | None
    address: str = ""


def start_check(start: Start) -> None:
    """Refuse what cannot be started, and give up old practice where a person needs room.

    Raises:
        SignInRequired: ranked or remote play without an account.
        Forbidden: the agent belongs to somebody else.
        AgentKindRefused: only `model` agents play from elsewhere.
        BadInput: unknown mode or policy, a seed out of range, or nobody to play.
        LimitExceeded: too many open ranked episodes of this person, episodes of agents, or baselines.
    """
    _check_wish(start)
    if start.agent is not None:
        _check_agent(start.agent, start)
    _check_room(start, episode_limits())


def start_agent(start: Start) -> Agent | None:
    """The agent that the run will belong to; None for a guest."""
    if start.mode == Episode.Mode.BASELINE:
        return baseline_agent(start.policy)
    if start.agent is not None:
        return start.agent
    return human_agent_for(start.owner) if start.owner else None


def _check_wish(start: Start) -> None:
    mode, seed = start.mode, start.seed
    if mode not in Episode.Mode.values:
        raise BadInput(f"There is no mode {mode!r}.", place="mode")
    if mode == Episode.Mode.BASELINE and start.policy not in BASELINES:
        raise BadInput(f"There is no baseline {start.policy!r}.", place="policy")
    if mode == Episode.Mode.RANKED and start.owner is None:
        raise SignInRequired("Ranked play needs an account.")
    if mode == Episode.Mode.RANKED and seed is None:
        raise BadInput("A ranked episode needs the seed of its slot.", place="seed")
    if mode != Episode.Mode.BASELINE and start.owner is None and not start.guest_key:
        raise BadInput("An episode needs somebody to play it.", place="owner")
    if seed is not None:
        seed_check(seed)


def _check_agent(agent: Agent, start: Start) -> None:
    if start.owner is None:
        raise SignInRequired("An agent plays in the name of an account.")
    agent_check_source(agent=agent, source=RunSource.REMOTE)
    if agent.owner_id != start.owner.pk:
        raise Forbidden("This agent belongs to somebody else.", place="agent")


def _check_room(start: Start, limits: EpisodeLimits) -> None:
    owner = start.owner
    mine = Episode.objects.filter(owner=owner) if owner else Episode.objects.filter(guest_key=start.guest_key)
    if start.mode == Episode.Mode.BASELINE:
        _check_baselines(mine, limits)
        if owner is None and start.address:
            _check_address(start.address, limits.baselines_per_address)
        return
    games = mine.exclude(mode=Episode.Mode.BASELINE)
    limit = limits.open_episodes_per_viewer
    if start.agent is None:
        _make_room(games.filter(move_due_at__isnull=True), limit)
    elif games.filter(move_due_at__isnull=False, state=Episode.State.RUNNING).count() >= limit:
        raise LimitExceeded(f"Your agents play {limit} episodes at once; end some first.", limit=limit)


def _check_baselines(mine: QuerySet[Episode], limits: EpisodeLimits) -> None:
    running = {"mode": Episode.Mode.BASELINE, "state": Episode.State.RUNNING}
    if Episode.objects.filter(**running).count() >= limits.baselines_running:
        raise LimitExceeded(
            "Too many baselines run at the moment; wait for one to end.", limit=limits.baselines_running
        )
    if mine.filter(**running).count() >= limits.baselines_per_viewer:
        raise LimitExceeded(
            f"You started {limits.baselines_per_viewer} baselines that still run; wait for one to end.",
            limit=limits.baselines_per_viewer,
        )


def _check_address(address: str, limit: int) -> None:
    if baselines_of_address(address) >= limit:
        raise LimitExceeded(
            f"Visitors without an account started {limit} baselines from your address that still run; "
            "wait for one to end, or sign in.",
            limit=limit,
        )


def _make_room(games: QuerySet[Episode], limit: int) -> None:
    """Give up the practice that lay idle longest, where a person has as many open games as allowed."""
    open_games = games.filter(state__in=(Episode.State.RUNNING, Episode.State.PAUSED))
    if open_games.count() < limit:
        return
    idle = open_games.filter(mode=Episode.Mode.PRACTICE).order_by("last_active_at").first()
    if idle is None:
        raise LimitExceeded(f"You have {limit} open ranked games; finish some first.", limit=limit)
    open_games.filter(pk=idle.pk).update(
        state=Episode.State.ABANDONED, ended_at=clock.now(), reason="abandoned"
    )
