"""Websocket paths of live episodes."""

from __future__ import annotations

from django.urls import URLPattern, path

from ember_site.episodes.consumer import EpisodeConsumer

websocket_urlpatterns: list[URLPattern] = [
    path("ws/episodes/<uuid:episode_id>/", EpisodeConsumer.as_asgi()),  # type: ignore[arg-type]
]
