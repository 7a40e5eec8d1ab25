"""App configuration."""

from __future__ import annotations

from django.apps import AppConfig


class BoardsConfig(AppConfig):
    """Evaluations and ranking."""

    name = "ember_site.boards"
    label = "boards"
    verbose_name = "Boards"
    default_auto_field = "django.db.models.BigAutoField"
