"""Addresses of uploads, runs and agents."""

from django.urls import URLPattern, URLResolver, path

from ember_site.web import agents_views, runs_views, submissions_views

urlpatterns: list[URLPattern | URLResolver] = [
    path("submit/", submissions_views.submit, name="submit"),
    path("submissions/", submissions_views.submission_list, name="submission_list"),
    path("submissions/<uuid:submission_id>/", submissions_views.submission_detail, name="submission_detail"),
    path(
        "submissions/<uuid:submission_id>/status/",
        submissions_views.submission_status,
        name="submission_status",
    ),
    path("runs/<uuid:run_id>/", runs_views.run_detail, name="run_detail"),
    path("runs/<uuid:run_id>/record/", runs_views.run_record, name="run_record"),
    path("runs/<uuid:run_id>/track/", runs_views.run_track, name="run_track"),
    path("runs/<uuid:run_id>/status/", runs_views.run_status, name="run_status"),
    path("runs/<uuid:run_id>/withdraw/", runs_views.run_withdraw, name="run_withdraw"),
    path("runs/<uuid:run_id>/visibility/", runs_views.run_visibility, name="run_visibility"),
    path("runs/<uuid:run_id>/verify/", runs_views.run_verify, name="run_verify"),
    path("agents/", agents_views.agent_list, name="agent_list"),
    path("agents/new/", agents_views.agent_create, name="agent_create"),
    path("agents/<slug:slug>/", agents_views.agent_detail, name="agent_detail"),
    path("agents/<slug:slug>/edit/", agents_views.agent_edit, name="agent_edit"),
    path("me/", agents_views.me, name="me"),
]
