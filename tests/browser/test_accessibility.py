"""
Every kind of page against WCAG 2.2 AA, as far as a machine can judge, and against other hosts.

The rules are those of axe-core (MPL-2.0), a development dependency that is never served. It comes with
`npm ci`; where it is absent these tests are skipped, but never in CI.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from itertools import pairwise
from typing import Any

import pytest
from playwright.sync_api import Browser, BrowserContext, Page, TimeoutError

from tests.browser.conftest import DESK, PHONE, Site, Watch
from tests.browser.test_play import open_game
from tests.browser.tour import (
    GUEST,
    MEMBER,
    ORGANISER,
    STOPS,
    Stop,
    member_sign_up,
    organiser_sign_in,
    scenario,
)
from tests.site_server import ROOT

AXE = ROOT / "node_modules" / "axe-core" / "axe.min.js"
LEVELS = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa"]
OF_COLOUR = ["color-contrast", "link-in-text-block"]
"""All that another theme can change: it has the same elements in the same places."""

RUN_AXE = """
    async (runOnly) => {
      const found = await axe.run(document, { runOnly, resultTypes: ["violations"] });
      return found.violations.map(({ id, impact, help, nodes }) => ({
        rule: `${id} (${impact}): ${help}`,
        places: nodes.map(({ target, any, all, none }) =>
          `${target.join(" ")}: ${[...any, ...all, ...none].map(({ message }) => message).join("; ")}`),
      }));
    }
"""
OUTLINE = """
    () => ({
      title: document.title,
      mains: document.querySelectorAll("main:not(main main)").length,
      levels: [...document.querySelectorAll("h1, h2, h3, h4, h5, h6")]
        .filter((heading) => heading.checkVisibility()).map((heading) => Number(heading.tagName[1])),
    })
"""
MANY_COLOURS = """
    () => {
      const board = document.getElementById("board");
      const { data } = board.getContext("2d").getImageData(0, 0, board.width, board.height);
      return new Set(new Uint32Array(data.buffer)).size > 20;
    }
"""
BOARD_ABOVE_ORDERS = """
    () => {
      const place = (id) => document.getElementById(id).getBoundingClientRect();
      const [board, orders] = [place("board"), place("orders")];
      return board.height > 200 && board.bottom <= orders.top && orders.bottom <= innerHeight;
    }
"""
PAGES = pytest.mark.parametrize("stop", STOPS, ids=lambda stop: stop.name.replace(" ", "-"))


@pytest.fixture(scope="module")
def axe() -> str:
    """Give the source of axe-core."""
    if AXE.is_file():
        return AXE.read_text(encoding="utf-8")
    if os.environ.get("CI"):
        pytest.fail("CI needs axe-core to judge the pages: `npm ci` brings it")
    pytest.skip("axe-core is not installed: `npm ci` brings it (Node.js 20 or newer)")


@pytest.fixture(scope="module")
def visitors(
    browser: Browser, site: Site, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[dict[str, BrowserContext]]:
    """Give the browsers of a guest, of a member with agent and runs, and of an organiser."""
    contexts = {
        who: browser.new_context(base_url=site.url, reduced_motion="reduce")
        for who in (GUEST, MEMBER, ORGANISER)
    }
    for context in contexts.values():
        context.set_default_timeout(30_000)
    member_sign_up(contexts[MEMBER], tmp_path_factory.mktemp("tour"))
    organiser_sign_in(contexts[ORGANISER], site)
    yield contexts
    for context in contexts.values():
        context.close()


@pytest.fixture
def page(stop: Stop, visitors: dict[str, BrowserContext], watch: Watch) -> Iterator[Page]:
    """Give the page of the stop, watched: a request to another host fails the test."""
    page = visitors[stop.who].new_page()
    watch.expect(r"status of 40[34]")
    watch.attach(page)
    page.set_viewport_size(DESK)  # type: ignore[arg-type]
    page.emulate_media(color_scheme="light")
    stop.open(page)
    yield page
    page.close()


@PAGES
def test_the_page_keeps_to_wcag_in_both_themes_on_desk_and_phone(page: Page, stop: Stop, axe: str) -> None:
    page.wait_for_function("() => !window.axe")  # it is never served
    page.evaluate(axe)
    found = [
        *violations(page, f"{stop.name}, light, desk", {"type": "tag", "values": LEVELS}),
        *repainted(page, f"{stop.name}, dark, desk", "dark"),
    ]
    page.set_viewport_size(PHONE)  # type: ignore[arg-type]
    found += sideways(page, f"{stop.name}, phone")
    page.evaluate("scrollTo(0, document.documentElement.scrollHeight)")  # what is sticky stands in its place
    found += violations(page, f"{stop.name}, dark, phone", {"type": "tag", "values": LEVELS})
    found += repainted(page, f"{stop.name}, light, phone", "light")
    found += outline_faults(page, stop.name)
    assert not found, "\n\n".join(found)


def test_a_board_keeps_its_colours_where_the_system_forces_its_own(make_page: Callable[..., Page]) -> None:
    page = make_page(forced_colors="active", theme="dark")
    scenario("Crowd 100 split flow")(page)
    page.wait_for_function(MANY_COLOURS)


def test_the_board_of_a_game_is_whole_in_a_low_window_and_with_large_letters(
    make_page: Callable[..., Page],
) -> None:
    page = make_page(viewport={"width": 1280, "height": 600})
    open_game(page, "Crowd 100 split flow")
    page.wait_for_function(BOARD_ABOVE_ORDERS)
    page.set_viewport_size({"width": 720, "height": 450})  # a desk of 1440 by 900 at 200 %
    page.wait_for_function(
        "() => (scrollTo(0, innerHeight), scrollY > 0 && document.documentElement.scrollWidth <= innerWidth)"
    )


def violations(page: Page, where: str, rules: dict[str, Any]) -> list[str]:
    """Give what axe finds, each rule with its places."""
    return [
        "\n    ".join(
            [f"{where}: {broken['rule']}", f"in {len(broken['places'])} places:", *broken["places"][:5]]
        )
        for broken in page.evaluate(RUN_AXE, rules)
    ]


def repainted(page: Page, where: str, theme: str) -> list[str]:
    """Change the theme and give what axe finds in the new colours."""
    page.emulate_media(color_scheme=theme)  # type: ignore[arg-type]
    return violations(page, where, {"type": "rule", "values": OF_COLOUR})


def sideways(page: Page, where: str) -> list[str]:
    """Wait until boards and charts have taken the width of the screen; say so if something never does."""
    try:
        page.wait_for_function("() => document.documentElement.scrollWidth <= innerWidth", timeout=20_000)
    except TimeoutError:
        return [f"{where}: the page scrolls sideways"]
    return []


def outline_faults(page: Page, where: str) -> list[str]:
    """Give what a person who goes by title, landmarks and headings would stumble over."""
    outline = page.evaluate(OUTLINE)
    levels = outline["levels"]
    faults = []
    if not outline["title"].endswith("EMBERBench") or outline["title"].startswith("EMBERBench"):
        faults.append(f"{where}: the title {outline['title']!r} does not name the page and then the site")
    if outline["mains"] != 1:
        faults.append(f"{where}: {outline['mains']} main landmarks instead of one")
    skips = any(after > before + 1 for before, after in pairwise(levels))
    if levels.count(1) != 1 or skips:
        faults.append(f"{where}: headings out of order: {levels}")
    return faults
