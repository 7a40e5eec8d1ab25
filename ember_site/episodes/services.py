"""Writes of episodes: creating, stepping, pausing, ending. The log is committed before any answer."""

from __future__ import annotations

import json
import logging
import secrets
from collections.abc import Mapping
from datetime import timedelta
from functools import lru_cache
from uuid import UUID

from django.db import IntegrityError, OperationalError, transaction
from django.db.models import QuerySet

from ember_site.accounts.models import User
from ember_site.catalog.models import Scenario
from ember_site.catalog.scenario_cache import scenario_load
from ember_site.core import clock
from ember_site.core.audit import audit_record
from ember_site.core.errors import BadInput, LimitExceeded, NotFound, SignInRequired
from ember_site.core.models import AuditAction
from ember_site.episodes.answers import EpisodeView, StepAnswer, StepResult
from ember_site.episodes.finish import episode_finish
from ember_site.episodes.limits import episode_limits
from ember_site.episodes.live import LiveEpisode, LiveRegistry, LogDiffers
from ember_site.episodes.models import Episode, EpisodeStep
from ember_site.episodes.selectors import episode_log
from ember_site.runs.models import Agent
from ember_site.runs.services.agents import baseline_agent, human_agent_for
from simulator import SimulationError, canonical_json
from simulator.policies import BASELINES

logger = logging.getLogger(__name__)

SEED_BITS = 64


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
) -> Episode:
    """Start an episode at step 0.

    Without `seed` 64 random bits are drawn, which nobody sees before the episode ends. A ranked
    episode needs an account and the seed of its slot; its run will belong to the account's human
    agent. A baseline episode needs the name of the policy and is driven by a web process.

    Raises:
        SignInRequired: ranked play without an account.
        BadInput: unknown mode or policy, a seed out of range, or nobody to play.
        LimitExceeded: too many open ranked episodes of this person, or baselines at once.
    """
    _check_request(owner=owner, guest_key=guest_key, mode=mode, seed=seed, policy=policy)
    _check_room(owner=owner, guest_key=guest_key, mode=mode)
    return Episode.objects.create(
        scenario=scenario,
        agent=_agent(mode=mode, owner=owner, policy=policy),
        owner=owner,
        guest_key="" if owner else guest_key,
        mode=mode,
        policy=policy,
        seed=str(secrets.randbits(SEED_BITS) if seed is None else seed),
        seed_public=seed is not None and not hidden_ref,
        last_active_at=clock.now(),
        steps_per_second=steps_per_second,
        hidden_ref=hidden_ref,
    )


def episode_step(*, episode_id: UUID, step: int, actions: Mapping[str, str], assist: int = 0) -> StepAnswer:
    """Make one step, exactly once.

    The row of the log is committed before the answer exists. The same step with the same actions
    again is `duplicate`, with other actions, or any step that is not the next one, `stale`;
    actions that do not fit are `rejected` with a code and the place. Nothing of these moves the
    episode. A database that cannot be written just now is `rejected` too, and `retryable`.

    Raises:
        NotFound: there is no such episode.
    """
    for attempt in (1, 2):
        live = _live(episode_id)
        with live.lock:
            try:
                answer = _step_locked(live, episode_id, step, actions, assist)
            except IntegrityError:
                # Another process made this step first. Ours never happened: read the log again.
                live_registry().forget(episode_id)
                if attempt == 2:
                    raise
                continue
            except OperationalError as error:
                live_registry().forget(episode_id)
                logger.warning("episode %s: step %s could not be saved: %s", episode_id, step, error)
                return _busy(live, step)
            except LogDiffers as difference:
                return _freeze(episode_id, live, step, difference)
            except BaseException:
                live_registry().forget(episode_id)
                raise
        if answer.result is StepResult.APPLIED and answer.state == Episode.State.ENDED:
            _finish_soon(episode_id)
        return answer
    raise AssertionError("unreachable")


