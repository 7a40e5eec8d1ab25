"""Find stored records that are missing or altered."""

from __future__ import annotations

from typing import Any

from django.core.management.base import BaseCommand, CommandError

from ember_site.runs.services.records import records_check


class Command(BaseCommand):
    """Reads every record that a run names and compares it with its digest."""

    help = "Read every stored record; leave with 1 and name the runs where one is missing or altered."

    def handle(self, **options: Any) -> None:
        """Name each fault on a line of its own, then the sum."""
        checked = faults = 0
        for fault in records_check():
            checked += 1
            if fault is not None:
                faults += 1
                self.stdout.write(f"{fault.kind} {fault.digest} of run {', '.join(fault.run_ids)}")
        if faults:
            raise CommandError(f"{faults:,} of {checked:,} records are not as they were written")
        if options["verbosity"]:
            self.stdout.write(f"{checked:,} records, all as they were written")
