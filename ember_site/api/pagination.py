"""One way to page through every list of the API."""

from __future__ import annotations

from typing import Any

from django.core.exceptions import ValidationError
from django.db import DataError
from rest_framework import exceptions
from rest_framework.pagination import CursorPagination
from rest_framework.request import Request


class CursorPage(CursorPagination):
    """Cursor paging: rows that arrive meanwhile never repeat or hide others.

    A view sets `ordering` to a unique order, one field name or several. `page_size` may be
    asked for, up to 200.
    """

    page_size = 50
    page_size_query_param = "page_size"
    max_page_size = 200

    def paginate_queryset(self, queryset: Any, request: Request, view: Any = None) -> list[Any] | None:
        """Give one page of rows; a made-up cursor is bad input, whatever it holds."""
        try:
            return super().paginate_queryset(queryset, request, view)
        except (exceptions.NotFound, ValidationError, ValueError, OverflowError, DataError) as error:
            raise exceptions.ValidationError(
                {"cursor": ["Expected a cursor that an earlier answer gave."]}
            ) from error

    def get_page_size(self, request: Request) -> int:
        """The size asked for, or 50."""
        asked = request.query_params.get(self.page_size_query_param)
        if asked is None:
            return 50
        if not (asked.isascii() and asked.isdigit() and 1 <= int(asked[:9]) <= self.max_page_size):
            raise exceptions.ValidationError(
                {"page_size": [f"Expected a whole number from 1 to {self.max_page_size}, got {asked[:40]}."]}
            )
        return int(asked)

    def get_ordering(self, request: Request, queryset: Any, view: Any) -> tuple[str, ...]:
        """The view's `ordering`."""
        ordering = getattr(view, "ordering", "pk")
        return (ordering,) if isinstance(ordering, str) else tuple(ordering)
