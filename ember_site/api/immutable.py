"""Answers that never change, so that clients fetch them once."""

from __future__ import annotations

from hashlib import sha256
from typing import Any

from django.http import HttpResponse, HttpResponseNotModified
from django.http.response import HttpResponseBase
from django.utils.http import parse_etags
from drf_spectacular.utils import OpenApiParameter
from rest_framework.renderers import JSONRenderer
from rest_framework.request import Request
from rest_framework.response import Response

IF_NONE_MATCH = OpenApiParameter(
    "If-None-Match",
    str,
    OpenApiParameter.HEADER,
    description="ETag of an answer that the client has; 304 where it is still the same.",
)


def immutable_file(
    request: Request, *, body: str, etag: str, filename: str, content_type: str = "application/json"
) -> HttpResponse:
    """A file identified by the hash `etag`: 304 where the client has it, else the bytes as an attachment."""
    quoted = f'"{etag}"'
    response: HttpResponse
    if _is_held(request, quoted):
        response = HttpResponseNotModified()
    else:
        response = HttpResponse(body.encode(), content_type=content_type)
        response["Content-Disposition"] = f'attachment; filename="{filename}"'
    response["ETag"] = quoted
    response["Cache-Control"] = "private, max-age=31536000, immutable"
    return response


def immutable_answer(request: Request, data: Any) -> HttpResponseBase:
    """
    An answer about a thing that never changes: 304 where the client has the very same.

    The ETag is a hash of the answer, since links and what is said beside may differ where the thing does not.
    """
    quoted = f'"{sha256(JSONRenderer().render(data)).hexdigest()}"'
    response = HttpResponseNotModified() if _is_held(request, quoted) else Response(data)
    response["ETag"] = quoted
    response["Cache-Control"] = "private, no-cache"
    return response


def _is_held(request: Request, quoted: str) -> bool:
    held = parse_etags(request.headers.get("If-None-Match", ""))
    return quoted in held or f"W/{quoted}" in held or "*" in held
