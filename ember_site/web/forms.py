"""What a service refuses, said beside the fields of the form that was sent."""

from __future__ import annotations

from types import TracebackType

from django.forms import BaseForm

from ember_site.core.errors import DomainError


class Refusals:
    """
    A block in which a service works on a form: what it refuses becomes an error of the form.

    `status` is that of the refusal, or 422 where none came: that of a form with faults of its own.
    """

    def __init__(self, form: BaseForm) -> None:
        self.form = form
        self.status = 422

    def __enter__(self) -> Refusals:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> bool:
        if not isinstance(error, DomainError):
            return False
        self.form.add_error(error.place if error.place in self.form.fields else None, error.message)
        self.status = error.http_status
        return True
