from django.apps import AppConfig


class CatalogConfig(AppConfig):
    """Suites and scenarios: a read-only mirror of suite directories."""

    name = "ember_site.catalog"
    label = "catalog"
    default_auto_field = "django.db.models.BigAutoField"
