"""Pages and exports of boards: parse, one read, render."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from django.core.paginator import Paginator
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from ember_site.boards import exports, selectors
from ember_site.boards.feed import FEED_ROWS
from ember_site.boards.rows import Board, board_filters
from ember_site.web.boards_pages import board_feed, board_page, board_summaries


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
def board_json(request: HttpRequest, slug: str) -> HttpResponse:
    """The rows of the page, all of them, as JSON."""
    return HttpResponse(exports.board_json(_board(request, slug)), content_type="application/json")


@require_safe
def board_csv(request: HttpRequest, slug: str) -> HttpResponse:
    """The rows of the page, all of them, as CSV."""
    response = HttpResponse(
        exports.board_csv(_board(request, slug)), content_type="text/csv; charset=utf-8; header=present"
    )
    response["Content-Disposition"] = f'attachment; filename="emberbench-{slug}.csv"'
    return response


@require_safe
def board_atom(request: HttpRequest, slug: str) -> HttpResponse:
    """The complete rows as an Atom feed in pages, the last to finish first."""
    board = _board(request, slug, complete=True, sort="-finished")
    page = Paginator(board.rows, FEED_ROWS).get_page(request.GET.get("page"))
    return HttpResponse(board_feed(request, board, page), content_type="application/atom+xml; charset=utf-8")


def _board(request: HttpRequest, slug: str, **fixed: Any) -> Board:
    filters = replace(board_filters(request.GET.dict()), **fixed)
    evaluation = selectors.evaluation_get(viewer=request.user, slug=slug)
    return selectors.board_rows(evaluation=evaluation, filters=filters)
