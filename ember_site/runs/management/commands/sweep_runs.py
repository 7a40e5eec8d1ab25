"""Put back runs whose worker died or whose task was lost."""

from __future__ import annotations

from typing import Any

from django.core.management.base import BaseCommand

from ember_site.accounts.services import sessions_prune_daily
from ember_site.runs.services.queue import queue_sweep, sweep_schedule
from ember_site.runs.services.records import orphans_sweep_daily


class Command(BaseCommand):
    """Call once when workers start, or at any time: it is safe to run beside them."""

    help = "Put runs back in the queue whose worker died or whose task was lost."

    def handle(self, **options: Any) -> None:
        """Sweep once and say what was done."""
        result = queue_sweep()
        sweep_schedule()
        orphans_sweep_daily()
        sessions_prune_daily()
        if options["verbosity"]:
            self.stdout.write(
                f"{result.requeued} put back, {result.failed} given up, {result.enqueued} given a task"
            )
