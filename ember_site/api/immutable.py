"""Answers that never change, so that clients fetch them once."""

from __future__ import annotations

from hashlib import sha256
from typing import Any

from django.http import HttpResponse, HttpResponseNotModified
from django.http.response import HttpResponseBase
from drf_spectacular.utils import OpenApiParameter
from rest_framework.renderers import JSONRenderer
from rest_framework.request import Request
from rest_framework.response import Response

from ember_site.core.lasting import ASKED_EACH_TIME, is_held, lasting_response

IF_NONE_MATCH = OpenApiParameter(
    "If-None-Match",
    str,
    OpenApiParameter.HEADER,
    description="ETag of an answer that the client has; 304 where it is still the same.",
)


def immutable_file(request: Request, *, body: str, etag: str, filename: str) -> HttpResponse:
    """JSON identified by the hash `etag`: 304 where the client has it, else the bytes as an attachment."""
    return lasting_response(
        request,
        body,
        etag=etag,
        content_type="application/json",
        cache="private, max-age=31536000, immutable",
        filename=filename,
    )


def immutable_answer(request: Request, data: Any) -> HttpResponseBase:
    """
    An answer about a thing that never changes: 304 where the client has the very same.

    The ETag is a hash of the answer, since links and what is said beside may differ where the thing does not.
    """
    etag = sha256(JSONRenderer().render(data)).hexdigest()
    response = HttpResponseNotModified() if is_held(request, etag) else Response(data)
    response["ETag"] = f'"{etag}"'
    response["Cache-Control"] = ASKED_EACH_TIME
    return response
