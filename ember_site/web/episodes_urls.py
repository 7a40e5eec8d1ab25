"""Play and live episodes."""

from django.urls import URLPattern, URLResolver, path

from ember_site.web import episodes_views as views

urlpatterns: list[URLPattern | URLResolver] = [
    path("play/", views.play_index, name="play_index"),
    path("play/<str:content_hash>/", views.ScenarioPlay.as_view(), name="scenario_play"),
    path("play/<str:content_hash>/watch/<slug:policy>/", views.watch_start, name="watch_start"),
    path("me/claim/", views.guest_claim, name="guest_claim"),
    path("live/", views.live_list, name="live_list"),
    path("live/<uuid:episode_id>/", views.live_detail, name="live_detail"),
    path("live/<uuid:episode_id>/speed/", views.watch_speed, name="watch_speed"),
]
