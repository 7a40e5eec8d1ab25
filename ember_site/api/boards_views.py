"""Evaluations, and their boards with the rows that the page shows."""

from __future__ import annotations

from typing import Any

from django.db.models import QuerySet
from django_filters import CharFilter, ChoiceFilter
from django_filters.rest_framework import FilterSet
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.reverse import reverse
from rest_framework.serializers import BaseSerializer
from rest_framework.views import APIView

from ember_site.api.boards_serializers import (
    BoardQuery,
    BoardSerializer,
    EvaluationDetailSerializer,
    EvaluationSerializer,
)
from ember_site.api.lists import ApiList
from ember_site.api.pagination import PAGE_SIZE, PAGE_SIZE_MAX, RowPage
from ember_site.api.strict import parameters_check
from ember_site.boards import exports, selectors
from ember_site.boards.models import Evaluation, EvaluationKind, EvaluationState
from ember_site.boards.rows import board_filters

BOARD_PARAMETERS = (*BoardQuery().fields, "cursor", "page_size")


def evaluation_body(evaluation: Evaluation, request: Request) -> dict[str, Any]:
    """An evaluation with its links."""
    suite, slug = evaluation.suite, evaluation.slug
    links = {
        "self": reverse("api_evaluation_detail", args=[slug], request=request),
        "board": reverse("api_board_detail", args=[slug], request=request),
        "suite": reverse("api_suite_detail", args=[suite.suite_id, suite.version], request=request),
        "page": reverse("board_detail", args=[slug], request=request),
    }
    return exports.evaluation_document(evaluation) | {"links": links}


class EvaluationFilters(FilterSet):
    """Filters of evaluations and boards."""

    kind = ChoiceFilter(choices=EvaluationKind.choices)
    state = ChoiceFilter(choices=EvaluationState.choices)
    suite_id = CharFilter(field_name="suite__suite_id", max_length=64)

    class Meta:
        model = Evaluation
        fields = ("kind", "state", "suite_id")


class EvaluationList(ApiList[Evaluation]):
    """Evaluations, newest first."""

    serializer_class = EvaluationSerializer  # type: ignore[assignment]  # of documents, not of models
    filterset_class = EvaluationFilters
    orderings = {"newest": ("-created_at", "slug"), "slug": ("slug",)}

    @extend_schema(operation_id="evaluation_list")
    def get(self, request: Request, *args: object, **kwargs: object) -> Response:
        """One page of the evaluations that the caller may see."""
        return self.page(request)

    def get_queryset(self) -> QuerySet[Evaluation]:
        """Evaluations that the caller may see."""
        return selectors.evaluation_list(viewer=self.request.user)

    def get_serializer(self, rows: Any = (), **options: Any) -> BaseSerializer[Any]:
        """Evaluations are shown by one function, here, in files and on pages."""
        documents: Any = [evaluation_body(row, self.request) for row in rows]
        return EvaluationSerializer(documents, many=True)


class BoardList(EvaluationList):
    """The boards: one for each evaluation."""

    @extend_schema(operation_id="board_list")
    def get(self, request: Request, *args: object, **kwargs: object) -> Response:
        """One page of the evaluations that the caller may see; `links.board` leads to the rows."""
        return self.page(request)


class EvaluationDetail(APIView):
    """One evaluation."""

    @extend_schema(operation_id="evaluation_detail", responses=EvaluationDetailSerializer)
    def get(self, request: Request, slug: str) -> Response:
        """An evaluation with its schedule, which is empty while it is sealed."""
        evaluation = selectors.evaluation_get(viewer=request.user, slug=slug)
        slots = exports.slots_document(evaluation, selectors.evaluation_course(evaluation=evaluation).slots)
        body = evaluation_body(evaluation, request)
        return Response(body | {"commitment": evaluation.commitment, "slots": slots})


class BoardDetail(APIView):
    """One board."""

    @extend_schema(
        operation_id="board_detail",
        parameters=[
            BoardQuery,
            OpenApiParameter("cursor", OpenApiTypes.STR, description="From `next` or `previous`."),
            OpenApiParameter(
                "page_size",
                {"type": "integer", "minimum": 1, "maximum": PAGE_SIZE_MAX, "default": PAGE_SIZE},
                description=f"At most {PAGE_SIZE_MAX}; {PAGE_SIZE} if absent.",
            ),
        ],
        responses=BoardSerializer,
    )
    def get(self, request: Request, slug: str) -> Response:
        """One page of the rows, in the order and with the ranks that the page of the board shows."""
        parameters_check(request, known=BOARD_PARAMETERS)
        filters = board_filters(request.query_params.dict())
        evaluation = selectors.evaluation_get(viewer=request.user, slug=slug)
        board = selectors.board_rows(evaluation=evaluation, filters=filters)
        page = RowPage(board.rows, request, name_of=lambda row: row.agent.slug)
        document = exports.board_document(board, page.rows)
        return Response({**page.links, **document, "evaluation": evaluation_body(evaluation, request)})
