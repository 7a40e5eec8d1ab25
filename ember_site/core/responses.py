"""How an expected error is answered over HTTP: a page for people, a problem document for programs."""

from datetime import timedelta

from django.conf import settings
from django.contrib.auth.views import redirect_to_login
from django.core.exceptions import DisallowedHost
from django.http import HttpRequest, HttpResponseRedirect, JsonResponse
from django.http.response import HttpResponseBase
from django.shortcuts import render, resolve_url
from django.utils.cache import patch_vary_headers

from ember_site.core import clock
from ember_site.core.errors import DomainError, Forbidden, LimitExceeded, SignInRequired, StatusError
from ember_site.core.problems import CONTENT_TYPE, domain_problem, retry_headers

TRY_AGAIN_S = 300
"""The longest window of the limits on account pages, as 429.html says in words."""

_CODES = {
    400: "bad_input",
    403: "forbidden",
    404: "not_found",
    405: "method_not_allowed",
    413: "too_large",
    422: "bad_input",
    500: "internal",
}
"""Codes of refusals by the framework, which knows a status alone."""


def wants_json(request: HttpRequest) -> bool:
    """Tell whether a program asks: it uses the API or prefers JSON to a page."""
    if request.path.startswith("/api/"):
        return True
    return request.get_preferred_type(["text/html", "application/json"]) == "application/json"


def error_response(request: HttpRequest, error: DomainError) -> HttpResponseBase:
    """Show the error to whoever asked; a visitor who must sign in is led to the form."""
    response: HttpResponseBase
    if wants_json(request):
        response = JsonResponse(domain_problem(error), status=error.http_status, content_type=CONTENT_TYPE)
    elif isinstance(error, SignInRequired) and request.method == "GET":
        return redirect_to_login(request.get_full_path())
    else:
        response = render(request, "error.html", {"error": error}, status=error.http_status)
    for name, value in retry_headers(error).items():
        response[name] = value
    if not request.path.startswith("/api/"):
        patch_vary_headers(response, ["Accept"])
    return response


def refusal_response(request: HttpRequest, response: HttpResponseBase) -> HttpResponseBase:
    """
    Say in the site's own form what the framework refuses in its own: no such page, a wrong method, sign in.

    A program gets a problem document instead of a page that it cannot read, a person a page where there
    would be none. Every other answer is given back as it is.
    """
    error = _refusal(request, response)
    if error is None:
        return response
    answer = error_response(request, error)
    if "Allow" in response:
        answer["Allow"] = response["Allow"]
    return answer


def _refusal(request: HttpRequest, response: HttpResponseBase) -> DomainError | None:
    """The error that an answer of the framework stands for; None where the answer may stay."""
    if not wants_json(request):
        blank = response.status_code == 405 and not getattr(response, "content", b"")
        return StatusError(405, "method_not_allowed") if blank else None
    if isinstance(response, HttpResponseRedirect):
        form = f"{resolve_url(settings.LOGIN_URL)}?"
        return SignInRequired() if response.url.startswith(form) else None
    code = _CODES.get(response.status_code)
    if code is None or "json" in response.get("Content-Type", ""):
        return None
    return StatusError(response.status_code, code)


def bad_request(request: HttpRequest, exception: Exception) -> HttpResponseBase:
    """
    Answer a request that cannot be read, or one for a host that is not this site.

    The second fails before anybody knows whose session it is.
    """
    code = "host_unknown" if isinstance(exception, DisallowedHost) else _CODES[400]
    return error_response(request, StatusError(400, code))


def too_many(request: HttpRequest) -> HttpResponseBase:
    """Answer who signs up, signs in or resets passwords too often; allauth calls it."""
    if wants_json(request):
        return error_response(request, LimitExceeded(retry_at=clock.now() + timedelta(seconds=TRY_AGAIN_S)))
    response = render(request, "429.html", status=429)
    response["Retry-After"] = str(TRY_AGAIN_S)
    return response


def csrf_failure(request: HttpRequest, reason: str = "") -> HttpResponseBase:
    """Answer a form whose CSRF token is missing or stale."""
    if wants_json(request):
        return error_response(request, Forbidden(code="csrf"))
    return render(request, "403_csrf.html", status=403)
