"""Evaluations and boards."""

from django.urls import URLPattern, URLResolver, path

from ember_site.api import boards_views as views

urlpatterns: list[URLPattern | URLResolver] = [
    path("evaluations/", views.EvaluationList.as_view(), name="api_evaluation_list"),
    path("evaluations/<slug:slug>/", views.EvaluationDetail.as_view(), name="api_evaluation_detail"),
    path("boards/", views.BoardList.as_view(), name="api_board_list"),
    path("boards/<slug:slug>/", views.BoardDetail.as_view(), name="api_board_detail"),
]
