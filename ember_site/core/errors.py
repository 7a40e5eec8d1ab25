"""
Errors that a person or a program can act on.

Services and selectors raise them; one middleware makes pages of them, one handler makes problem
documents, and the socket sends the code. None of them knows how it will be shown.
"""

from typing import Any, ClassVar

from ember_site.core.codes import sentence


class DomainError(Exception):
    """
    Base of all expected errors: a stable code, a status, a sentence, a place and further data.

    `data` holds JSON-ready facts, such as a limit and what was used of it.
    """

    code: ClassVar[str] = "internal"
    http_status: ClassVar[int] = 500

    def __init__(
        self, message: str = "", *, code: str | None = None, place: str | None = None, **data: Any
    ) -> None:
        self.error_code = code or self.code
        self.message = message or sentence(self.error_code)
        self.place = place
        self.data = data
        super().__init__(self.message)


class NotFound(DomainError):
    """The thing does not exist, or this viewer may not know that it does."""

    code = "not_found"
    http_status = 404


class SignInRequired(DomainError):
    """Only people with an account may do this."""

    code = "sign_in_required"
    http_status = 401


class Forbidden(DomainError):
    """The viewer may see the thing but not do this to it."""

    code = "forbidden"
    http_status = 403


class WrongState(DomainError):
    """The thing is not in a state in which this can be done."""

    code = "wrong_state"
    http_status = 409


class BadInput(DomainError):
    """The input was understood but is not acceptable; `place` says where."""

    code = "bad_input"
    http_status = 422


class LimitExceeded(DomainError):
    """A rate or quota is used up; data carries limit, used and, for rates, retry_at."""

    code = "too_many"
    http_status = 429


class TooLarge(DomainError):
    """What was sent is larger than a limit; data carries the limit."""

    code = "too_large"
    http_status = 413


class StatusError(DomainError):
    """A failure that only HTTP knows, with its own status."""

    def __init__(self, status: int, code: str, message: str = "", **data: Any) -> None:
        super().__init__(message, code=code, **data)
        self.http_status = status  # type: ignore[misc]  # by instance, not by class
