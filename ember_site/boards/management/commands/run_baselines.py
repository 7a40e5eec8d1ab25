"""`manage.py run_baselines`: runs of the baseline policies on every open board."""

from __future__ import annotations

from typing import Any

from django.core.management.base import BaseCommand

from ember_site.boards.policy_runs import open_slots, policy_runs_make
from ember_site.runs.models import RunSource
from ember_site.runs.services import baseline_agent
from simulator import policies


class Command(BaseCommand):
    """Runs each baseline on each slot that has no verified run of it yet."""

    help = "Run the simulator's baselines on every slot of the open boards, and verify the runs. Repeatable."

    def handle(self, *args: Any, **options: Any) -> None:
        """Make what is missing."""
        slots = open_slots()
        if not slots and options["verbosity"]:
            self.stdout.write("There is no open board; import a suite first.")
        for name, make_policy in policies.BASELINES.items():
            runs = policy_runs_make(
                agent=baseline_agent(name), make_policy=make_policy, source=RunSource.BASELINE, slots=slots
            )
            if options["verbosity"]:
                self.stdout.write(f"{name}: {runs.made} runs made, {runs.known} there already")
