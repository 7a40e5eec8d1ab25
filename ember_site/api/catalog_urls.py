"""Suites and scenarios."""

from django.urls import URLPattern, URLResolver, path

from ember_site.api import catalog_views as views

urlpatterns: list[URLPattern | URLResolver] = [
    path("suites/", views.SuiteList.as_view(), name="api_suite_list"),
    path("suites/<slug:suite_id>/<str:version>/", views.SuiteDetail.as_view(), name="api_suite_detail"),
    path(
        "suites/<slug:suite_id>/<str:version>/manifest/",
        views.SuiteManifest.as_view(),
        name="api_suite_manifest",
    ),
    path("scenarios/", views.ScenarioList.as_view(), name="api_scenario_list"),
    path("scenarios/<str:content_hash>/", views.ScenarioDetail.as_view(), name="api_scenario_detail"),
    path("scenarios/<str:content_hash>/file/", views.ScenarioFile.as_view(), name="api_scenario_file"),
]
