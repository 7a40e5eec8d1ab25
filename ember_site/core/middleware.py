"""Pages for expected errors."""

from collections.abc import Callable

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render

from ember_site.core.errors import DomainError


class DomainErrorMiddleware:
    """Shows a `DomainError` of a page's view as a page with its code, sentence and place."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        return self.get_response(request)

    def process_exception(self, request: HttpRequest, exception: Exception) -> HttpResponse | None:
        """Render the error, or leave an unexpected exception to Django."""
        if not isinstance(exception, DomainError):
            return None
        return render(request, "error.html", {"error": exception}, status=exception.http_status)
