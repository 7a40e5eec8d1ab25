"""Reads of accounts: who sees which token."""

from django.contrib.auth.models import AnonymousUser
from django.db.models import QuerySet

from ember_site.accounts.models import ApiToken, User
from ember_site.core.errors import SignInRequired


def token_list(*, viewer: User | AnonymousUser) -> QuerySet[ApiToken]:
    """
    List the viewer's own tokens, newest first; nobody sees another's.

    The number of an account's tokens is limited (`EMBER_TOKENS_PER_USER`), so there are no pages.

    Raises:
        SignInRequired: for a guest.
    """
    if not isinstance(viewer, User):
        raise SignInRequired
    return ApiToken.objects.filter(user=viewer).order_by("-created")
