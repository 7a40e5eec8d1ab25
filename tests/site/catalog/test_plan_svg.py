"""The drawn plan: right shapes, few elements, nothing that the content policy forbids."""

from __future__ import annotations

import re
from itertools import pairwise
from xml.etree import ElementTree

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ember_site.catalog.models import Suite
from ember_site.catalog.plan_outline import CELL, Cell, outline_path, segments_path, side_segments
from ember_site.catalog.plan_svg import PlanGround, plan_description, plan_draw, scenario_plan
from ember_site.catalog.scenario_cache import scenario_load

SVG = "{http://www.w3.org/2000/svg}"
cells = st.sets(st.tuples(st.integers(0, 7), st.integers(0, 7)), max_size=40)


def corners(loop: str) -> list[tuple[int, int]]:
    """The points of one closed subpath made of M, H and V."""
    points: list[tuple[int, int]] = []
    for letter, x, y in re.findall(r"([MHV])(-?\d+)(?: (-?\d+))?", loop):
        last = points[-1] if points else (0, 0)
        if letter == "M":
            points.append((int(x), int(y)))
        else:
            points.append((int(x), last[1]) if letter == "H" else (last[0], int(x)))
    return points


def inside(path: str, cell: Cell) -> bool:
    """Whether the middle of a cell is filled under the even-odd rule: crossings of a ray to the east."""
    row, col = cell
    y, x = row * CELL + CELL / 2, col * CELL + CELL / 2
    crossings = 0
    for loop in path.split("z"):
        points = corners(loop)
        for (x1, y1), (x2, y2) in pairwise([*points, *points[:1]]):
            crossings += x1 == x2 > x and min(y1, y2) < y < max(y1, y2)
    return crossings % 2 == 1


@given(cells)
def test_an_outline_fills_exactly_its_cells(drawn: set[Cell]) -> None:
    path = outline_path(drawn)
    for row in range(-1, 9):
        for col in range(-1, 9):
            assert inside(path, (row, col)) == ((row, col) in drawn)


@given(cells)
def test_an_outline_has_corners_only_where_it_turns(drawn: set[Cell]) -> None:
    for loop in outline_path(drawn).split("z"):
        points = corners(loop)
        for before, point, after in zip(points, points[1:], points[2:], strict=False):
            assert (before[0] == point[0]) != (point[0] == after[0])


@given(cells)
def test_merged_segments_cover_every_side_once(drawn: set[Cell]) -> None:
    sides = {segment for cell in drawn for _, segment in side_segments(cell)}
    covered: set[tuple[tuple[int, int], tuple[int, int]]] = set()
    for x, y, letter, end in re.findall(r"M(\d+) (\d+)([HV])(\d+)", segments_path(sides)):
        col, row, last = int(x) // CELL, int(y) // CELL, int(end) // CELL
        if letter == "H":
            runs = [((n, row), (n + 1, row)) for n in range(col, last)]
        else:
            runs = [((col, n), (col, n + 1)) for n in range(row, last)]
        assert not covered.intersection(runs)
        covered.update(runs)
    assert covered == sides


@pytest.mark.django_db
def test_every_plan_is_well_formed_and_carries_neither_style_nor_script(suite: Suite) -> None:
    for entry in suite.entries.all():
        scenario = scenario_load(entry.scenario_id)
        drawing = ElementTree.fromstring(scenario_plan(entry.scenario_id))
        assert drawing.attrib["viewBox"] == f"-1 -1 {scenario.width * 10 + 2} {scenario.height * 10 + 2}"
        for element in drawing.iter():
            assert not {name for name in element.attrib if name == "style" or name.startswith("on")}
            assert element.tag != f"{SVG}script"
        people = drawing.find(f"{SVG}path[@class='plan-person']")
        assert people is not None
        assert people.attrib["d"].count("M") == len(scenario.people)
        assert len(drawing.findall(f"{SVG}g[@class='plan-door']")) == len(scenario.exits)


