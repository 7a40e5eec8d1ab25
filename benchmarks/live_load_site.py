"""The site of `live_load.py`: its database with the episodes, and the web process with its memory."""

from __future__ import annotations

import json
import math
import os
import queue
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
READY_S = 120


@dataclass(frozen=True)
class Stage:
    """What a phase happens on: one watched episode and those of the players, with their cookies."""

    watched: str
    watched_cookie: str
    games: list[tuple[str, str]]


def site_prepare(people: int, players: int) -> list[Stage]:
    """Make the database and the episodes of both phases."""
    import django
    from django.conf import settings

    django.setup()
    from django.contrib.sessions.backends.db import SessionStore
    from django.core.management import call_command

    from ember_site.accounts.guests import guest_key_ensure
    from ember_site.episodes.services import episode_create

    call_command("migrate", interactive=False, verbosity=0)
    crowd, room = scenario_make("crowd", people), scenario_make("room", 12)

    def game(scenario: Any) -> tuple[str, str]:
        session = SessionStore()
        key = guest_key_ensure(session)
        session.save()
        episode = episode_create(scenario=scenario, owner=None, guest_key=key)
        return str(episode.pk), f"{settings.SESSION_COOKIE_NAME}={session.session_key}"

    return [Stage(*game(crowd), [game(room) for _ in range(players)]) for _ in range(2)]


def scenario_make(name: str, people: int) -> Any:
    """An open floor without fire, on which random walkers keep on walking."""
    from ember_site.catalog.models import Scenario as ScenarioRow
    from simulator import Scenario

    side = math.ceil(math.sqrt(2.5 * people)) + 2
    cells = [[i // side, i % side] for i in Random(1).sample(range(side, side * side), people)]
    document = {
        "schema_version": "1.0",
        "scenario_id": f"live-load-{name}",
        "grid": {"width": side, "height": side},
        "obstacles": [[0, col] for col in range(1, side)],
        "exits": [{"id": "E1", "position": [0, 0]}],
        "people": [{"id": f"P{i:03d}", "position": cell} for i, cell in enumerate(sorted(cells), start=1)],
        "ignitions": [],
        "fire": {"model": "deterministic", "spread_interval": 1, "exits_flammable": True},
        "movement": {"conflict_resolution": "lowest_id_wins", "enter_fire": "casualty"},
        "termination": {"max_steps": 100_000},
        "seed": 0,
    }
    scenario = Scenario.from_json(json.dumps(document))
    return ScenarioRow.objects.create(
        content_hash=scenario.content_hash,
        scenario_id=scenario.scenario_id,
        schema_version="1.0",
        document=scenario.to_json(),
        width=side,
        height=side,
        population=people,
        exit_count=1,
        ignition_count=0,
        fire_model="deterministic",
        hazard=scenario.hazard,
        max_steps=scenario.max_steps,
    )


def written_at(episode_id: str) -> dict[int, float]:
    """When the row of each step was written, just before its commit, in seconds since 1970."""
    from ember_site.episodes.models import EpisodeStep

    rows = EpisodeStep.objects.filter(episode_id=episode_id).values_list("step", "created_at")
    return {step: created.timestamp() for step, created in rows}


@contextmanager
def server(limits: dict[str, Any], log: Path) -> Iterator[tuple[str, int]]:
    """The web process: its address and process number. What it says goes to the log."""
    environment = os.environ | {"LIVE_LOAD_LIMITS": json.dumps(limits), "PYTHONUNBUFFERED": "1"}
    with log.open("w") as said:
        process = subprocess.Popen(
            [sys.executable, "-m", "benchmarks.live_load_server"],
            cwd=ROOT,
            env=environment,
            stdout=subprocess.PIPE,
            stderr=said,
            text=True,
        )
    lines: queue.Queue[str] = queue.Queue()

    def read() -> None:
        assert process.stdout is not None
        for line in process.stdout:
            lines.put(line)

    threading.Thread(target=read, daemon=True).start()
    try:
        yield lines.get(timeout=READY_S).strip(), process.pid
    finally:
        process.terminate()
        process.wait(timeout=60)


def resident_mib(pid: int) -> float:
    """Memory of a process that is in RAM now; not a number where the system does not say."""
    try:
        for line in Path(f"/proc/{pid}/status").read_text().splitlines():
            if line.startswith("VmRSS:"):
                return int(line.split()[1]) / 1024
    except OSError:
        pass
    return math.nan
