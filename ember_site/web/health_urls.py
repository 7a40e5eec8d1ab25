"""Addresses for machines that watch this one."""

from django.urls import URLPattern, URLResolver, path

from ember_site.web import health_views

urlpatterns: list[URLPattern | URLResolver] = [
    path("healthz", health_views.healthz, name="healthz"),
    path("readyz", health_views.readyz, name="readyz"),
]
