"""What the pages of play and live episodes show, gathered from the selectors."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from django.core.paginator import Page, Paginator
from django.urls import reverse
from django.utils.safestring import SafeString

from ember_site.accounts.visitors import Viewer
from ember_site.boards.models import Slot
from ember_site.boards.slots import slot_open_of, slot_to_rank
from ember_site.catalog.models import Scenario, SuiteEntry
from ember_site.catalog.plan_svg import scenario_plan
from ember_site.catalog.selectors import scenario_entries, suite_entries, suite_list
from ember_site.core.errors import BadInput
from ember_site.episodes.baselines import DEFAULT_STEPS_PER_S, speed_check
from ember_site.episodes.models import Episode
from ember_site.episodes.seeds import seed_read
from ember_site.episodes.selectors import (
    episode_agent_named,
    episode_is_mine,
    episode_is_started_by,
    episode_live_list,
    episode_own_best,
    episode_own_open,
)
from ember_site.runs.models import Agent
from simulator.policies import BASELINES

LIVE_PER_PAGE = 24
OPEN_SHOWN = 6
ANY_RUN = UUID(int=0)
"""Stands in addresses where the page puts the run's id once there is one."""
SPEEDS = (0.5, 1, 2, 4, 8, 20)
MODES = (Episode.Mode.PRACTICE, Episode.Mode.RANKED)


@dataclass(frozen=True, slots=True)
class PlayCard:
    """One scenario to play; `best` is the most that the visitor got out, None before the first run."""

    entry: SuiteEntry
    scenario: Scenario
    plan: SafeString
    best: int | None

    @property
    def all_out(self) -> bool:
        """Whether the visitor has saved everybody here."""
        return self.best == self.scenario.population


@dataclass(frozen=True, slots=True)
class PlayIndexPage:
    """All scenarios of the newest public suite, and what the visitor did with them."""

    cards: list[PlayCard]
    open_episodes: list[Episode]
    played: int
    rescued: int
    people: int


@dataclass(frozen=True, slots=True)
class StartPage:
    """The choice before a game."""

    entry: SuiteEntry | None
    plan: SafeString
    slot: Slot | None
    open_episodes: list[Episode]
    best: int | None


@dataclass(frozen=True, slots=True)
class StartChoice:
    """What the visitor chose; a seed of None means a secret one."""

    mode: str
    seed: int | None


@dataclass(frozen=True, slots=True)
class GamePage:
    """One episode on the board, to play or to watch; `speeds` are there for who may set one."""

    episode: Episode
    agent: Agent | None
    plays: bool
    plan: SafeString
    data: dict[str, Any]
    speeds: list[tuple[float, bool]]


@dataclass(frozen=True, slots=True)
class LiveListPage:
    """Running episodes, and what a baseline can be started on; each speed says whether it is chosen."""

    page: Page[Episode]
    viewer: Viewer
    plans: dict[str, SafeString]
    cards: list[SuiteEntry]
    policies: list[str]
    speeds: list[tuple[float, bool]]

    @property
    def rows(self) -> list[tuple[Episode, Agent | None, SafeString]]:
        """Episodes with the agents that may be named and the plans of their scenarios."""
        return [
            (
                episode,
                episode_agent_named(viewer=self.viewer, episode=episode),
                self.plans[episode.scenario_id],
            )
            for episode in self.page
        ]


def play_index_page(*, viewer: Viewer, guest_key: str) -> PlayIndexPage:
    """Gather the index of play. As many queries for ten scenarios as for one."""
    best = episode_own_best(viewer=viewer, guest_key=guest_key)
    cards = [
        PlayCard(entry, entry.scenario, scenario_plan(entry.scenario_id), best.get(entry.scenario_id))
        for entry in _public_entries(viewer)
    ]
    return PlayIndexPage(
        cards=cards,
        open_episodes=list(episode_own_open(viewer=viewer, guest_key=guest_key)[:OPEN_SHOWN]),
        played=sum(card.best is not None for card in cards),
        rescued=sum(card.best or 0 for card in cards),
        people=sum(card.scenario.population for card in cards),
    )


