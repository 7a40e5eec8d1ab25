#!/usr/bin/env python
"""Entry point of the site's commands: `python manage.py serve` runs everything."""

import os
import sys

from ember_site.core.stopping import stop_at_once

UNTIL_STOPPED = ("serve", "work")
"""Commands that run until they are told to stop, and may be told while the site is still loading."""


def main() -> None:
    """Run the command named on the command line."""
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "ember_site.settings")
    if sys.argv[1:2] and sys.argv[1] in UNTIL_STOPPED:
        stop_at_once()
    from django.core.exceptions import ImproperlyConfigured
    from django.core.management import execute_from_command_line

    try:
        execute_from_command_line(sys.argv)
    except ImproperlyConfigured as error:
        if "--traceback" in sys.argv:
            raise
        sys.exit(f"The settings are not right. {error}")
    except KeyboardInterrupt:
        sys.exit("\nStopped.")


if __name__ == "__main__":
    main()
