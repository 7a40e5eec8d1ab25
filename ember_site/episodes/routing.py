"""Websocket paths of live episodes."""

from django.urls import URLPattern

websocket_urlpatterns: list[URLPattern] = []
