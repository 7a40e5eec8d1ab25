"""Boards."""

from django.urls import URLPattern, URLResolver, path

from ember_site.web import boards_views as views

urlpatterns: list[URLPattern | URLResolver] = [
    path("boards/", views.board_list, name="board_list"),
    path("boards/<slug:slug>/", views.board_detail, name="board_detail"),
    path("boards/<slug:slug>/board.json", views.board_json, name="board_json"),
    path("boards/<slug:slug>/board.csv", views.board_csv, name="board_csv"),
    path("boards/<slug:slug>/board.atom", views.board_atom, name="board_atom"),
]
