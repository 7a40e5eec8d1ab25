"""Writes of episodes: creating, stepping, pausing, ending. The log is committed before any answer."""

from __future__ import annotations

import json
import logging
import secrets
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, closing, contextmanager
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import lru_cache
from uuid import UUID

from django.db import IntegrityError, OperationalError, transaction
from django.db.models import Q

from ember_site.accounts.models import User
from ember_site.catalog.models import Scenario
from ember_site.catalog.scenario_cache import scenario_load
from ember_site.core import clock
from ember_site.core.audit import audit_record
from ember_site.core.errors import NotFound
from ember_site.core.models import AuditAction
from ember_site.episodes.addresses import baseline_note
from ember_site.episodes.admission import Start, start_agent, start_check
from ember_site.episodes.answers import EpisodeView, StepAnswer, StepResult
from ember_site.episodes.finish import episode_finish
from ember_site.episodes.limits import episode_limits
from ember_site.episodes.live import LiveEpisode, LiveRegistry, LogDiffers
from ember_site.episodes.models import Episode, EpisodeStep
from ember_site.episodes.publishing import view_make
from ember_site.episodes.seeds import SEED_BITS
from ember_site.episodes.selectors import episode_log
from ember_site.episodes.write_turn import write_turn
from ember_site.runs.models import Agent
from simulator import SimulationError, canonical_json

logger = logging.getLogger(__name__)


@lru_cache(maxsize=1)
def live_registry() -> LiveRegistry:
    """The live episodes of this process."""
    return LiveRegistry(episode_limits().live_episodes_in_memory)


def episode_create(
    *,
    scenario: Scenario,
    owner: User | None,
    guest_key: str = "",
    mode: str = Episode.Mode.PRACTICE,
    seed: int | None = None,
    policy: str = "",
    steps_per_second: float | None = None,
    hidden_ref: str = "",
    agent: Agent | None = None,
    address: str = "",
) -> Episode:
    """Start an episode at step 0.

    Without `seed` 64 random bits are drawn, which nobody sees before the episode ends. A ranked
    episode needs an account and the seed of its slot; its run will belong to the account's human
    agent, or to the `agent` given, which a program then plays from elsewhere under the limits of
    agents. A baseline episode needs the name of the policy and is driven by a web process; those of guests
    are counted for the `address` that they ask from, too.

    Raises:
        SignInRequired: ranked or remote play without an account.
        Forbidden: the agent belongs to somebody else.
        AgentKindRefused: only `model` agents are played from elsewhere.
        BadInput: unknown mode or policy, a seed out of range, or nobody to play.
        LimitExceeded: too many open ranked episodes of this person, or baselines at once.
    """
    start = Start(owner, guest_key, mode, seed, policy, agent, address)
    start_check(start)
    now = clock.now()
    episode = Episode.objects.create(
        scenario=scenario,
        agent=start_agent(start),
        owner=owner,
        guest_key="" if owner else guest_key,
        mode=mode,
        policy=policy,
        seed=str(secrets.randbits(SEED_BITS) if seed is None else seed),
        seed_public=seed is not None and not hidden_ref,
        last_active_at=now,
        steps_per_second=steps_per_second,
        move_due_at=_move_due(now) if agent else None,
        hidden_ref=hidden_ref,
    )
    if owner is None and address and mode == Episode.Mode.BASELINE:
        baseline_note(address, episode)
    return episode


def episode_step(
    *, episode_id: UUID, step: int, actions: Mapping[str, str], assist: int = 0, by_server: bool = False
) -> StepAnswer:
    """Make one step, exactly once.

    The row of the log is committed before the answer exists. The same step with the same actions
    again is `duplicate`, with other actions, or any step that is not the next one, `stale`;
    actions that do not fit are `rejected` with a code and the place. Nothing of these moves the
    episode. A database that cannot be written just now is `rejected` too, and `retryable`.

    With `by_server` the server steps in for an agent that is late: that is no sign of life of the
    agent, and the only way to go on once it is given up.

    Raises:
        NotFound: there is no such episode.
        IntegrityError, _Ahead: twice running the log was not what this process had read. Nothing was
            made, and the same request may be sent again.
    """
    wanted = _Wanted(episode_id, step, actions, assist, by_server)
    for attempt in (1, 2):
        try:
            answer = _step_make(wanted)
        except (IntegrityError, _Ahead):
            # Another process made this step first, or the database went back to an older state.
            # What this process held never happened: read the log again.
            if attempt == 2:
                raise
            continue
        except OperationalError as error:
            logger.warning("episode %s: step %s could not be saved: %s", episode_id, step, error)
            return _busy(step)
        except LogDiffers as difference:
            episode_freeze(episode_id=episode_id, difference=difference)
            return _frozen(step, difference)
        ended = answer.result is StepResult.APPLIED and answer.state == Episode.State.ENDED
        # Making the record plays the whole log again; nobody waits for that of a very long episode.
        if ended and answer.now <= episode_limits().finish_at_once_steps:
            _finish_soon(episode_id)
        return answer
    raise AssertionError("unreachable")


