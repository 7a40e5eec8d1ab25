"""Live episodes over HTTP."""

from django.urls import URLPattern, URLResolver, path

from ember_site.api import episodes_views as views

urlpatterns: list[URLPattern | URLResolver] = [
    path("episodes/", views.EpisodeList.as_view(), name="api_episode_list"),
    path("episodes/<uuid:episode_id>/", views.EpisodeDetail.as_view(), name="api_episode_detail"),
    path("episodes/<uuid:episode_id>/steps/", views.EpisodeSteps.as_view(), name="api_episode_steps"),
    path(
        "episodes/<uuid:episode_id>/heartbeat/",
        views.EpisodeHeartbeat.as_view(),
        name="api_episode_heartbeat",
    ),
    path(
        "episodes/<uuid:episode_id>/observation/",
        views.EpisodeObservation.as_view(),
        name="api_episode_observation",
    ),
]
