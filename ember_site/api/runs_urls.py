"""Agents, submissions and runs."""

from django.urls import URLPattern, URLResolver, path

from ember_site.api import runs_views as views

urlpatterns: list[URLPattern | URLResolver] = [
    path("agents/", views.AgentList.as_view(), name="api_agent_list"),
    path("agents/<slug:slug>/", views.AgentDetail.as_view(), name="api_agent_detail"),
    path("submissions/", views.SubmissionList.as_view(), name="api_submission_list"),
    path("submissions/<uuid:submission_id>/", views.SubmissionDetail.as_view(), name="api_submission_detail"),
    path("runs/", views.RunList.as_view(), name="api_run_list"),
    path("runs/<uuid:run_id>/", views.RunDetail.as_view(), name="api_run_detail"),
    path("runs/<uuid:run_id>/withdraw/", views.RunWithdraw.as_view(), name="api_run_withdraw"),
    path("runs/<uuid:run_id>/record/", views.RunRecord.as_view(), name="api_run_record"),
]
