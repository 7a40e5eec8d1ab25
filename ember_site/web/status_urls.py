"""Addresses of the site's own state."""

from django.urls import URLPattern, URLResolver, path

from ember_site.web import status_views

urlpatterns: list[URLPattern | URLResolver] = [
    path("status/", status_views.status, name="status"),
    path("status.json", status_views.status_json, name="status_json"),
    path("audit/", status_views.audit, name="audit"),
]
