"""One of everything that the API shows: suite and board, an agent with run and upload, an episode."""

from __future__ import annotations

import io
from collections.abc import Mapping
from dataclasses import dataclass

from ember_site.accounts.models import User
from ember_site.boards.models import Evaluation
from ember_site.catalog.scenario_cache import scenario_load
from ember_site.episodes.services import episode_create
from ember_site.runs.models import Agent, Run, Submission, SubmissionSource
from ember_site.runs.services import agent_create, run_verify, submission_create
from simulator import policies, run_episode


@dataclass(frozen=True)
class World:
    """What exists, and the parts of addresses that name it."""

    owner: User
    agent: Agent
    run: Run
    submission: Submission
    record: bytes
    names: Mapping[str, str]


def world_make(*, owner: User, evaluation: Evaluation, visibility: str = "private") -> World:
    """Make it. Agent, run and upload are the owner's; the episode is played for the same agent."""
    slot = evaluation.slots.select_related("scenario").order_by("position").first()
    assert slot is not None
    record = run_episode(scenario_load(slot.scenario_id), policies.stay, int(slot.seed)).to_json().encode()
    agent = agent_create(owner=owner, fields={"name": "Planner", "visibility": visibility})
    submission = submission_create(
        owner=owner,
        agent=agent,
        payload=io.BytesIO(record),
        filename="runs.json",
        source=SubmissionSource.API,
    )
    run = run_verify(run_id=Run.objects.get(agent=agent).pk)
    episode = episode_create(scenario=slot.scenario, owner=owner, mode="practice", agent=agent)
    names = {
        "suite_id": evaluation.suite.suite_id,
        "version": evaluation.suite.version,
        "content_hash": slot.scenario_id,
        "agent_slug": agent.slug,
        "slug": evaluation.slug,
        "submission_id": str(submission.pk),
        "run_id": str(run.pk),
        "episode_id": str(episode.pk),
    }
    return World(owner, agent, run, submission, record, names)
