from django.apps import AppConfig


class CoreConfig(AppConfig):
    """Error codes, clock, audit log and workers' signs of life, shared by all apps."""

    name = "ember_site.core"
    label = "core"
    default_auto_field = "django.db.models.BigAutoField"

    def ready(self) -> None:
        """Register the checks of the settings."""
        from ember_site.core import checks  # noqa: F401  (importing registers them)
