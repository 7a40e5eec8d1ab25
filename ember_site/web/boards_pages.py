"""What the templates of boards need: rows of one page, links of filters and orders."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from urllib.parse import urlencode

from django.core.paginator import Page, Paginator
from django.http import HttpRequest
from django.urls import reverse

from ember_site.boards import selectors
from ember_site.boards.feed import FeedLinks, board_atom
from ember_site.boards.models import Evaluation
from ember_site.boards.rows import KINDS, SORTS, Board, BoardFilters, BoardRow, Cell
from ember_site.core.errors import BadInput
from ember_site.web.boards_charts import LossChart, Pairing, loss_chart, pairing

PAGE_SIZE = 50
PAGE_SIZE_MAX = 200
SUMMARY_ROWS = 3
INTERVAL_START = 0.6
"""Where the axis of drawn intervals begins; what falls outside gets an arrow."""


@dataclass(frozen=True)
class PageRow:
    """A row with the links of its cells."""

    row: BoardRow
    cells: list[Cell]


@dataclass(frozen=True)
class Link:
    """One choice among several, by address."""

    label: str
    url: str
    current: bool
    count: int | None = None


@dataclass(frozen=True)
class Head:
    """A column's head: a link that orders by it and `aria-sort` for the present order."""

    label: str
    url: str
    direction: str


@dataclass(frozen=True)
class BoardPage:
    """One page of a board with everything around it."""

    board: Board
    page: Page[BoardRow]
    rows: list[PageRow]
    kinds: list[Link]
    sorts: list[Link]
    heads: dict[str, Head]
    query: str
    """The present filters as encoded parameters, without the page."""
    page_size: int | None
    compared: Pairing | None
    losses: LossChart | None
    interval_start: float = INTERVAL_START

    @property
    def is_filtered(self) -> bool:
        """Whether some entries may be hidden by a filter."""
        return len(self.board.rows) < self.board.entry_count


@dataclass(frozen=True)
class BoardSummary:
    """A board in the list of boards."""

    board: Board
    rows: list[PageRow]


def board_page(board: Board, parameters: Mapping[str, str]) -> BoardPage:
    """One page of the board, 50 rows unless `page_size` says otherwise. A page too far is the last one.

    Raises:
        BadInput: `page_size` is not a number from 1 to 200, or `a` or `b` no ranked agent.
    """
    size = _page_size(parameters.get("page_size", ""))
    page = Paginator(board.rows, size or PAGE_SIZE).get_page(parameters.get("page"))
    filters, compared = board.filters, pairing(board, parameters)
    return BoardPage(
        board=board,
        page=page,
        rows=[_page_row(row, linked=board.evaluation.shows_slots) for row in page],
        kinds=[
            Link(
                label=kind.capitalize() or "All",
                url=f"?{_query(replace(filters, kind=kind), size)}",
                current=kind == filters.kind,
                count=board.counts[kind],
            )
            for kind in ("", *KINDS)
        ],
        sorts=_sorts(filters),
        heads={name: _head(name, filters, size) for name in SORTS},
        query=_query(filters, size),
        page_size=size,
        compared=compared,
        losses=loss_chart(board, compared),
    )


def board_summaries(evaluations: Iterable[Evaluation]) -> list[BoardSummary]:
    """The given boards, each with its first rows."""
    boards = [selectors.board_rows(evaluation=evaluation) for evaluation in evaluations]
    return [
        BoardSummary(
            board, [_page_row(row, linked=board.evaluation.shows_slots) for row in board.rows[:SUMMARY_ROWS]]
        )
        for board in boards
    ]


def board_feed(request: HttpRequest, board: Board, page: Page[BoardRow]) -> bytes:
    """One page of the board's Atom feed, with absolute addresses."""
    path = reverse("board_atom", args=[board.evaluation.slug])

    def feed_url(number: int) -> str:
        filters = replace(board.filters, complete=None, sort="rank")
        parameters = "&".join(part for part in (_query(filters, None), f"page={number}") if part)
        return request.build_absolute_uri(f"{path}?{parameters}")

    return board_atom(
        board,
        list(page),
        FeedLinks(
            board=request.build_absolute_uri(reverse("board_detail", args=[board.evaluation.slug])),
            feed=feed_url(page.number),
            next=feed_url(page.next_page_number()) if page.has_next() else None,
            previous=feed_url(page.previous_page_number()) if page.has_previous() else None,
            agent=lambda slug: request.build_absolute_uri(reverse("agent_detail", args=[slug])),
        ),
    )


def _page_row(row: BoardRow, *, linked: bool) -> PageRow:
    return PageRow(row, linked_cells(row.cells) if linked else row.cells)


def linked_cells(cells: Iterable[Cell]) -> list[Cell]:
    """Cells that lead to their runs."""
    return [
        replace(cell, url=reverse("run_detail", args=[cell.run_id])) if cell.run_id else cell
        for cell in cells
    ]


def _query(filters: BoardFilters, page_size: int | None) -> str:
    values = {
        "kind": filters.kind,
        "complete": {None: "", True: "yes", False: "no"}[filters.complete],
        "search": filters.search,
        "sort": "" if filters.sort == "rank" else filters.sort,
        "page_size": page_size or "",
    }
    return urlencode({name: value for name, value in values.items() if value})


def _sorts(filters: BoardFilters) -> list[Link]:
    """The orders of the select box, the present one among them even if it runs the other way round."""
    choices = [Link(label, name, name == filters.sort) for name, (label, _) in SORTS.items()]
    if filters.sort.startswith("-"):
        label = SORTS[filters.sort[1:]][0]
        choices.append(Link(f"{label}, reversed", filters.sort, current=True))
    return choices


def _head(name: str, filters: BoardFilters, page_size: int | None) -> Head:
    """Each click turns the order round; evacuated starts with the highest, all else with the lowest."""
    first = "-evacuated" if name == "evacuated" else name
    other = first[1:] if first.startswith("-") else f"-{first}"
    wanted = other if filters.sort == first else first
    direction = {name: "ascending", f"-{name}": "descending"}.get(filters.sort, "")
    return Head(SORTS[name][0], f"?{_query(replace(filters, sort=wanted), page_size)}", direction)


def _page_size(text: str) -> int | None:
    if not text:
        return None
    if not (text.isascii() and text.isdigit() and len(text) < 10 and 1 <= int(text) <= PAGE_SIZE_MAX):
        raise BadInput(
            f"Expected a whole number from 1 to {PAGE_SIZE_MAX}, got {text[:40]!r}.", place="page_size"
        )
    return int(text)
