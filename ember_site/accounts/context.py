"""Facts about the visitor that the frame of every page needs."""

from __future__ import annotations

from typing import Any

from django.http import HttpRequest

from ember_site.accounts.selectors import notices_unread


def account_facts(request: HttpRequest) -> dict[str, Any]:
    """Give the number of unread notices, asked for only where a template shows it."""
    return {"unread_notices": lambda: notices_unread(viewer=request.user)}
