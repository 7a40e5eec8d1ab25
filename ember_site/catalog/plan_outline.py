"""Geometry of the drawn plan: outlines and merged line runs of sets of cells, as SVG path data.

Everything is in whole units of `CELL` a cell, so the path data stays short and exact.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable
from itertools import pairwise

Cell = tuple[int, int]
Point = tuple[int, int]
Segment = tuple[Point, Point]

CELL = 10
"""Side of a cell in user units of the drawing."""


def outline_path(cells: Collection[Cell]) -> str:
    """Path data of the outline of `cells`, meant for the even-odd fill rule.

    One closed loop for each boundary, straight runs merged, so that a filled region has no
    seams between its cells. O(cells).
    """
    ahead = _boundary_by_start(cells)
    loops = []
    while ahead:
        start = min(ahead)
        loops.append(_loop_path(_take_loop(ahead, start)))
    return "".join(loops)


def _boundary_by_start(cells: Collection[Cell]) -> dict[Point, list[Point]]:
    """Directed unit edges of the boundary, the region on their right, keyed by start point (x, y)."""
    inside = set(cells)
    ahead: dict[Point, list[Point]] = {}
    for row, col in sorted(inside):
        top_left, top_right = (col, row), (col + 1, row)
        bottom_left, bottom_right = (col, row + 1), (col + 1, row + 1)
        for neighbour, start, end in (
            ((row - 1, col), top_left, top_right),
            ((row, col + 1), top_right, bottom_right),
            ((row + 1, col), bottom_right, bottom_left),
            ((row, col - 1), bottom_left, top_left),
        ):
            if neighbour not in inside:
                ahead.setdefault(start, []).append(end)
    return ahead


def _take_loop(ahead: dict[Point, list[Point]], start: Point) -> list[Point]:
    """Remove one closed loop from the edges and give its points, the start only once."""
    loop, here = [start], start
    while True:
        ends = ahead[here]
        following = ends.pop()
        if not ends:
            del ahead[here]
        if following == start:
            return loop
        loop.append(following)
        here = following


def _loop_path(loop: list[Point]) -> str:
    """Closed path through the corners of a rectilinear loop."""
    count = len(loop)
    corners = [
        point
        for index, point in enumerate(loop)
        if not _is_straight(loop[index - 1], point, loop[(index + 1) % count])
    ]
    parts = [f"M{corners[0][0] * CELL} {corners[0][1] * CELL}"]
    for (_, last_y), (x, y) in pairwise(corners):
        parts.append(f"H{x * CELL}" if y == last_y else f"V{y * CELL}")
    return "".join(parts) + "z"


def _is_straight(before: Point, point: Point, after: Point) -> bool:
    return before[0] == point[0] == after[0] or before[1] == point[1] == after[1]


def segments_path(segments: Iterable[Segment]) -> str:
    """Path data of unit segments between grid points, touching collinear ones merged.

    A segment is ((x, y), (x, y)) with the smaller point first, horizontal or vertical.
    """
    by_line: dict[tuple[bool, int], list[int]] = defaultdict(list)
    for (x1, y1), (x2, _y2) in segments:
        horizontal = x1 != x2
        by_line[(horizontal, y1 if horizontal else x1)].append(x1 if horizontal else y1)
    parts = []
    for (horizontal, fixed), starts in sorted(by_line.items()):
        for first, last in _runs(starts):
            if horizontal:
                parts.append(f"M{first * CELL} {fixed * CELL}H{last * CELL}")
            else:
                parts.append(f"M{fixed * CELL} {first * CELL}V{last * CELL}")
    return "".join(parts)


def _runs(starts: list[int]) -> list[tuple[int, int]]:
    """Merge unit intervals [n, n + 1] into the fewest [first, last]."""
    runs: list[tuple[int, int]] = []
    for start in sorted(set(starts)):
        if runs and runs[-1][1] == start:
            runs[-1] = (runs[-1][0], start + 1)
        else:
            runs.append((start, start + 1))
    return runs


def side_segments(cell: Cell) -> tuple[tuple[Cell, Segment], ...]:
    """The four neighbours of a cell, north, south, west, east, each with the shared unit segment."""
    row, col = cell
    return (
        ((row - 1, col), ((col, row), (col + 1, row))),
        ((row + 1, col), ((col, row + 1), (col + 1, row + 1))),
        ((row, col - 1), ((col, row), (col, row + 1))),
        ((row, col + 1), ((col + 1, row), (col + 1, row + 1))),
    )
