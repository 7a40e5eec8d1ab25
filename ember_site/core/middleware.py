"""Middleware that turns expected errors into answers, and says how long an answer may be kept."""

from collections.abc import Callable

from django.http import HttpRequest
from django.http.response import HttpResponseBase
from django.utils.cache import patch_vary_headers

from ember_site.core.errors import BadInput, DomainError, TooLarge
from ember_site.core.responses import error_response, refusal_response
from simulator.limits import size_text

GetResponse = Callable[[HttpRequest], HttpResponseBase]


class DomainErrorMiddleware:
    """Answers a `DomainError` of a view, and what the framework refuses, with code, sentence and place.

    What the API answers depends on who asks, by session or by token, so no cache may give it to others.
    """

    def __init__(self, get_response: GetResponse) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        response = refusal_response(request, self.get_response(request))
        if request.path.startswith("/api/"):
            patch_vary_headers(response, ["Authorization", "Cookie"])
            response.setdefault("Cache-Control", "private, no-cache")
        return response

    def process_exception(self, request: HttpRequest, exception: Exception) -> HttpResponseBase | None:
        """Render the error, or leave an unexpected exception to Django."""
        if isinstance(exception, DomainError):
            return error_response(request, exception)
        return None


class NulCookieMiddleware:
    """Takes cookies that hold NUL for absent, since no database can look for such a session.

    A header cannot carry the character, but a quoted cookie can spell it.
    """

    def __init__(self, get_response: GetResponse) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        request.COOKIES = {name: value for name, value in request.COOKIES.items() if "\0" not in value}
        return self.get_response(request)


class NulQueryMiddleware:
    """Refuses NUL in the parameters of a page, with which no database can be asked.

    The API's filters say so themselves, each with its own place.
    """

    def __init__(self, get_response: GetResponse) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        if not request.path.startswith("/api/"):
            for name, values in request.GET.lists():
                if any("\0" in value for value in values):
                    place = name.replace("\0", "")[:80]
                    return error_response(request, BadInput("Null characters are not allowed.", place=place))
        return self.get_response(request)


class BodyLimitMiddleware:
    """Refuses a request whose body went over its limit (see `ember_site.bodies`) with 413."""

    def __init__(self, get_response: GetResponse) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        limit = getattr(request, "scope", {}).get("ember.body_limit_bytes")
        if limit is None:
            return self.get_response(request)
        message = f"What was sent is larger than the limit of {size_text(limit)}."
        return error_response(request, TooLarge(message, limit=limit, limit_bytes=limit))
