"""App configuration."""

from __future__ import annotations

from django.apps import AppConfig


class EpisodesConfig(AppConfig):
    """Live episodes in progress and their action logs."""

    name = "ember_site.episodes"
    label = "episodes"
    verbose_name = "Episodes"
    default_auto_field = "django.db.models.BigAutoField"
