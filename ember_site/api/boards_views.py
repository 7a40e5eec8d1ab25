"""Boards: the evaluations, and the rows of one as its page shows them."""

from __future__ import annotations

from django.db.models import QuerySet
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework.generics import ListAPIView
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from ember_site.api.boards_serializers import BoardQuery, BoardSerializer, EvaluationSerializer
from ember_site.api.pagination import CursorPage, RowPage
from ember_site.boards import exports, selectors
from ember_site.boards.models import Evaluation
from ember_site.boards.rows import board_filters


class BoardList(ListAPIView[Evaluation]):
    """Evaluations, newest first."""

    pagination_class = CursorPage
    ordering = ("-created_at", "slug")

    @extend_schema(operation_id="board_list", responses=EvaluationSerializer(many=True))
    def get(self, request: Request, *args: object, **kwargs: object) -> Response:
        """One page of the evaluations that the caller may see."""
        page = self.paginate_queryset(self.get_queryset())
        return self.get_paginated_response(
            [exports.evaluation_document(evaluation) for evaluation in page or []]
        )

    def get_queryset(self) -> QuerySet[Evaluation]:
        """Evaluations that the caller may see."""
        return selectors.evaluation_list(viewer=self.request.user)


class BoardDetail(APIView):
    """One board."""

    @extend_schema(
        operation_id="board_detail",
        parameters=[
            BoardQuery,
            OpenApiParameter("page", OpenApiTypes.INT, description="From 1."),
            OpenApiParameter("page_size", OpenApiTypes.INT, description="At most 200; 50 if absent."),
        ],
        responses=BoardSerializer,
    )
    def get(self, request: Request, slug: str) -> Response:
        """One page of the rows, in the order and with the ranks that the page of the board shows."""
        filters = board_filters(request.query_params.dict())
        evaluation = selectors.evaluation_get(viewer=request.user, slug=slug)
        board = selectors.board_rows(evaluation=evaluation, filters=filters)
        page = RowPage(board.rows, request)
        return Response({**page.links, **exports.board_document(board, page.rows)})
