"""A board as large as one may get: many agents, each with a run on every slot."""

from __future__ import annotations

import random
import uuid
from datetime import UTC, datetime, timedelta

from django.db import connection
from django.db.models import Model

from ember_site.accounts.models import User
from ember_site.boards.models import Evaluation
from ember_site.runs.models import Agent, Run, RunSource, RunState

APART = 1_000_000
"""Between the IDs of an agent and of its copies."""

START = datetime(2026, 1, 1, tzinfo=UTC)


def board_fill(evaluation: Evaluation, *, entries: int, owners: int = 100) -> None:
    """
    Add `entries` agents with one verified run on each slot; every hundredth misses its last slot.

    Few distinct results on purpose, so that many entries tie. The same rows every time.
    """
    draw = random.Random(4)
    people = User.objects.bulk_create(
        User(username=f"crowd-{number}", password="!", display_name=f"Owner {number}")
        for number in range(owners)
    )
    agents = Agent.objects.bulk_create(
        (
            Agent(slug=f"crowd-{number}", name=f"Crowd {number}", owner=people[number % owners])
            for number in range(entries)
        ),
        batch_size=2_000,
    )
    slots = list(evaluation.slots.select_related("scenario"))
    Run.objects.bulk_create(
        (
            _run(evaluation, agent, slot, draw)
            for number, agent in enumerate(agents, start=1)
            for slot in (slots[:-1] if number % 100 == 0 else slots)
        ),
        batch_size=2_000,
    )


def board_multiply(*, copies: int) -> None:
    """Add `copies` agents like each one of `board_fill`, with runs like theirs: one statement a table."""
    random_uuid, random_hash = {
        "sqlite": ("lower(hex(randomblob(16)))", "lower(hex(randomblob(32)))"),
        "postgresql": ("gen_random_uuid()", "md5(random()::text) || md5(random()::text)"),
    }[connection.vendor]
    _copy(
        Agent,
        copies,
        "slug LIKE 'crowd-%%'",
        id=f"id + n * {APART}",
        slug="slug || '-' || n",
        name="name || ' ' || n",
    )
    _copy(
        Run,
        copies,
        f"agent_id IN (SELECT id FROM runs_agent WHERE slug LIKE 'crowd-%%' AND id < {APART})",
        id=random_uuid,
        digest=random_hash,
        agent_id=f"agent_id + n * {APART}",
    )


def _copy(model: type[Model], copies: int, condition: str, **values: str) -> None:
    table = model._meta.db_table
    columns = [field.column for field in model._meta.concrete_fields]
    with connection.cursor() as cursor:
        cursor.execute(
            f"WITH RECURSIVE numbers(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < %s) "
            f"INSERT INTO {table} ({', '.join(columns)}) "
            f"SELECT {', '.join(values.get(column, column) for column in columns)} FROM {table}, numbers "
            f"WHERE {condition}",
            [copies],
        )


def _run(evaluation: Evaluation, agent: Agent, slot, draw: random.Random) -> Run:
    population = slot.scenario.population
    evacuated = population - draw.randrange(min(population, 4))
    return Run(
        agent=agent,
        scenario=slot.scenario,
        scenario_hash=slot.scenario_id,
        digest=f"{draw.getrandbits(256):064x}",
        seed=slot.seed,
        simulator_version=evaluation.simulator_version,
        observation_version=evaluation.observation_version,
        source=RunSource.UPLOAD,
        ranked=True,
        state=RunState.VERIFIED,
        code="verified",
        population=population,
        evacuated=evacuated,
        casualties=population - evacuated,
        unresolved=0,
        exit_step_total=population * draw.randrange(10, 14),
        ended=True,
        record_size_bytes=1,
        id=uuid.UUID(int=draw.getrandbits(128), version=4),
        created_at=START + timedelta(seconds=agent.pk),
    )
