"""One way to page through every list of the API."""

from __future__ import annotations

from base64 import b64decode, urlsafe_b64decode, urlsafe_b64encode
from collections.abc import Callable, Sequence
from typing import Any, Generic, TypeVar
from urllib.parse import parse_qsl

from django.core.exceptions import ValidationError
from django.db import DataError
from rest_framework import exceptions
from rest_framework.pagination import CursorPagination
from rest_framework.request import Request
from rest_framework.utils.urls import replace_query_param

PAGE_SIZE = 50
PAGE_SIZE_MAX = 200
OFFSET_MAX = 10**9
CURSOR_PARTS = frozenset({"o", "r", "p"})
"""Names inside a cursor of the framework: offset, reversed, position."""

Row = TypeVar("Row")


class CursorPage(CursorPagination):
    """Cursor paging: rows that arrive meanwhile never repeat or hide others.

    A view names its orders in `orderings`; `page_size` may be asked for, up to 200.
    """

    page_size = PAGE_SIZE
    page_size_query_param = "page_size"
    page_size_query_description = f"At most {PAGE_SIZE_MAX}; {PAGE_SIZE} if absent."
    max_page_size = PAGE_SIZE_MAX
    offset_cutoff = None  # type: ignore[assignment]  # rows alike in the first field are passed, however many

    def paginate_queryset(self, queryset: Any, request: Request, view: Any = None) -> list[Any] | None:
        """Give one page of rows; a made-up cursor is bad input, whatever it holds."""
        try:
            return super().paginate_queryset(queryset, request, view)
        except (exceptions.NotFound, ValidationError, ValueError, OverflowError, DataError) as error:
            raise exceptions.ValidationError(
                {"cursor": ["Expected a cursor that an earlier answer gave."]}
            ) from error

    def decode_cursor(self, request: Request) -> Any:
        """The cursor of the address, or None.

        Raises:
            NotFound, ValueError: it is no cursor, or passes more rows than any table has.
        """
        text = request.query_params.get(self.cursor_query_param)
        if text is not None:  # the framework takes what it does not understand for the first page
            inside = b64decode(text.encode(), validate=True).decode("ascii")
            names = {name for name, _ in parse_qsl(inside, keep_blank_values=True, strict_parsing=True)}
            if not names or not names <= CURSOR_PARTS:
                raise exceptions.NotFound
        cursor = super().decode_cursor(request)
        if cursor is not None and cursor.offset > OFFSET_MAX:
            raise exceptions.NotFound
        return cursor

    def get_page_size(self, request: Request) -> int:
        """The size asked for, or 50."""
        return number_asked(request, "page_size", default=PAGE_SIZE, highest=PAGE_SIZE_MAX)

    def get_ordering(self, request: Request, queryset: Any, view: Any) -> tuple[str, ...]:
        """The order asked for, or the first one of the view's `orderings`."""
        orderings = view.orderings
        asked = request.query_params.get("ordering")
        if asked is None:
            return tuple(next(iter(orderings.values())))
        fields = orderings.get(asked.removeprefix("-"))
        if fields is None:
            raise exceptions.ValidationError({"ordering": [f"Expected one of {', '.join(orders(view))}."]})
        return tuple(_reversed(field) for field in fields) if asked.startswith("-") else tuple(fields)

    def get_schema_operation_parameters(self, view: Any) -> list[dict[str, Any]]:
        """Cursor, size and, where there is a choice, order."""
        parameters: list[dict[str, Any]] = super().get_schema_operation_parameters(view)
        for parameter in parameters:
            if parameter["name"] == "page_size":
                parameter["schema"] |= {"minimum": 1, "maximum": PAGE_SIZE_MAX, "default": PAGE_SIZE}
        if getattr(view, "orderings", None):
            parameters.append(
                {
                    "name": "ordering",
                    "required": False,
                    "in": "query",
                    "description": "A leading minus turns the order round.",
                    "schema": {"type": "string", "enum": orders(view), "default": orders(view)[0]},
                }
            )
        return parameters


def orders(view: Any) -> list[str]:
    """The names of a view's orders, each both ways."""
    return [sign + name for name in view.orderings for sign in ("", "-")]


def _reversed(field: str) -> str:
    return field[1:] if field.startswith("-") else f"-{field}"


class RowPage(Generic[Row]):
    """
    One page of rows that are in memory anyway, by cursor.

    The cursor names the row that the page starts with, so that rows which arrive above it meanwhile do not
    repeat others; where that row is gone, its former place counts. `name_of` gives a row's name, unique.

    Raises:
        ValidationError: `cursor` or `page_size` is not as expected.
    """

    def __init__(self, rows: Sequence[Row], request: Request, *, name_of: Callable[[Row], str]) -> None:
        size = number_asked(request, "page_size", default=PAGE_SIZE, highest=PAGE_SIZE_MAX)
        start = self._start(rows, request, name_of)
        before, after = max(0, start - size), start + size
        self.rows = rows[start:after]
        address = request.build_absolute_uri()

        def link(place: int) -> str:
            return replace_query_param(address, "cursor", _cursor(place, name_of(rows[place])))

        self.links = {
            "next": link(after) if after < len(rows) else None,
            "previous": link(before) if start > 0 and rows else None,
            "count": len(rows),
        }

    def _start(self, rows: Sequence[Row], request: Request, name_of: Callable[[Row], str]) -> int:
        asked = request.query_params.get("cursor")
        if asked is None:
            return 0
        place, name = _cursor_read(asked)
        found = (number for number, row in enumerate(rows) if name_of(row) == name)
        return next(found, min(place, len(rows)))


def _cursor(place: int, name: str) -> str:
    return urlsafe_b64encode(f"{place}:{name}".encode()).decode()


def _cursor_read(text: str) -> tuple[int, str]:
    try:
        place, name = urlsafe_b64decode(text.encode("ascii")).decode().split(":", 1)
        if place.isascii() and place.isdigit() and len(place) < 10:
            return int(place), name
    except ValueError:
        pass
    raise exceptions.ValidationError({"cursor": ["Expected a cursor that an earlier answer gave."]})


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
