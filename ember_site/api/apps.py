from django.apps import AppConfig


class ApiConfig(AppConfig):
    """The JSON API: parse, call, render; no models and no decisions."""

    name = "ember_site.api"
    label = "api"
    default_auto_field = "django.db.models.BigAutoField"
