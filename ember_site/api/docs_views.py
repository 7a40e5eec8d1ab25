"""The interactive documentation of the API, served from this site alone."""

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe


@require_safe
def api_docs(request: HttpRequest) -> HttpResponse:
    """Swagger UI over the schema; without JavaScript the page links the schema and the guide."""
    return render(request, "api/docs.html")
