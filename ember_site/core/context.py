"""Facts about this site that templates of several apps need."""

from typing import Any

from django.conf import settings
from django.http import HttpRequest


def site_facts(request: HttpRequest) -> dict[str, Any]:
    """Tell templates whether mail really leaves this site, and its address where it has a public one."""
    return {"has_mail_server": settings.HAS_MAIL_SERVER, "public_url": settings.PUBLIC_URL}
