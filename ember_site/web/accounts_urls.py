"""Addresses of the account pages that are not allauth's."""

from django.urls import URLPattern, URLResolver, path

from ember_site.web import accounts_views, notices_views

urlpatterns: list[URLPattern | URLResolver] = [
    path("me/account/", accounts_views.account, name="account"),
    path("me/account/delete/", accounts_views.account_delete, name="account_delete"),
    path("me/notices/", notices_views.notices, name="notices"),
    path("me/notices/read/", notices_views.notices_read, name="notices_read"),
    path("me/notices/<int:notice_id>/", notices_views.notice_open, name="notice_open"),
    path("me/tokens/", accounts_views.tokens, name="tokens"),
    path("me/tokens/create/", accounts_views.token_create_view, name="token_create"),
    path("me/tokens/<uuid:public_id>/revoke/", accounts_views.token_revoke_view, name="token_revoke"),
]
