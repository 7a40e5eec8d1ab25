"""What every list of the API has in common: strict filters, named orders, cursor pages."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar

import django_filters
from django.db.models import Model, QuerySet
from django_filters.rest_framework import DjangoFilterBackend, FilterSet
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import extend_schema_field
from rest_framework.generics import ListAPIView
from rest_framework.metadata import SimpleMetadata
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from ember_site.api.strict import parameters_check

PAGE_PARAMETERS = ("cursor", "page_size", "ordering")

Row = TypeVar("Row", bound=Model)

YES_NO = (("true", "true"), ("false", "false"))


@extend_schema_field(OpenApiTypes.BOOL)
class YesNoFilter(django_filters.TypedChoiceFilter):
    """`true` or `false`; anything else is refused, not ignored."""

    def __init__(self, **options: Any) -> None:
        super().__init__(choices=YES_NO, coerce=lambda text: text == "true", **options)


class StrictFilters(DjangoFilterBackend):
    """Filters of the view's `filterset_class`. A parameter that the list does not know is refused."""

    def filter_queryset(self, request: Request, queryset: QuerySet[Any], view: APIView) -> QuerySet[Any]:
        """The rows asked for.

        Raises:
            ValidationError: a wrong value, or a parameter of another name; the place is its name.
        """
        filters: type[FilterSet] | None = self.get_filterset_class(view, queryset)
        parameters_check(request, known=[*(filters.base_filters if filters else ()), *PAGE_PARAMETERS])
        filtered: QuerySet[Any] = super().filter_queryset(request, queryset, view)
        return filtered


class PlainMetadata(SimpleMetadata):
    """What OPTIONS tells of a list: no fields to send, since the framework would name those of the rows."""

    def determine_actions(self, request: Request, view: APIView) -> dict[str, Any]:
        """None; the description of the API has them."""
        return {}


class ApiList(ListAPIView[Row]):
    """
    A list in cursor pages.

    `orderings` names the orders that may be asked for and the fields that each compares, the last of them
    unique; the first one is the default, and a leading minus turns an order round.
    """

    filter_backends = [StrictFilters]
    metadata_class = PlainMetadata
    orderings: Mapping[str, tuple[str, ...]]

    def page(self, request: Request) -> Response:
        """One page of the rows that the caller may see and asked for."""
        return self.list(request)
