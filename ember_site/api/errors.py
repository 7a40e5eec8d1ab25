"""Every failure of the API as one kind of problem document (RFC 9457).

`problem_response` is the only place that turns an exception into an answer: domain errors, errors
of the framework and unexpected ones alike become one `DomainError` first. A document has `type`,
`title`, `status`, `detail` and `code`; where it applies also `place`, `limit`, `line`, `retry_at`
and whatever else the error carries. Nothing of an unexpected error is shown.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator, Mapping
from datetime import timedelta
from typing import Any

from django.core.exceptions import PermissionDenied, RequestDataTooBig, SuspiciousOperation
from django.http import Http404
from rest_framework import exceptions
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView, set_rollback

from ember_site.core import clock
from ember_site.core.errors import BadInput, DomainError, Forbidden, LimitExceeded, StatusError
from ember_site.core.problems import CONTENT_TYPE, domain_problem, retry_headers
from simulator import EmberError

logger = logging.getLogger(__name__)


class ApiError(StatusError):
    """A failure that only the API knows, with its own status."""


_FRAMEWORK: tuple[tuple[type[Exception], int, str], ...] = (
    (Http404, 404, "not_found"),
    (exceptions.NotFound, 404, "not_found"),
    (PermissionDenied, 403, "forbidden"),
    (exceptions.NotAuthenticated, 401, "sign_in_required"),
    (exceptions.AuthenticationFailed, 401, "bad_token"),
    (exceptions.ParseError, 400, "bad_input"),  # a form; JSON is read by a parser of ours
    (exceptions.MethodNotAllowed, 405, "method_not_allowed"),
    (exceptions.NotAcceptable, 406, "not_acceptable"),
    (RequestDataTooBig, 413, "too_large"),
    (SuspiciousOperation, 400, "bad_input"),
)
_TELLING = (exceptions.ParseError, exceptions.MethodNotAllowed)
"""Errors where the framework's own words say more than our sentence, and nothing private."""


def problem_response(exception: Exception, context: Mapping[str, Any]) -> Response:
    """Answer for any exception raised in an API view; the framework's exception handler."""
    set_rollback()
    error: DomainError | None
    if isinstance(exception, exceptions.UnsupportedMediaType):
        error = _media_type_error(context["view"], context["request"])
    else:
        error = domain_error_of(exception)
    if error is None:
        logger.error("Unexpected error in %s", type(context.get("view")).__name__, exc_info=exception)
        error = DomainError(code="internal")
    headers = retry_headers(error)
    challenge = getattr(exception, "auth_header", "Token" if error.http_status == 401 else None)
    if challenge:
        headers["WWW-Authenticate"] = challenge
    return Response(
        domain_problem(error), status=error.http_status, headers=headers, content_type=CONTENT_TYPE
    )


def domain_error_of(exception: Exception) -> DomainError | None:
    """The same failure as a domain error; None for one that nobody expected."""
    if isinstance(exception, DomainError):
        return exception
    if isinstance(exception, EmberError):
        return BadInput(exception.message, place=exception.place)
    if isinstance(exception, exceptions.ValidationError):
        return _validation_error(exception)
    if isinstance(exception, exceptions.Throttled):
        retry_at = clock.now() + timedelta(seconds=getattr(exception, "wait", None) or 1)
        return LimitExceeded(retry_at=retry_at)
    if isinstance(exception, exceptions.PermissionDenied):
        return _permission_error(exception)
    for kind, status, code in _FRAMEWORK:
        if isinstance(exception, kind):
            words = str(getattr(exception, "detail", "")) if isinstance(exception, _TELLING) else ""
            return ApiError(status, code, words)
    return None


def _media_type_error(view: APIView, request: Request) -> ApiError:
    """Name the kinds of bodies that the view takes, and the one that came."""
    taken = " or ".join(str(parser.media_type) for parser in view.get_parsers())
    came = repr(request.content_type[:80]) if request.content_type else "none"
    return ApiError(415, "unsupported_media_type", f"Expected the Content-Type {taken}, got {came}.")


def _permission_error(exception: exceptions.PermissionDenied) -> DomainError:
    if str(exception.detail).startswith("CSRF Failed"):
        return Forbidden(code="csrf")
    if exception.get_codes() == "token_scope":
        return Forbidden(str(exception.detail), code="token_scope")
    return Forbidden()


def _validation_error(exception: exceptions.ValidationError) -> BadInput:
    """The first fault as place and sentence, all of them in `errors`."""
    faults = [{"place": place, "detail": text} for place, text in _faults(exception.detail, "")]
    if not faults:
        return BadInput()
    return BadInput(faults[0]["detail"], place=faults[0]["place"], errors=faults)


def _faults(detail: Any, place: str) -> Iterator[tuple[str, str]]:
    """Walk the framework's nested errors; places follow the grammar of the contract, section 5."""
    if isinstance(detail, Mapping):
        for key, inner in detail.items():
            if key == "non_field_errors":
                yield from _faults(inner, place)
            elif isinstance(key, int):
                yield from _faults(inner, f"{place}[{key}]")
            else:
                yield from _faults(inner, f"{place}.{key}" if place else str(key))
    elif isinstance(detail, list):
        nested = any(isinstance(inner, Mapping | list) for inner in detail)
        for index, inner in enumerate(detail):
            if inner:
                yield from _faults(inner, f"{place}[{index}]" if nested else place)
    else:
        yield place, str(detail)
