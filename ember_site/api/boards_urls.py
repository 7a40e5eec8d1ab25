"""Boards."""

from django.urls import URLPattern, URLResolver, path

from ember_site.api import boards_views as views

urlpatterns: list[URLPattern | URLResolver] = [
    path("boards/", views.BoardList.as_view(), name="api_board_list"),
    path("boards/<slug:slug>/", views.BoardDetail.as_view(), name="api_board_detail"),
]
