from django.apps import AppConfig


class RunsConfig(AppConfig):
    """Agents, submissions, run records and their verification by replay."""

    name = "ember_site.runs"
    label = "runs"
    default_auto_field = "django.db.models.BigAutoField"
