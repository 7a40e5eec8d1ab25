"""Files that never change: whoever has one already is told so with 304 instead of getting it again."""

from __future__ import annotations

from django.http import HttpRequest, HttpResponse, HttpResponseNotModified
from django.utils.http import parse_etags

ASKED_EACH_TIME = "private, no-cache"
"""Kept by the client, which asks each time: what it shows may be hidden one day."""


def is_held(request: HttpRequest, etag: str) -> bool:
    """Whether the client says that it has what the ETag, here without its quotes, stands for."""
    held = parse_etags(request.headers.get("If-None-Match", ""))
    return f'"{etag}"' in held or f'W/"{etag}"' in held or "*" in held


def lasting_response(
    request: HttpRequest, body: str | bytes, *, etag: str, content_type: str, cache: str, filename: str = ""
) -> HttpResponse:
    """
    304 where the client has the file, else the file.

    Args:
        etag: a hash that pins the bytes, without quotes.
        cache: the `Cache-Control` of either answer.
        filename: offer the file under this name instead of showing it.
    """
    response: HttpResponse
    if is_held(request, etag):
        response = HttpResponseNotModified()
    else:
        response = HttpResponse(body, content_type=content_type)
        if filename:
            response["Content-Disposition"] = f'attachment; filename="{filename}"'
    response["ETag"] = f'"{etag}"'
    response["Cache-Control"] = cache
    return response