def start_page(scenario: Scenario, *, viewer: Viewer, guest_key: str) -> StartPage:
    """Gather the choice before a game."""
    entries = scenario_entries(viewer=viewer, scenario=scenario)
    own = episode_own_open(viewer=viewer, guest_key=guest_key, scenario=scenario)
    return StartPage(
        entry=entries[0] if entries else None,
        plan=scenario_plan(scenario.content_hash),
        slot=slot_open_of(scenario=scenario),
        open_episodes=list(own[:OPEN_SHOWN]),
        best=episode_own_best(viewer=viewer, guest_key=guest_key).get(scenario.content_hash),
    )


def start_choice(form: Mapping[str, str], *, scenario: Scenario) -> StartChoice:
    """Read the choice.

    Raises:
        BadInput: an unknown mode, a seed that is no number, or ranked play where nothing is ranked.
    """
    mode = form.get("mode", Episode.Mode.PRACTICE)
    if mode not in MODES:
        raise BadInput("Choose practice or ranked.", place="mode")
    if mode == Episode.Mode.RANKED:
        return StartChoice(mode, int(slot_to_rank(scenario=scenario).seed))
    text = form.get("seed", "").strip()
    # A person may type zeros before the number.
    return StartChoice(mode, seed_read(text.lstrip("0") or "0") if text else None)


def speed_choice(form: Mapping[str, str]) -> float:
    """Steps a second for a baseline, within the range that is offered.

    Raises:
        BadInput: it is no number.
    """
    text = form.get("speed", "").strip()
    if not text:
        return DEFAULT_STEPS_PER_S
    try:
        speed = float(text)
    except ValueError as error:
        raise BadInput("The speed is a number of steps a second.", place="speed") from error
    speed_check(speed)
    return speed


def game_page(episode: Episode, *, viewer: Viewer, guest_key: str, watch: bool = False) -> GamePage:
    """Gather one episode for the board. Nothing that is private while it runs is in it."""
    plays = not watch and episode_is_mine(viewer=viewer, guest_key=guest_key, episode=episode)
    data = {
        "episode": str(episode.pk),
        "socket": f"/ws/episodes/{episode.pk}/" + ("?watch" if watch else ""),
        "plays": plays,
        "mode": episode.mode,
        "assist": episode.assist,
        "run": reverse("run_detail", args=[ANY_RUN]),
        "record": reverse("run_record", args=[ANY_RUN]),
        "verdict": reverse("api_run_detail", args=[ANY_RUN]),
    }
    sets_speed = episode_is_started_by(viewer=viewer, guest_key=guest_key, episode=episode)
    return GamePage(
        episode=episode,
        agent=episode_agent_named(viewer=viewer, episode=episode),
        plays=plays,
        plan=scenario_plan(episode.scenario_id),
        data=data,
        speeds=[(speed, speed == episode.steps_per_second) for speed in SPEEDS] if sets_speed else [],
    )


def live_list_page(*, viewer: Viewer, number: str) -> LiveListPage:
    """Gather the list of running episodes."""
    page = Paginator(episode_live_list(), LIVE_PER_PAGE).get_page(number)
    return LiveListPage(
        page=page,
        viewer=viewer,
        plans={episode.scenario_id: scenario_plan(episode.scenario_id) for episode in page},
        cards=_public_entries(viewer),
        policies=list(BASELINES),
        speeds=[(speed, speed == DEFAULT_STEPS_PER_S) for speed in SPEEDS],
    )


def _public_entries(viewer: Viewer) -> list[SuiteEntry]:
    """The entries of the newest public suite."""
    suites = [suite for suite in suite_list(viewer=viewer) if suite.is_public]
    return suite_entries(suite=suites[0]) if suites else []
