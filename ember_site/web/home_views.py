"""The front page."""

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from ember_site.web.home_page import home_page


@require_safe
def home(request: HttpRequest) -> HttpResponse:
    """Say in three lines what this is and lead on to browse, play and submit."""
    return render(request, "web/home.html", {"page": home_page()})