def episode_view(*, episode_id: UUID, after: int | None = None) -> EpisodeView:
    """The present state as this process may publish it, with the deltas after step `after`.

    Reads the log where other processes made steps.

    Raises:
        NotFound: there is no such episode.
    """
    difference: LogDiffers | None = None
    with _live(episode_id) as live:
        episode = Episode.objects.filter(pk=episode_id).first()
        if episode is None:
            raise NotFound("There is no such episode.")
        try:
            _catch_up(live, episode)
        except LogDiffers as found:
            # What is shown is the last state that agreed with the log.
            live_registry().forget(episode_id, live)
            difference = found
        step, observation = live.step, live.observation
        deltas = None if after is None else live.deltas_after(after)
    if difference is not None:
        episode_freeze(episode_id=episode_id, difference=difference)
        episode.refresh_from_db()
    return view_make(episode, step=step, observation=observation, deltas=deltas)


def episode_freeze(*, episode_id: UUID, difference: LogDiffers) -> None:
    """Stop an episode whose log does not give its states any more, instead of going on from another one.

    One that is over and has its run stays as it is: nothing goes on from it.
    """
    over = Q(state=Episode.State.ABANDONED) | Q(state=Episode.State.ENDED, run__isnull=False)
    going = Episode.objects.filter(pk=episode_id).exclude(over).exclude(state=Episode.State.FROZEN)
    with transaction.atomic():
        reason = f"log_differs_at_{difference.step}"
        if not going.update(state=Episode.State.FROZEN, reason=reason):
            return
        audit_record(
            actor=None,
            action=AuditAction.EPISODE_FROZEN,
            object_kind="episode",
            object_id=episode_id,
            data={"step": difference.step},
        )
    logger.error("episode %s is frozen: %s", episode_id, difference)


def episodes_finish_pending() -> int:
    """Store the runs of episodes that were long, or ended while their process died or the storage failed."""
    # By chance, so that some that can never be stored do not stand before all others for ever.
    pending = Episode.objects.filter(state=Episode.State.ENDED, run__isnull=True).order_by("?")[:20]
    return sum(_finish_soon(episode.pk) for episode in pending)


@dataclass(frozen=True, slots=True)
class _Wanted:
    """A step that is asked for."""

    episode_id: UUID
    step: int
    actions: Mapping[str, str]
    assist: int
    by_server: bool


def _step_make(wanted: _Wanted) -> StepAnswer:
    """Make the step under the lock of the episode's row, and keep the live episode locked to the commit.

    Whoever only looks takes no more than the lock of the live episode, and nobody waits for the database
    while holding that one: so a database that is locked keeps nobody from looking.
    """
    with ExitStack() as to_the_commit, write_turn(), transaction.atomic():
        episode = Episode.objects.select_for_update().filter(pk=wanted.episode_id).first()
        if episode is None:
            raise NotFound("There is no such episode.")
        live = to_the_commit.enter_context(_live(wanted.episode_id))
        _catch_up(live, episode)
        if live.step > episode.step:
            raise _Ahead
        return _step_locked(live, episode, wanted)


def _step_locked(live: LiveEpisode, episode: Episode, wanted: _Wanted) -> StepAnswer:
    step, actions = wanted.step, wanted.actions
    if step <= live.step:
        return _answer_known(live, episode, step, actions)
    if not episode.is_open or (episode.is_given_up and not wanted.by_server):
        return _answer_over(live, episode, step)
    if step != live.step + 1:
        message = f"Step {step} cannot be made; the next one is step {live.step + 1}."
        return _answer(StepResult.STALE, live, episode, step, code="step_stale", message=message)
    try:
        digest = live.make_step(actions)
    except SimulationError as error:
        why = {"code": "action_invalid", "place": error.place, "message": error.message}
        return _answer(StepResult.REJECTED, live, episode, step, **why)
    EpisodeStep.objects.create(
        episode=episode, step=step, actions=canonical_json(dict(actions)), state_digest=digest
    )
    _episode_advance(episode, live, wanted)
    return _answer(StepResult.APPLIED, live, episode, step)


