"""The JSON API under /api/v1/; each area keeps its own list."""

from django.urls import include, path, re_path

from ember_site.api.base_views import NoSuchAddress

urlpatterns = [
    path("", include("ember_site.api.base_urls")),
    path("", include("ember_site.api.catalog_urls")),
    path("", include("ember_site.api.runs_urls")),
    path("", include("ember_site.api.episodes_urls")),
    path("", include("ember_site.api.boards_urls")),
    re_path(r"^", NoSuchAddress.as_view()),
]
