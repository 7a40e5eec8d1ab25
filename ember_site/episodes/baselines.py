"""Baselines that play live: a policy drives an episode inside a web process, under a lease."""

from __future__ import annotations

import asyncio
import logging
import os
import secrets
import socket
from collections.abc import Awaitable, Callable, Mapping
from contextlib import closing
from dataclasses import dataclass
from datetime import timedelta
from functools import partial
from typing import Any, Protocol
from uuid import UUID

from django.db.models import Q

from ember_site.accounts.visitors import Viewer
from ember_site.catalog.scenario_cache import scenario_load
from ember_site.core import clock
from ember_site.core.errors import BadInput, Forbidden
from ember_site.episodes.answers import StepAnswer, StepResult
from ember_site.episodes.limits import SLOWEST_STEPS_PER_S, EpisodeLimits
from ember_site.episodes.live import LiveEpisode, LogDiffers
from ember_site.episodes.models import Episode
from ember_site.episodes.selectors import episode_get, episode_is_started_by, episode_log
from ember_site.episodes.services import episode_freeze
from ember_site.episodes.threads import in_thread, in_writing_thread
from simulator import Action, Observation
from simulator.policies import BASELINES

logger = logging.getLogger(__name__)

Policy = Callable[[Observation], Mapping[str, Action | str]]

DEFAULT_STEPS_PER_S = 4.0
FASTEST_STEPS_PER_S = 20.0
BUSY_WAIT_S = 1.0


class Act(Protocol):
    """Makes a step and publishes it, as `Hub.act` does."""

    def __call__(
        self, episode_id: UUID, *, step: int, actions: Mapping[str, str], assist: int
    ) -> Awaitable[StepAnswer]: ...


@dataclass(frozen=True, slots=True)
class Drive:
    """A policy that stands where the log ends, and the observation it has to answer."""

    policy: Policy
    observation: Observation
    done: bool
    steps_per_s: float


def process_name() -> str:
    """A name of this process that no other one has."""
    return f"{socket.gethostname()[:32]}:{os.getpid()}:{secrets.token_hex(4)}"


def baseline_claim(*, worker: str, lease_s: float, limit: int) -> list[UUID]:
    """Take over up to `limit` running baseline episodes that nobody drives."""
    now = clock.now()
    free = Q(lease_until__isnull=True) | Q(lease_until__lt=now)
    running = Episode.objects.filter(free, mode=Episode.Mode.BASELINE, state=Episode.State.RUNNING)
    lease = {"lease_owner": worker, "lease_until": now + timedelta(seconds=lease_s)}
    # The condition again, in the update: of two processes one gets it.
    return [
        episode_id
        for episode_id in running.order_by("created_at").values_list("pk", flat=True)[:limit]
        if Episode.objects.filter(free, pk=episode_id).update(**lease)
    ]


def baseline_renew(*, episode_id: UUID, worker: str, lease_s: float) -> bool:
    """Keep an episode for longer; false where somebody else has it."""
    return bool(
        Episode.objects.filter(pk=episode_id, lease_owner=worker, state=Episode.State.RUNNING).update(
            lease_until=clock.now() + timedelta(seconds=lease_s)
        )
    )


def speed_check(steps_per_second: float) -> None:
    """Let a speed pass that baselines may have.

    Raises:
        BadInput: it is out of range.
    """
    if not SLOWEST_STEPS_PER_S <= steps_per_second <= FASTEST_STEPS_PER_S:
        raise BadInput(
            f"The speed is {SLOWEST_STEPS_PER_S:g} to {FASTEST_STEPS_PER_S:g} steps a second.", place="speed"
        )


def baseline_set_speed(*, viewer: Viewer, guest_key: str, episode_id: UUID, steps_per_second: float) -> None:
    """Change the speed of a running baseline; whoever drives it obeys from its next step on.

    Raises:
        NotFound: there is no such episode.
        Forbidden: somebody else started it, or it is no baseline.
        BadInput: the speed is out of range.
    """
    speed_check(steps_per_second)
    episode = episode_get(viewer=viewer, guest_key=guest_key, episode_id=episode_id)
    if not episode_is_started_by(viewer=viewer, guest_key=guest_key, episode=episode):
        raise Forbidden("Only who started a baseline sets its speed.")
    Episode.objects.filter(pk=episode_id).update(steps_per_second=steps_per_second)


