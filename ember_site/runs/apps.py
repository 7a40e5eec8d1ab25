"""The runs app."""

from django.apps import AppConfig


class RunsConfig(AppConfig):
    """Agents, submissions, runs and their verification."""

    name = "ember_site.runs"
    label = "runs"
    default_auto_field = "django.db.models.BigAutoField"