def episode_view(*, episode_id: UUID, after: int | None = None) -> EpisodeView:
    """The present state as this process may publish it, with the deltas after step `after`.

    Reads the log where other processes made steps.

    Raises:
        NotFound: there is no such episode.
    """
    live = _live(episode_id)
    with live.lock:
        episode = Episode.objects.filter(pk=episode_id).first()
        if episode is None:
            raise NotFound("There is no such episode.")
        try:
            live.advance(episode_log(episode_id=episode_id, after=live.step))
        except LogDiffers as difference:
            _freeze(episode_id, live, live.step, difference)
            episode.refresh_from_db()
        over = episode.state == Episode.State.ENDED
        shown = over and not episode.is_hidden
        return EpisodeView(
            step=live.step,
            state=episode.state,
            observation=live.observation,
            deltas=None if after is None else live.deltas_after(after),
            reason=episode.reason,
            run=str(episode.run_id) if shown and episode.run_id else None,
            seed=episode.seed if shown else None,
            hidden=episode.is_hidden,
        )


def episode_resume(*, episode_id: UUID) -> bool:
    """Let a paused episode go on; whether it was paused."""
    return bool(
        Episode.objects.filter(pk=episode_id, state=Episode.State.PAUSED).update(
            state=Episode.State.RUNNING, last_active_at=clock.now()
        )
    )


def episodes_pause_idle() -> int:
    """Pause the episodes of people who did nothing for long; give up paused ones after a day."""
    now, limits = clock.now(), episode_limits()
    people = Episode.objects.exclude(mode=Episode.Mode.BASELINE)
    paused = people.filter(
        state=Episode.State.RUNNING, last_active_at__lt=now - timedelta(seconds=limits.idle_pause_s)
    ).update(state=Episode.State.PAUSED)
    people.filter(
        state=Episode.State.PAUSED, last_active_at__lt=now - timedelta(seconds=limits.paused_kept_s)
    ).update(state=Episode.State.ABANDONED, ended_at=now, reason="abandoned")
    return paused


def episodes_finish_pending() -> int:
    """Store the runs of episodes that ended while their process died or the storage failed."""
    pending = Episode.objects.filter(state=Episode.State.ENDED, run__isnull=True)[:20]
    return sum(_finish_soon(episode.pk) for episode in pending)


def _step_locked(
    live: LiveEpisode, episode_id: UUID, step: int, actions: Mapping[str, str], assist: int
) -> StepAnswer:
    with transaction.atomic():
        episode = Episode.objects.select_for_update().filter(pk=episode_id).first()
        if episode is None:
            raise NotFound("There is no such episode.")
        live.advance(episode_log(episode_id=episode_id, after=live.step))
        if step <= live.step:
            return _answer_known(live, episode, step, actions)
        if not episode.is_open:
            code = "episode_frozen" if episode.state == Episode.State.FROZEN else "episode_over"
            return _answer(
                StepResult.REJECTED, live, episode, step, code=code, message="The episode is over."
            )
        if step != live.step + 1:
            message = f"Step {step} cannot be made; the next one is step {live.step + 1}."
            return _answer(StepResult.STALE, live, episode, step, code="step_stale", message=message)
        try:
            digest = live.make_step(actions)
        except SimulationError as error:
            return _answer(
                StepResult.REJECTED,
                live,
                episode,
                step,
                code="action_invalid",
                place=error.place,
                message=error.message,
            )
        EpisodeStep.objects.create(
            episode=episode, step=step, actions=canonical_json(dict(actions)), state_digest=digest
        )
        _episode_advance(episode, live, assist)
    return _answer(StepResult.APPLIED, live, episode, step)


def _episode_advance(episode: Episode, live: LiveEpisode, assist: int) -> None:
    now = clock.now()
    episode.step, episode.last_active_at = live.step, now
    episode.state = Episode.State.RUNNING
    episode.assist = max(episode.assist, assist)
    if live.done:
        episode.state, episode.reason, episode.ended_at = Episode.State.ENDED, live.reason, now
    episode.save(update_fields=["step", "last_active_at", "state", "assist", "reason", "ended_at"])


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
    )


