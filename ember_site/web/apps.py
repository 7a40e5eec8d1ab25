from django.apps import AppConfig


class WebConfig(AppConfig):
    """HTML pages: parse, call, render; no models and no decisions."""

    name = "ember_site.web"
    label = "web"
    default_auto_field = "django.db.models.BigAutoField"
