"""`manage.py import_suite DIR`: mirror a suite directory and open its board."""

from __future__ import annotations

from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from ember_site.boards.services import evaluation_ensure_open
from ember_site.catalog.services import suite_import
from ember_site.core.errors import DomainError
from simulator import EmberError


class Command(BaseCommand):
    """Imports a suite; the same suite again changes nothing."""

    help = (
        "Check a suite directory, import it, and open the board of a public suite. "
        "Refuses a changed suite under the same version."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("directory", type=Path, help="the directory that holds manifest.json")

    def handle(self, *args: Any, **options: Any) -> None:
        """Import, or say what stands in the way and exit with 1."""
        directory: Path = options["directory"]
        if not directory.is_dir():
            raise CommandError(f"{directory} is not a directory.")
        try:
            suite = suite_import(directory=directory)
        except (EmberError, DomainError) as error:
            where = f"{error.place}: " if error.place else ""
            raise CommandError(f"{directory} was not imported. {where}{error.message}") from error
        if options["verbosity"]:
            self.stdout.write(f"{suite.suite_id} {suite.version} is imported, suite hash {suite.suite_hash}")
        if not suite.is_public:
            return
        evaluation = evaluation_ensure_open(suite=suite)
        if options["verbosity"]:
            self.stdout.write(f"Its open board is {evaluation.slug}, {evaluation.title}")
