"""The JSON API under /api/v1/; each area keeps its own list."""

from django.urls import include, path

urlpatterns = [
    path("", include("ember_site.api.base_urls")),
    path("", include("ember_site.api.catalog_urls")),
    path("", include("ember_site.api.runs_urls")),
    path("", include("ember_site.api.episodes_urls")),
    path("", include("ember_site.api.boards_urls")),
]