def _catch_up(live: LiveEpisode, episode: Episode) -> None:
    """Make the logged steps that this process has not made; `episode` was read before or under a lock.

    Raises:
        LogDiffers: they give another state, or the log ends before the episode's step.
    """
    with closing(episode_log(episode_id=episode.pk, after=live.step)) as rows:
        live.advance(rows)
    if live.step < episode.step:
        raise LogDiffers(live.step + 1, "", "")


def _episode_advance(episode: Episode, live: LiveEpisode, wanted: _Wanted) -> None:
    now = clock.now()
    episode.step = live.step
    episode.state = Episode.State.RUNNING
    episode.assist = max(episode.assist, wanted.assist)
    if not wanted.by_server:
        episode.last_active_at = now
    if episode.is_remote:
        episode.move_due_at = _move_due(now)
    if live.done:
        episode.state, episode.reason, episode.ended_at = Episode.State.ENDED, live.reason, now
    fields = ["step", "last_active_at", "move_due_at", "state", "assist", "reason", "ended_at"]
    episode.save(update_fields=fields)


def _move_due(now: datetime) -> datetime:
    return now + timedelta(seconds=episode_limits().agent_move_s)


def _answer_over(live: LiveEpisode, episode: Episode, step: int) -> StepAnswer:
    """Answer a step of an episode that takes none any more."""
    code, message = "episode_over", "The episode is over."
    if episode.state == Episode.State.FROZEN:
        code = "episode_frozen"
    elif episode.is_given_up:
        message = "The agent was idle for too long; everybody stays until the episode ends."
    return _answer(StepResult.REJECTED, live, episode, step, code=code, message=message)


def _answer_known(live: LiveEpisode, episode: Episode, step: int, actions: Mapping[str, str]) -> StepAnswer:
    """Answer a step that is in the log already."""
    logged = EpisodeStep.objects.filter(episode=episode, step=step).values_list("actions", flat=True).first()
    if logged is not None and json.loads(logged) == dict(actions):
        return _answer(StepResult.DUPLICATE, live, episode, step)
    message = f"Step {step} was made with other actions; the next one is step {live.step + 1}."
    return _answer(StepResult.STALE, live, episode, step, code="step_stale", message=message)


def _answer(
    result: StepResult,
    live: LiveEpisode,
    episode: Episode,
    step: int,
    *,
    code: str = "",
    place: str = "",
    message: str = "",
) -> StepAnswer:
    return StepAnswer(
        result=result,
        step=step,
        now=live.step,
        state=episode.state,
        observation=live.observation,
        code=code,
        place=place,
        message=message,
        steps_per_second=episode.steps_per_second,
    )


def _busy(step: int) -> StepAnswer:
    """Nothing was saved. The live episode may be ahead of the log, so nothing of it is shown."""
    return StepAnswer(
        result=StepResult.REJECTED,
        step=step,
        now=step - 1,
        state=Episode.State.RUNNING,
        code="busy",
        message="The step could not be saved just now. Nothing happened; send it again.",
        retryable=True,
    )


def _frozen(step: int, difference: LogDiffers) -> StepAnswer:
    return StepAnswer(
        result=StepResult.REJECTED,
        step=step,
        now=difference.step - 1,
        state=Episode.State.FROZEN,
        code="episode_frozen",
        message="Rebuilding the episode gave another state. It is frozen; this is our fault.",
    )


def _finish_soon(episode_id: UUID) -> bool:
    """Store the run now; where that fails, the sweep tries again, since the log has everything."""
    try:
        episode_finish(episode_id=episode_id)
    except LogDiffers as difference:
        episode_freeze(episode_id=episode_id, difference=difference)
        return False
    except Exception:
        logger.exception("episode %s: its run could not be stored yet", episode_id)
        return False
    return True


class _Ahead(Exception):
    """This process holds steps that the log does not have."""


@contextmanager
def _live(episode_id: UUID) -> Iterator[LiveEpisode]:
    """The live episode of this process, locked; given up where the block fails, since it may be ahead."""

    def make() -> LiveEpisode:
        row = Episode.objects.filter(pk=episode_id).values_list("scenario_id", "seed").first()
        if row is None:
            raise NotFound("There is no such episode.")
        content_hash, seed = row
        return LiveEpisode(scenario_load(content_hash), int(seed))

    while True:
        live = live_registry().get_or_make(episode_id, make)
        with live.lock:
            if live.discarded:
                continue
            try:
                yield live
            except BaseException:
                live_registry().forget(episode_id, live)
                raise
            return
