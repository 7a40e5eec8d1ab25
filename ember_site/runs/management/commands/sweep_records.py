"""Remove record files that no run names."""

from __future__ import annotations

from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from ember_site.runs.services.records import ForeignStore, orphans_find, orphans_sweep


class Command(BaseCommand):
    """What uploads that did not come to an end left behind. Workers do this once a day by themselves."""

    help = "Remove files of the record store that no run names and that are older than a day."

    def add_arguments(self, parser: ArgumentParser) -> None:
        """Whether to remove or only to name them."""
        parser.add_argument("--dry-run", action="store_true", help="only name the files")
        parser.add_argument("--force", action="store_true", help="even where most of the files would go")

    def handle(self, **options: Any) -> None:
        """Name the files, then the sum."""
        if options["dry_run"]:
            names, what = [orphan.name for orphan in orphans_find()[0]], "would be removed"
        else:
            try:
                names, what = orphans_sweep(force=options["force"]), "removed"
            except ForeignStore as error:
                raise CommandError(f"{error} If that is right: sweep_records --force") from error
        if options["dry_run"] or options["verbosity"] > 1:
            self.stdout.write("".join(f"{name}\n" for name in names), ending="")
        if options["verbosity"]:
            self.stdout.write(f"{len(names):,} files without a run {what}")