@pytest.mark.django_db
def test_a_plan_says_in_words_what_it_shows(suite: Suite) -> None:
    content_hash = suite.entries.get(position=7).scenario_id
    drawing = ElementTree.fromstring(scenario_plan(content_hash))
    title, text = drawing.find(f"{SVG}title"), drawing.find(f"{SVG}desc")
    assert title is not None
    assert text is not None
    assert drawing.attrib["aria-labelledby"] == f"{title.attrib['id']} {text.attrib['id']}"
    assert text.text == plan_description(scenario_load(content_hash))
    assert text.text == (
        "19 by 11 cells. 9 people. Exits E1 in the west border, row 5 column 0, E2 in the east border, "
        "row 5 column 18. Burning at the start: row 2 column 3, row 2 column 15, row 5 column 9."
    )


@pytest.mark.django_db
def test_a_crowd_stays_a_small_drawing(suite: Suite) -> None:
    crowd = scenario_plan(suite.entries.get(position=9).scenario_id)
    assert len(crowd) < 5_000
    assert crowd.count("<") < 40


@pytest.mark.django_db
def test_two_drawings_of_one_scenario_have_their_own_ids(first_hash: str) -> None:
    one = ElementTree.fromstring(scenario_plan(first_hash))
    two = ElementTree.fromstring(scenario_plan(first_hash, "b"))
    ids = [
        element.attrib["id"] for drawing in (one, two) for element in drawing.iter() if "id" in element.attrib
    ]
    assert len(set(ids)) == len(ids) == 4


def ground(*rows: str) -> PlanGround:
    """A ground from a drawn map: # wall, E exit, . floor."""
    marks = [(sign, (row, col)) for row, line in enumerate(rows) for col, sign in enumerate(line)]
    return PlanGround(
        width=len(rows[0]),
        height=len(rows),
        walls=frozenset(cell for sign, cell in marks if sign == "#"),
        exits=tuple(("E", cell) for sign, cell in marks if sign == "E"),
    )


@pytest.mark.parametrize(
    ("rows", "side"),
    [
        (("###", "E.#", "###"), "west"),
        (("###", "#.E", "###"), "east"),
        (("#E#", "#.#", "###"), "north"),
        (("###", "#.#", "#E#"), "south"),
        (("E..", "...", "..."), "west"),  # a corner: both sides are border
        (("#####", "#.E##", "#####"), "east"),  # inside the mass: the wall behind it
        ((".....", "..E..", "....."), "west"),  # in the open
        (("###", "#E#", "###"), "west"),  # walled in
    ],
)
def test_a_door_opens_away_from_the_room(rows: tuple[str, ...], side: str) -> None:
    plan = ground(*rows)
    assert plan.exit_side(plan.exits[0][1]) == side


def test_a_burning_exit_is_crossed_out() -> None:
    plan = ground("###", "E.#", "###")
    drawing = plan_draw(plan, burning=[(1, 0)], people=[], title="T", description="D", uid="x")
    assert 'class="plan-door plan-door-lost"' in drawing
    assert 'class="plan-cross"' in drawing


def test_texts_are_escaped() -> None:
    drawing = plan_draw(
        ground("E."), burning=[], people=[], title="<b>&", description='"</desc><script>', uid='"><i>'
    )
    root = ElementTree.fromstring(drawing)
    assert [
        element.tag for element in root.iter() if element.tag in (f"{SVG}b", f"{SVG}i", f"{SVG}script")
    ] == []
    title = root.find(f"{SVG}title")
    assert title is not None
    assert title.text == "<b>&"


def test_an_empty_ground_without_walls_is_drawn_too() -> None:
    drawing = plan_draw(ground("E"), burning=[], people=[], title="T", description="D", uid="x")
    assert "plan-wall" not in drawing
    assert "plan-floor" in drawing
