"""Suites and scenarios, as a visitor looks through them."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest
from playwright.sync_api import Page, expect

from tests.browser.pages import at_once, come_to_rest, fits

SUITE = "/suites/emberbench-v1-public/1.0.1/"


DRAWN = """
    () => {
      const board = document.getElementById("board");
      const { width, height } = board;
      const blank = Object.assign(document.createElement("canvas"), { width, height });
      return width > 0 && height > 0 && board.toDataURL() !== blank.toDataURL();
    }
"""


def canvas_print(page: Page) -> str:
    """What the board shows, as an image, once it has been drawn and the fonts of its texts are there."""
    page.wait_for_function(DRAWN)
    come_to_rest(page)
    return page.evaluate("document.getElementById('board').toDataURL()")


def open_scenario(page: Page, name: str) -> None:
    page.goto(SUITE)
    page.get_by_role("heading", name=name).get_by_role("link", name=re.compile(name)).first.click()
    expect(page.get_by_role("heading", level=1)).to_contain_text(name)


def test_a_visitor_filters_the_suite_and_opens_a_scenario(page: Page) -> None:
    page.goto("/suites/")
    page.get_by_role("link", name="emberbench-v1-public").click()
    expect(page.get_by_role("article")).to_have_count(10)
    page.get_by_label("Family").select_option("crowd_100")
    page.get_by_role("button", name="Show").click()
    expect(page.get_by_role("article")).to_have_count(1)
    expect(page.get_by_text("1 of 10.")).to_be_visible()
    page.get_by_role("link", name="Crowd 100 split flow").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("09 Crowd 100 split flow")
    page.get_by_role("link", name="10", exact=True).click()
    expect(page.get_by_role("heading", level=1)).to_have_text("10 Route invalidation")


def test_the_fire_is_followed_ahead_of_time_with_the_keyboard(page: Page) -> None:
    open_scenario(page, "Multiple ignitions")
    board = page.locator("#board")
    expect(board).to_be_visible()
    expect(page.locator("[data-still]")).to_be_hidden()
    slider = page.get_by_role("slider", name="Fire after step")
    before = canvas_print(page)
    slider.focus()
    for _ in range(3):
        slider.press("ArrowRight")
    expect(page.locator("[data-step-out]")).to_have_text("3")
    expect(board).to_have_attribute("aria-label", re.compile(r"step 3: 15 cells burn$"))
    page.wait_for_function("before => document.getElementById('board').toDataURL() !== before", arg=before)
    slider.press("End")
    expect(page.locator("[data-step-out]")).to_have_text("27")


def test_shading_and_person_numbers_can_be_switched_off(page: Page) -> None:
    open_scenario(page, "Central ignition")
    for label in ("Fire arrival", "Person numbers"):
        before = canvas_print(page)
        page.get_by_label(label).uncheck()
        page.wait_for_function(
            "before => document.getElementById('board').toDataURL() !== before", arg=before
        )


def test_a_hash_is_copied_with_one_click(make_page: Callable[..., Page]) -> None:
    page = make_page(permissions=["clipboard-read", "clipboard-write"])
    open_scenario(page, "Single exit dense")
    button = page.locator("button.hash").first
    button.click()
    expect(button).to_have_attribute("data-copied", "")
    copied = at_once(page, "navigator.clipboard.readText()")
    assert re.fullmatch("[0-9a-f]{64}", copied)
    expect(button).to_have_attribute("data-copy", copied)


def test_a_baseline_is_watched_from_the_scenario_page(page: Page) -> None:
    open_scenario(page, "Single exit sparse")
    page.locator("summary", has_text="Watch a baseline").click()
    page.get_by_role("button", name="greedy").click()
    page.wait_for_url(re.compile(r"/live/[0-9a-f-]{36}/"))


def test_without_javascript_plans_fire_and_rules_are_there(make_page: Callable[..., Page]) -> None:
    page = make_page(javascript=False)
    open_scenario(page, "Threatened exit")
    expect(page.locator(".still svg.plan")).to_be_visible()
    expect(page.locator("#board")).to_be_hidden()
    expect(page.locator("#step")).to_be_hidden()
    expect(page.locator(".film svg.plan").first).to_be_visible()
    expect(page.get_by_role("row", name=re.compile("^R10 "))).to_be_visible()
    page.locator("summary", has_text="Watch a baseline").click()
    expect(page.get_by_role("button", name="stay")).to_be_visible()


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_catalogue_pages_fit_a_phone(make_page: Callable[..., Page], theme: str) -> None:
    page = make_page(theme=theme, phone=True)
    for path in ("/suites/", SUITE, f"{SUITE}?view=table"):
        page.goto(path)
        expect(page.get_by_role("heading", level=1)).to_be_visible()
        fits(page)
    for name in ("Crowd 100 split flow", "Route invalidation"):
        open_scenario(page, name)
        expect(page.locator("#board")).to_be_visible()
        fits(page)
