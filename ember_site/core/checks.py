"""What `manage.py check`, and every start of the site, says about settings that do not go together."""

from __future__ import annotations

from typing import Any

from django.conf import settings
from django.core.checks import CheckMessage, Warning, register


@register
def links_in_mails(**_: Any) -> list[CheckMessage]:
    """Warn where mails leave the site but it does not know the address under which it is reached."""
    if settings.HAS_MAIL_SERVER and not settings.PUBLIC_URL:
        return [
            Warning(
                "EMAIL_URL is set, but EMBER_PUBLIC_URL is not: links in mailed notices name no host.",
                hint="Set EMBER_PUBLIC_URL to the address of the site, for example https://ember.example.",
                id="ember.W001",
            )
        ]
    return []