def _busy(live: LiveEpisode, step: int) -> StepAnswer:
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


def _freeze(episode_id: UUID, live: LiveEpisode, step: int, difference: LogDiffers) -> StepAnswer:
    """Stop an episode whose log does not give its states any more, instead of going on from another one."""
    live_registry().forget(episode_id)
    reason = f"log_differs_at_{difference.step}"
    with transaction.atomic():
        going = Episode.objects.filter(pk=episode_id).exclude(state=Episode.State.FROZEN)
        if going.update(state=Episode.State.FROZEN, reason=reason):
            audit_record(
                actor=None,
                action=AuditAction.EPISODE_FROZEN,
                object_kind="episode",
                object_id=episode_id,
                data={"step": difference.step},
            )
    logger.error("episode %s is frozen: %s", episode_id, difference)
    return StepAnswer(
        result=StepResult.REJECTED,
        step=step,
        now=live.step,
        state=Episode.State.FROZEN,
        code="episode_frozen",
        message="Rebuilding the episode gave another state. It is frozen; this is our fault.",
    )


def _finish_soon(episode_id: UUID) -> bool:
    """Store the run now; where that fails, the sweep tries again, since the log has everything."""
    try:
        live = _live(episode_id)
        with live.lock:
            live.advance(episode_log(episode_id=episode_id, after=live.step))
            episode_finish(episode_id=episode_id, record_text=live.record_text())
    except Exception:
        logger.exception("episode %s: its run could not be stored yet", episode_id)
        return False
    return True


def _live(episode_id: UUID) -> LiveEpisode:
    def make() -> LiveEpisode:
        row = Episode.objects.filter(pk=episode_id).values_list("scenario_id", "seed").first()
        if row is None:
            raise NotFound("There is no such episode.")
        content_hash, seed = row
        return LiveEpisode(scenario_load(content_hash), int(seed))

    return live_registry().get_or_make(episode_id, make)


def _agent(*, mode: str, owner: User | None, policy: str) -> Agent | None:
    if mode == Episode.Mode.BASELINE:
        return baseline_agent(policy)
    return human_agent_for(owner) if owner else None


def _check_request(*, owner: User | None, guest_key: str, mode: str, seed: int | None, policy: str) -> None:
    if mode not in Episode.Mode.values:
        raise BadInput(f"There is no mode {mode!r}.", place="mode")
    if mode == Episode.Mode.BASELINE and policy not in BASELINES:
        raise BadInput(f"There is no baseline {policy!r}.", place="policy")
    if mode == Episode.Mode.RANKED and owner is None:
        raise SignInRequired("Ranked play needs an account.")
    if mode == Episode.Mode.RANKED and seed is None:
        raise BadInput("A ranked episode needs the seed of its slot.", place="seed")
    if mode != Episode.Mode.BASELINE and owner is None and not guest_key:
        raise BadInput("An episode needs somebody to play it.", place="owner")
    if seed is not None and not 0 <= seed < 2**SEED_BITS:
        raise BadInput("A seed is a whole number from 0 to 18446744073709551615.", place="seed")


def _check_room(*, owner: User | None, guest_key: str, mode: str) -> None:
    limits = episode_limits()
    running = Episode.objects.filter(state=Episode.State.RUNNING)
    mine = Episode.objects.filter(owner=owner) if owner else Episode.objects.filter(guest_key=guest_key)
    if mode == Episode.Mode.BASELINE:
        if running.filter(mode=mode).count() >= limits.baselines_running:
            raise LimitExceeded(
                "Too many baselines run at the moment; wait for one to end.", limit=limits.baselines_running
            )
        if mine.filter(mode=mode, state=Episode.State.RUNNING).count() >= limits.baselines_per_viewer:
            raise LimitExceeded(
                f"You started {limits.baselines_per_viewer} baselines that still run; wait for one to end.",
                limit=limits.baselines_per_viewer,
            )
        return
    _make_room(mine.exclude(mode=Episode.Mode.BASELINE), limits.open_episodes_per_viewer)


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
