from django.apps import AppConfig


class CoreConfig(AppConfig):
    """Error codes, clock and middleware shared by all apps; no models."""

    name = "ember_site.core"
    label = "core"
    default_auto_field = "django.db.models.BigAutoField"
