"""The site's clock: the one place that reads the time, so that tests can set it."""

from datetime import datetime

from django.utils import timezone


def now() -> datetime:
    """Give the present instant, aware, in UTC."""
    return timezone.now()
