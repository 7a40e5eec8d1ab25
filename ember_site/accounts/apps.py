from django.apps import AppConfig


class AccountsConfig(AppConfig):
    """Users, profiles and API tokens."""

    name = "ember_site.accounts"
    label = "accounts"
    default_auto_field = "django.db.models.BigAutoField"
