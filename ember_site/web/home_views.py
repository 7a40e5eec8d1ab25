"""The front page."""

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render

from ember_site.web.home_page import home_page


def home(request: HttpRequest) -> HttpResponse:
    """Say in three lines what this is and lead on to browse, play and submit."""
    return render(request, "web/home.html", {"page": home_page()})
