"""Request rates of the API; uploads and episodes have their own limits beside these."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, NoReturn

from rest_framework.request import Request
from rest_framework.throttling import SimpleRateThrottle

from ember_site.core.errors import LimitExceeded

if TYPE_CHECKING:  # the framework's views import this module through its settings
    from rest_framework.views import APIView


class _Rate(SimpleRateThrottle):
    """A sliding window that says limit, use and the instant of the next allowed request."""

    history: list[float]
    num_requests: int
    duration: int

    def throttle_failure(self) -> NoReturn:
        """Refuse with all that a client needs to wait the right time."""
        reset = datetime.fromtimestamp(self.history[-1], UTC) + timedelta(seconds=self.duration)
        raise LimitExceeded(
            f"Expected at most {self.num_requests} requests in {self.duration} s; "
            f"the next is allowed at {reset:%H:%M:%S} UTC.",
            limit=self.num_requests,
            used=len(self.history),
            window_s=self.duration,
            retry_at=reset,
        )


class UserRate(_Rate):
    """Rate of one account, over all of its tokens and sessions."""

    scope = "user"

    def get_cache_key(self, request: Request, view: APIView) -> str | None:
        """One window for each account; guests are left to `GuestRate`."""
        return f"api-rate-user-{request.user.pk}" if request.user.is_authenticated else None


class GuestRate(_Rate):
    """Rate of one address without an account."""

    scope = "guest"

    def get_cache_key(self, request: Request, view: APIView) -> str | None:
        """One window for each address; accounts are left to `UserRate`."""
        return None if request.user.is_authenticated else f"api-rate-guest-{self.get_ident(request)}"
