"""How an expected error is answered over HTTP: a page for people, a problem document for programs."""

from django.contrib.auth.views import redirect_to_login
from django.http import HttpRequest, JsonResponse
from django.http.response import HttpResponseBase
from django.shortcuts import render

from ember_site.core.errors import DomainError, Forbidden, LimitExceeded, SignInRequired
from ember_site.core.problems import CONTENT_TYPE, domain_problem, retry_headers

TRY_AGAIN_S = 300
"""The longest window of the limits on account pages, as 429.html says in words."""


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
    return response


def too_many(request: HttpRequest) -> HttpResponseBase:
    """Answer who signs up, signs in or resets passwords too often; allauth calls it."""
    if wants_json(request):
        response = error_response(request, LimitExceeded())
    else:
        response = render(request, "429.html", status=429)
    response["Retry-After"] = str(TRY_AGAIN_S)
    return response


def csrf_failure(request: HttpRequest, reason: str = "") -> HttpResponseBase:
    """Answer a form whose CSRF token is missing or stale."""
    if wants_json(request):
        return error_response(request, Forbidden(code="csrf"))
    return render(request, "403_csrf.html", status=403)
