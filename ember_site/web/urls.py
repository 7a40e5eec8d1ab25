"""Pages of the site; each area keeps its own list."""

from django.urls import include, path

urlpatterns = [
    path("", include("ember_site.web.home_urls")),
    path("", include("ember_site.web.health_urls")),
    path("", include("ember_site.web.status_urls")),
    path("", include("ember_site.web.accounts_urls")),
    path("", include("ember_site.web.catalog_urls")),
    path("", include("ember_site.web.runs_urls")),
    path("", include("ember_site.web.episodes_urls")),
    path("", include("ember_site.web.boards_urls")),
]
