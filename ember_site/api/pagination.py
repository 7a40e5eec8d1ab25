"""One way to page through every list of the API."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Generic, TypeVar

from django.core.exceptions import ValidationError
from django.db import DataError
from rest_framework import exceptions
from rest_framework.pagination import CursorPagination
from rest_framework.request import Request
from rest_framework.utils.urls import replace_query_param

PAGE_SIZE = 50
PAGE_SIZE_MAX = 200

Row = TypeVar("Row")


class CursorPage(CursorPagination):
    """Cursor paging: rows that arrive meanwhile never repeat or hide others.

    A view sets `ordering` to a unique order, one field name or several. `page_size` may be
    asked for, up to 200.
    """

    page_size = PAGE_SIZE
    page_size_query_param = "page_size"
    max_page_size = PAGE_SIZE_MAX

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
        return number_asked(request, "page_size", default=PAGE_SIZE, highest=PAGE_SIZE_MAX)

    def get_ordering(self, request: Request, queryset: Any, view: Any) -> tuple[str, ...]:
        """The view's `ordering`."""
        ordering = getattr(view, "ordering", "pk")
        return (ordering,) if isinstance(ordering, str) else tuple(ordering)


class RowPage(Generic[Row]):
    """One numbered page of rows that are in memory anyway. A page too far is empty.

    Raises:
        ValidationError: `page` or `page_size` is not a number in range.
    """

    def __init__(self, rows: Sequence[Row], request: Request) -> None:
        size = number_asked(request, "page_size", default=PAGE_SIZE, highest=PAGE_SIZE_MAX)
        page = number_asked(request, "page", default=1, highest=10**6)
        start = (page - 1) * size
        self.rows = rows[start : start + size]
        address = request.build_absolute_uri()
        self.links = {
            "next": replace_query_param(address, "page", page + 1) if start + size < len(rows) else None,
            "previous": replace_query_param(address, "page", page - 1) if page > 1 else None,
            "count": len(rows),
        }


def number_asked(request: Request, name: str, *, default: int, highest: int) -> int:
    """A whole number from 1 to `highest` among the parameters of the address.

    Raises:
        ValidationError: it is something else; the place is its name.
    """
    asked = request.query_params.get(name)
    if asked is None:
        return default
    if not (asked.isascii() and asked.isdigit() and len(asked) < 10 and 1 <= int(asked) <= highest):
        raise exceptions.ValidationError(
            {name: [f"Expected a whole number from 1 to {highest}, got {asked[:40]!r}."]}
        )
    return int(asked)
