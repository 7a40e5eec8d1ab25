"""Entrance, description and interactive documentation of the API."""

from django.urls import URLPattern, URLResolver, path

from ember_site.api.base_views import ApiRoot, ApiSchema
from ember_site.api.docs_views import api_docs

urlpatterns: list[URLPattern | URLResolver] = [
    path("", ApiRoot.as_view(), name="api_root"),
    path("schema/", ApiSchema.as_view(), name="api_schema"),
    path("docs/", api_docs, name="api_docs"),
]
