"""Pages and exports of boards: parse, one read, render."""

from __future__ import annotations

from django.core.paginator import Paginator
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from ember_site.boards import exports, selectors
from ember_site.boards.rows import Board, board_filters
from ember_site.web.boards_pages import board_page, board_summaries


@require_safe
def board_list(request: HttpRequest) -> HttpResponse:
    """Every evaluation that the viewer may see, each with its best rows."""
    page = Paginator(selectors.evaluation_list(viewer=request.user), 10).get_page(request.GET.get("page"))
    return render(request, "boards/board_list.html", {"page": page, "boards": board_summaries(page)})


@require_safe
def board_detail(request: HttpRequest, slug: str) -> HttpResponse:
    """One board; `kind`, `complete`, `search`, `sort`, `page` and `page_size` say which part of it."""
    page = board_page(_board(request, slug), request.GET)
    return render(request, "boards/board_detail.html", {"page": page, "board": page.board})


@require_safe
def board_json(request: HttpRequest, slug: str) -> JsonResponse:
    """The rows of the page, all of them, as JSON."""
    return JsonResponse(exports.board_document(_board(request, slug)), json_dumps_params={"indent": 1})


@require_safe
def board_csv(request: HttpRequest, slug: str) -> HttpResponse:
    """The rows of the page, all of them, as CSV."""
    response = HttpResponse(
        exports.board_csv(_board(request, slug)), content_type="text/csv; charset=utf-8; header=present"
    )
    response["Content-Disposition"] = f'attachment; filename="emberbench-{slug}.csv"'
    return response


def _board(request: HttpRequest, slug: str) -> Board:
    filters = board_filters(request.GET.dict())
    evaluation = selectors.evaluation_get(viewer=request.user, slug=slug)
    return selectors.board_rows(evaluation=evaluation, filters=filters)
