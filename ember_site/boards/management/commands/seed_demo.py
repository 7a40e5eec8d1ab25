"""`manage.py seed_demo`: a few demo agents on the open boards."""

from __future__ import annotations

from argparse import ArgumentParser
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError

from ember_site.boards.demo import demo_seed
from ember_site.core.errors import DomainError


class Command(BaseCommand):
    """Adds demo agents with real runs; what is there already stays as it is."""

    help = "Add marked demo agents with real runs on the open boards. Repeatable; not for public sites."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--public", action="store_true", help="do so even on a public site")

    def handle(self, *args: Any, **options: Any) -> None:
        """Seed, unless this is a public site."""
        if settings.SECURE and not options["public"]:
            raise CommandError("This is a public site (EMBER_PUBLIC_URL); demo agents need --public here.")
        try:
            seeded = demo_seed()
        except DomainError as error:
            raise CommandError(error.message) from error
        if options["verbosity"]:
            for name, runs in seeded.items():
                self.stdout.write(f"{name}: {runs.made} runs made, {runs.known} there already")
