"""Addresses of the account pages that are not allauth's."""

from django.urls import URLPattern, URLResolver, path

from ember_site.web import accounts_views

urlpatterns: list[URLPattern | URLResolver] = [
    path("me/tokens/", accounts_views.tokens, name="tokens"),
    path("me/tokens/create/", accounts_views.token_create_view, name="token_create"),
    path("me/tokens/<uuid:public_id>/revoke/", accounts_views.token_revoke_view, name="token_revoke"),
]
