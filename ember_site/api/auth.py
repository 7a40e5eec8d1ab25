"""Who is asking: an API token with a scope, or the session of a browser."""

from __future__ import annotations

from typing import TYPE_CHECKING

from django.db import models
from knox.auth import TokenAuthentication
from rest_framework import exceptions
from rest_framework.authentication import get_authorization_header
from rest_framework.permissions import SAFE_METHODS, BasePermission, IsAuthenticated
from rest_framework.request import Request

from ember_site.accounts.models import ApiToken
from ember_site.accounts.services import token_mark_used
from ember_site.core import clock
from ember_site.core.errors import StatusError

if TYPE_CHECKING:  # the framework's views import this module through its settings
    from rest_framework.views import APIView

_REACH: dict[str, frozenset[str]] = {
    ApiToken.Scope.READ: frozenset({"read"}),
    ApiToken.Scope.SUBMIT: frozenset({"read", "submit"}),
    ApiToken.Scope.PLAY: frozenset({"read", "submit", "play"}),
}


class ApiTokenAuthentication(TokenAuthentication):
    """`Authorization: Token ember_…`; notes the token's last use."""

    def authenticate(self, request: Request) -> tuple[models.Model, ApiToken] | None:
        """
        Give user and token, or None where the request carries no token.

        Raises:
            AuthenticationFailed: the token is unknown, expired or not even text.
            StatusError: it is sent as `Bearer`. Without this it would be passed over, and a program would
                take what a guest sees for all that there is. Other schemes are left to proxies in front.
        """
        if get_authorization_header(request).lower().startswith(b"bearer"):
            expected = "Expected `Authorization: Token ember_...`, got the scheme Bearer."
            raise StatusError(401, "bad_token", expected)
        answer: tuple[models.Model, ApiToken] | None
        try:
            answer = super().authenticate(request)
        except (UnicodeDecodeError, ValueError) as error:
            raise exceptions.AuthenticationFailed from error
        if answer is not None:
            token_mark_used(token=answer[1])
        return answer

    def _cleanup_token(self, auth_token: ApiToken) -> bool:
        """Whether the token has expired. It stays listed for its owner; nothing is deleted here."""
        return auth_token.expiry is not None and auth_token.expiry < clock.now()


class TokenScope(BasePermission):
    """A token reaches as far as its scope; a browser session is not limited by this.

    A view names the scope that its writing methods need in `write_scope`; reading needs `read`.
    A view without `write_scope` refuses writing by token.
    """

    def has_permission(self, request: Request, view: APIView) -> bool:
        """Allow, or refuse naming the scope that is missing."""
        token = request.auth
        if not isinstance(token, ApiToken):
            return True
        needed = "read" if request.method in SAFE_METHODS else getattr(view, "write_scope", None)
        if needed in _REACH.get(token.scope, frozenset()):
            return True
        raise exceptions.PermissionDenied(
            f"This token has the scope {token.scope}; this needs {needed or 'a browser session'}.",
            code="token_scope",
        )


class SignedIn(IsAuthenticated):
    """Only for people with an account, by session or token."""
