"""Middleware that turns expected errors into answers."""

from collections.abc import Callable

from django.http import HttpRequest
from django.http.response import HttpResponseBase

from ember_site.core.errors import DomainError, TooLarge
from ember_site.core.responses import error_response

GetResponse = Callable[[HttpRequest], HttpResponseBase]


class DomainErrorMiddleware:
    """Answers a `DomainError` of a view with its code, sentence and place."""

    def __init__(self, get_response: GetResponse) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        return self.get_response(request)

    def process_exception(self, request: HttpRequest, exception: Exception) -> HttpResponseBase | None:
        """Render the error, or leave an unexpected exception to Django."""
        if isinstance(exception, DomainError):
            return error_response(request, exception)
        return None


class BodyLimitMiddleware:
    """Refuses a request whose body went over its limit (see `ember_site.bodies`) with 413."""

    def __init__(self, get_response: GetResponse) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        limit = getattr(request, "scope", {}).get("ember.body_limit_bytes")
        if limit is None:
            return self.get_response(request)
        message = f"What was sent is larger than the limit of {limit:,} bytes."
        return error_response(request, TooLarge(message, limit_bytes=limit))
