"""Suites and scenarios."""

from django.urls import URLPattern, URLResolver, path

from ember_site.web import catalog_views as views

urlpatterns: list[URLPattern | URLResolver] = [
    path("suites/", views.suite_list, name="suite_list"),
    path("suites/<slug:suite_id>/<str:version>/", views.suite_detail, name="suite_detail"),
    path("suites/<slug:suite_id>/<str:version>/manifest.json", views.suite_manifest, name="suite_manifest"),
    path("suites/<slug:suite_id>/<str:version>/suite.zip", views.suite_archive, name="suite_archive"),
    path("scenarios/<str:content_hash>/", views.scenario_detail, name="scenario_detail"),
    path("scenarios/<str:content_hash>/scenario.json", views.scenario_file, name="scenario_file"),
    path("scenarios/<str:content_hash>/layout.txt", views.scenario_layout, name="scenario_layout"),
    path(
        "scenarios/<str:content_hash>/observation.json",
        views.scenario_observation,
        name="scenario_observation",
    ),
]
