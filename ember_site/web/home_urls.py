"""Front page and documents."""

from django.urls import path

from ember_site.web import docs_views, home_views

urlpatterns = [
    path("", home_views.home, name="home"),
    path("docs/", docs_views.docs_index, name="docs"),
    path("docs/images/<str:name>", docs_views.docs_image, name="docs_image"),
    path("docs/<slug:slug>/", docs_views.docs_page, name="docs_page"),
]
