"""An empty site for a benchmark, in a folder of its own."""

from __future__ import annotations

import os
from pathlib import Path

SUITE = Path(__file__).resolve().parent.parent / "scenarios" / "public" / "v1"


def site_setup(data: str) -> None:
    """Set the site up with the public suite, in this process and its children; `data` is its data folder."""
    os.environ |= {
        "EMBER_DATA": data,
        "DJANGO_SETTINGS_MODULE": "ember_site.settings",
        "EMBER_LOG_LEVEL": "ERROR",
    }
    import django
    from django.core.management import call_command

    django.setup()
    call_command("migrate", verbosity=0, interactive=False)
    call_command("import_suite", SUITE, verbosity=0)
