"""Answers that never change, so that clients fetch them once."""

from __future__ import annotations

from django.http import HttpResponse
from django.utils.http import parse_etags
from rest_framework.request import Request


def immutable_file(
    request: Request, *, body: str, etag: str, filename: str, content_type: str = "application/json"
) -> HttpResponse:
    """A file identified by the hash `etag`: 304 where the client has it, else the bytes as an attachment."""
    quoted = f'"{etag}"'
    held = parse_etags(request.headers.get("If-None-Match", ""))
    if quoted in held or f"W/{quoted}" in held or "*" in held:
        response = HttpResponse(status=304)
    else:
        response = HttpResponse(body.encode(), content_type=content_type)
        response["Content-Disposition"] = f'attachment; filename="{filename}"'
    response["ETag"] = quoted
    response["Cache-Control"] = "private, max-age=31536000, immutable"
    return response
