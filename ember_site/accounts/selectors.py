"""Reads of accounts: who sees which token and which notice."""

from collections.abc import Iterable

from django.db.models import QuerySet
from knox.crypto import hash_token

from ember_site.accounts.models import ApiToken, Notice, User
from ember_site.accounts.visitors import Viewer
from ember_site.core import clock
from ember_site.core.errors import NotFound, SignInRequired


def token_list(*, viewer: Viewer) -> QuerySet[ApiToken]:
    """
    List the viewer's own tokens, newest first; nobody sees another's.

    The number of an account's tokens is limited (`EMBER_TOKENS_PER_USER`), so there are no pages.

    Raises:
        SignInRequired: for a guest.
    """
    if not isinstance(viewer, User):
        raise SignInRequired
    return ApiToken.objects.filter(user=viewer).order_by("-created")


def token_find(*, key: str = "", digest: str = "") -> ApiToken | None:
    """The token of a key, or with that digest of it, with its user, if it is good now; else None."""
    digest = hash_token(key) if key else digest
    token = ApiToken.objects.select_related("user").filter(digest=digest).first()
    if token is None or not token.user.is_active:
        return None
    return None if token.expiry is not None and token.expiry < clock.now() else token


def notice_list(*, viewer: Viewer) -> QuerySet[Notice]:
    """
    What the viewer was told, newest first. Paginate it.

    Raises:
        SignInRequired: for a guest.
    """
    if not isinstance(viewer, User):
        raise SignInRequired
    return Notice.objects.filter(user=viewer).order_by("-created_at", "-id")


def notice_get(*, viewer: Viewer, notice_id: int) -> Notice:
    """
    One notice of the viewer.

    Raises:
        SignInRequired: for a guest.
        NotFound: the viewer has no such notice.
    """
    notice = notice_list(viewer=viewer).filter(pk=notice_id).first()
    if notice is None:
        raise NotFound("You have no such notice.")
    return notice


def notices_unread(*, viewer: Viewer) -> int:
    """How many notices the viewer has not read; none for a guest."""
    if not isinstance(viewer, User):
        return 0
    return Notice.objects.filter(user=viewer, read_at__isnull=True).count()


def user_names(*, user_ids: Iterable[int]) -> dict[int, str]:
    """The names of accounts by number, for pages of organisers."""
    return {user.pk: user.username for user in User.objects.filter(pk__in=set(user_ids)).only("username")}
