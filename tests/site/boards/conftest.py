"""Builders: a board of one slot, agents, and scored runs."""

from __future__ import annotations

import itertools
import uuid
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from django.core.cache import cache

from ember_site.accounts.models import User
from ember_site.boards.models import Evaluation, EvaluationKind, EvaluationState, Slot
from ember_site.catalog.models import Suite
from ember_site.catalog.scenario_cache import scenario_load
from ember_site.runs.models import Agent, Run, RunSource, RunState
from simulator import OBSERVATION_VERSION, SIMULATOR_VERSION

START = datetime(2026, 1, 1, tzinfo=UTC)

AgentMaker = Callable[..., Agent]
RunMaker = Callable[..., Run]


@pytest.fixture(autouse=True)
def _clean(settings: Any, tmp_path: Path) -> Iterator[None]:
    settings.STORAGES = settings.STORAGES | {
        "records": {
            "BACKEND": "django.core.files.storage.FileSystemStorage",
            "OPTIONS": {"location": str(tmp_path / "records")},
        }
    }
    cache.clear()
    scenario_load.cache_clear()
    yield
    scenario_load.cache_clear()


@pytest.fixture
def crowd(suite: Suite) -> Evaluation:
    """A board of one slot: the scenario with 100 people, so that a count is a percentage."""
    evaluation = Evaluation.objects.create(
        slug="crowd",
        title="Crowd",
        suite=suite,
        simulator_version=SIMULATOR_VERSION,
        observation_version=OBSERVATION_VERSION,
        kind=EvaluationKind.OPEN,
        state=EvaluationState.OPEN,
    )
    entry = suite.entries.get(position=9)
    Slot.objects.create(evaluation=evaluation, scenario_id=entry.scenario_id, seed="0", position=1)
    return evaluation


@pytest.fixture
def make_agent(make_user: Callable[..., User]) -> AgentMaker:
    """Give a function that makes an agent; every one has an owner of its own unless it is a baseline."""
    numbers = itertools.count(1)

    def make(name: str, kind: str = "model", **fields: Any) -> Agent:
        number = next(numbers)
        owner = None if kind == "baseline" else fields.pop("owner", None) or make_user(f"owner{number}")
        return Agent.objects.create(name=name, slug=f"agent-{number}", kind=kind, owner=owner, **fields)

    return make


@pytest.fixture
def make_run() -> RunMaker:
    """Give a function that makes a verified, ended, ranked run on a slot; later ones are a minute later."""
    minutes = itertools.count()

    def make(agent: Agent, slot: Slot, evacuated: int, **fields: Any) -> Run:
        population = slot.scenario.population
        created_at = fields.pop("created_at", START + timedelta(minutes=next(minutes)))
        casualties = fields.pop("casualties", population - evacuated)
        values: dict[str, Any] = {
            "agent": agent,
            "scenario": slot.scenario,
            "scenario_hash": slot.scenario_id,
            "digest": uuid.uuid4().hex * 2,
            "seed": slot.seed,
            "simulator_version": slot.evaluation.simulator_version,
            "observation_version": slot.evaluation.observation_version,
            "source": RunSource.UPLOAD,
            "ranked": True,
            "state": RunState.VERIFIED,
            "code": "verified",
            "population": population,
            "evacuated": evacuated,
            "casualties": casualties,
            "unresolved": population - evacuated - casualties,
            "exit_step_total": 10 * population,
            "ended": True,
            "record_size_bytes": 1,
        }
        run = Run.objects.create(**values | fields)
        Run.objects.filter(pk=run.pk).update(created_at=created_at)
        run.refresh_from_db()
        return run

    return make


@pytest.fixture
def complete(make_run: RunMaker) -> Callable[..., list[Run]]:
    """Give a function that gives an agent a run on every slot, `lost` people short of everybody in each."""

    def make(agent: Agent, evaluation: Evaluation, lost: int = 0, **fields: Any) -> list[Run]:
        slots = evaluation.slots.select_related("scenario", "evaluation")
        return [make_run(agent, slot, max(0, slot.scenario.population - lost), **fields) for slot in slots]

    return make
