"""Problem documents (RFC 9457): how an error looks to a program."""

from datetime import datetime
from http import HTTPStatus
from math import ceil
from typing import Any

from django.urls import NoReverseMatch, reverse

from ember_site.core import clock
from ember_site.core.codes import sentence
from ember_site.core.errors import DomainError

CONTENT_TYPE = "application/problem+json"

PHRASES = {413: "Request Entity Too Large", 422: "Unprocessable Entity"}
"""Names that Python changed in 3.13. A title is the same wherever the site runs."""


def problem_body(status: int, code: str, detail: str = "", **data: Any) -> dict[str, Any]:
    """Give one problem document, JSON-ready; facts in `data` that are None are left out."""
    facts = {key: _plain(value) for key, value in data.items() if value is not None}
    return facts | {
        "type": _type_address(code),
        "title": PHRASES.get(status) or HTTPStatus(status).phrase,
        "status": status,
        "detail": detail or sentence(code),
        "code": code,
    }


def domain_problem(error: DomainError) -> dict[str, Any]:
    """Give the problem document of an expected error."""
    facts = {name: _plain(value) for name, value in error.data.items() if value is not None}
    return facts | problem_body(error.http_status, error.error_code, error.message, place=error.place or None)


def retry_headers(error: DomainError) -> dict[str, str]:
    """Give `Retry-After` in whole seconds where the error's data says from when to `retry_at`."""
    retry_at = error.data.get("retry_at")
    if isinstance(retry_at, str):
        retry_at = datetime.fromisoformat(retry_at)
    if not isinstance(retry_at, datetime):
        return {}
    return {"Retry-After": str(max(1, ceil((retry_at - clock.now()).total_seconds())))}


def _plain(value: Any) -> Any:
    """Instants as ISO 8601 text in UTC; everything else is JSON-ready already."""
    return value.isoformat().replace("+00:00", "Z") if isinstance(value, datetime) else value


def _type_address(code: str) -> str:
    try:
        return f"{reverse('docs_page', args=['errors'])}#{code}"
    except NoReverseMatch:
        return f"/docs/errors/#{code}"