def baseline_drive(*, episode_id: UUID) -> Drive:
    """A fresh policy, led through the log so far with nothing but observations.

    Raises:
        LogDiffers: the log gives another state; the episode is frozen now.
    """
    episode = Episode.objects.get(pk=episode_id)
    policy: Policy = BASELINES[episode.policy]()
    live = LiveEpisode(scenario_load(episode.scenario_id), int(episode.seed))
    try:
        with closing(episode_log(episode_id=episode_id)) as rows:
            for row in rows:
                policy(live.observation)
                live.advance([row])
    except LogDiffers as difference:
        episode_freeze(episode_id=episode_id, difference=difference)
        raise
    return Drive(policy, live.observation, live.done, episode.steps_per_second or DEFAULT_STEPS_PER_S)


class BaselineRunner:
    """Drives the baseline episodes that this process has claimed."""

    def __init__(self, act: Act, limits: EpisodeLimits) -> None:
        """`act` makes the steps."""
        self._act = act
        self._limits = limits
        self._worker = process_name()
        self._driven: dict[UUID, asyncio.Task[None]] = {}
        self._wake = asyncio.Event()

    def wake(self) -> None:
        """Look for episodes to drive now."""
        self._wake.set()

    async def run(self) -> None:
        """Claim and drive for as long as the process lives."""
        try:
            while True:
                self._wake.clear()  # before looking: what starts meanwhile is looked for again at once
                try:
                    await self._claim()
                except Exception:
                    logger.exception("Baselines could not be claimed; trying again")
                await self._pause()
        finally:
            for task in self._driven.values():
                task.cancel()

    async def _pause(self) -> None:
        try:
            async with asyncio.timeout(self._limits.lease_s / 2):
                await self._wake.wait()
        except TimeoutError:
            return

    async def _claim(self) -> None:
        room = self._limits.baselines_running - len(self._driven)
        if room <= 0:
            return
        claimed = await in_writing_thread(
            baseline_claim, worker=self._worker, lease_s=self._limits.lease_s, limit=room
        )
        for episode_id in claimed:
            if episode_id in self._driven:
                continue
            task = asyncio.create_task(self._drive(episode_id))
            self._driven[episode_id] = task
            task.add_done_callback(partial(self._ended, episode_id))

    def _ended(self, episode_id: UUID, task: asyncio.Task[Any]) -> None:
        self._driven.pop(episode_id, None)
        if not task.cancelled() and task.exception() is not None:
            logger.error("The baseline of episode %s failed", episode_id, exc_info=task.exception())

    async def _drive(self, episode_id: UUID) -> None:
        drive = await in_thread(baseline_drive, episode_id=episode_id)
        observation, done, speed = drive.observation, drive.done, drive.steps_per_s
        loop = asyncio.get_running_loop()
        due = renewed = loop.time()
        while not done:
            due = max(due + 1 / speed, loop.time())
            await asyncio.sleep(due - loop.time())
            if loop.time() - renewed > self._limits.lease_s / 3:
                if not await in_writing_thread(
                    baseline_renew, episode_id=episode_id, worker=self._worker, lease_s=self._limits.lease_s
                ):
                    return
                renewed = loop.time()
            actions = await in_thread(drive.policy, observation)
            words = {person: str(action) for person, action in actions.items()}
            answer = await self._step(episode_id, observation.step + 1, words)
            if answer.result is not StepResult.APPLIED or answer.observation is None:
                return  # Somebody else drives it, or it was ended or frozen.
            observation = answer.observation
            speed = answer.steps_per_second or speed
            done = answer.state != Episode.State.RUNNING

    async def _step(self, episode_id: UUID, step: int, actions: Mapping[str, str]) -> StepAnswer:
        while True:
            answer = await self._act(episode_id, step=step, actions=actions, assist=0)
            if not answer.retryable:
                return answer
            await asyncio.sleep(BUSY_WAIT_S)
