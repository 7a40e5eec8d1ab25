"""What the status page and its JSON twin say: figures, versions, and what needs somebody's attention."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from importlib.metadata import version
from typing import Any

from django.conf import settings
from django.db import connection

from ember_site.core.workers import WorkerState, worker_list
from ember_site.episodes.selectors import EpisodeCounts, episode_counts
from ember_site.runs.selectors import QueueStatus, queue_status
from simulator import OBSERVATION_VERSION, SCHEMA_VERSION, SIMULATOR_VERSION

LONG_WAIT_S = 120
DATABASES = {"sqlite": "SQLite", "postgresql": "PostgreSQL"}


@dataclass(frozen=True, slots=True)
class Alert:
    """Something that an organiser should look at."""

    code: str
    message: str


@dataclass(frozen=True, slots=True)
class SiteStatus:
    """The site at this instant."""

    queue: QueueStatus
    workers: tuple[WorkerState, ...]
    episodes: EpisodeCounts
    alerts: tuple[Alert, ...]

    @property
    def alive(self) -> int:
        """How many workers gave a sign of life just now."""
        return sum(worker.alive for worker in self.workers)

    @property
    def oldest_wait(self) -> str:
        """The longest wait in words."""
        return duration_words(self.queue.oldest_wait_s)


def site_status() -> SiteStatus:
    """Look at queue, workers and episodes."""
    queue, workers, episodes = queue_status(), tuple(worker_list()), episode_counts()
    return SiteStatus(queue, workers, episodes, tuple(alerts(queue, workers, episodes)))


def alerts(queue: QueueStatus, workers: tuple[WorkerState, ...], episodes: EpisodeCounts) -> list[Alert]:
    """What is not as it should be, the gravest first."""
    found: list[Alert] = []
    if episodes.frozen:
        some = "1 episode is" if episodes.frozen == 1 else f"{episodes.frozen} episodes are"
        why = "rebuilding from the log gave another state. The log of decisions names them."
        found.append(Alert("episode_frozen", f"{some} frozen: {why}"))
    if not any(worker.alive for worker in workers):
        found.append(Alert("no_worker", "No worker is alive; records wait until one starts."))
    elif queue.oldest_wait_s > LONG_WAIT_S:
        wait = duration_words(queue.oldest_wait_s)
        found.append(Alert("long_wait", f"The oldest record has waited {wait}."))
    others = {worker.simulator_version for worker in workers if worker.alive} - {SIMULATOR_VERSION}
    if others:
        text = f"Workers run simulator {', '.join(sorted(others))}, this site {SIMULATOR_VERSION}."
        found.append(Alert("versions_differ", text))
    return found


def versions() -> dict[str, str]:
    """The versions in force."""
    return {
        "site": version("emberbench"),
        "simulator": SIMULATOR_VERSION,
        "observation": OBSERVATION_VERSION,
        "schema": SCHEMA_VERSION,
    }


def services_used() -> dict[str, str]:
    """What kinds of services this site stands on; never an address, a name or a password."""
    records = settings.STORAGES["records"]["BACKEND"]
    return {
        "database": DATABASES.get(connection.vendor, connection.vendor),
        "hints_between_processes": "Redis" if settings.REDIS_URL else "memory of one process",
        "records": "files" if "FileSystem" in records else "object storage",
        "mail": "mail server" if settings.HAS_MAIL_SERVER else "log",
    }


def status_json(status: SiteStatus) -> dict[str, Any]:
    """The JSON twin: the same figures, and no name of a machine."""
    return {
        "status": "attention" if status.alerts else "ok",
        "alerts": [asdict(alert) for alert in status.alerts],
        "queue": asdict(status.queue),
        "workers": {
            "alive": status.alive,
            "silent": len(status.workers) - status.alive,
            "list": [
                {
                    "alive": worker.alive,
                    "silent_s": worker.silent_s,
                    "started_at": worker.started_at.isoformat(timespec="seconds"),
                    "simulator_version": worker.simulator_version,
                }
                for worker in status.workers
            ],
        },
        "episodes": asdict(status.episodes),
        "versions": versions(),
        "services": services_used(),
    }


def duration_words(seconds: int) -> str:
    """A duration in its two largest units: 42 s, 3 min 5 s, 2 h 10 min."""
    if seconds < 60:
        return f"{seconds} s"
    if seconds < 3600:
        return f"{seconds // 60} min {seconds % 60} s"
    return f"{seconds // 3600} h {seconds % 3600 // 60} min"
