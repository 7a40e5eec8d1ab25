"""Frame and front page in a real browser: theme, phone width, keyboard, motion, no scripts."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from playwright.sync_api import Page, expect

from tests.browser.pages import at_once, fits

PAGES = ("/", "/suites/", "/play/", "/live/", "/boards/", "/submit/", "/docs/", "/docs/rules/", "/agents/")
BACKGROUND = "getComputedStyle(document.body).backgroundColor"
ALL_COUNTED = """
    (people) => ["evacuated", "active", "casualty"]
      .map((name) => Number(document.querySelector(`[data-count=${name}]`).textContent))
      .reduce((sum, count) => sum + count) === people
"""
REPAINTED = f"before => {BACKGROUND} !== before"


@pytest.mark.parametrize("address", PAGES)
def test_no_page_scrolls_sideways_on_a_phone(make_page: Callable[..., Page], address: str) -> None:
    page = make_page(phone=True, theme="dark")
    page.goto(address)
    fits(page)


def test_the_theme_follows_the_system_until_it_is_chosen_and_is_then_remembered(
    make_page: Callable[..., Page],
) -> None:
    page = make_page(theme="dark")
    page.goto("/docs/")
    dark = at_once(page, BACKGROUND)
    page.get_by_role("button", name="Switch between light and dark").click()
    page.wait_for_function(REPAINTED, arg=dark)
    light = at_once(page, BACKGROUND)
    page.goto("/suites/")
    expect(page.locator("body")).to_have_css("background-color", light)
    page.get_by_role("button", name="Switch between light and dark").click()
    expect(page.locator("body")).to_have_css("background-color", dark)


def test_the_theme_is_set_before_the_first_paint(make_page: Callable[..., Page]) -> None:
    page = make_page(theme="dark")
    page.goto("/docs/")
    page.evaluate("localStorage.setItem('ember-theme', 'light')")
    page.goto("/docs/", wait_until="commit")
    page.wait_for_selector("body", state="attached")
    assert at_once(page, "document.documentElement.dataset.theme") == "light"


def test_the_first_tab_stop_leads_to_the_content(page: Page) -> None:
    page.goto("/docs/")
    page.keyboard.press("Tab")
    expect(page.get_by_role("link", name="Skip to content")).to_be_focused()
    page.keyboard.press("Enter")
    expect(page.locator("main")).to_be_focused()


def test_the_phone_menu_opens_leads_on_and_closes_by_escape(make_page: Callable[..., Page]) -> None:
    page = make_page(phone=True)
    page.goto("/")
    menu = page.get_by_role("navigation", name="Main, small screens")
    page.get_by_text("Menu", exact=True).click()
    expect(menu).to_be_visible()
    page.keyboard.press("Escape")
    expect(menu).to_be_hidden()
    page.get_by_text("Menu", exact=True).click()
    menu.get_by_role("link", name="Boards").click()
    page.wait_for_url("**/boards/**")


def test_nothing_moves_on_the_front_page_before_play_where_motion_is_unwanted(page: Page) -> None:
    page.goto("/")
    step = page.locator("[data-count=step]")
    expect(page.get_by_role("button", name="Play")).to_be_visible()
    expect(step).to_have_text("0")
    page.get_by_role("button", name="Play").click()
    expect(step).not_to_have_text("0")
    page.get_by_role("button", name="Pause").click()
    expect(page.get_by_role("button", name="Play")).to_be_visible()


def test_the_rooms_play_by_themselves_and_say_their_state(page: Page) -> None:
    page.emulate_media(reduced_motion="no-preference")
    page.goto("/")
    step = page.locator("[data-count=step]")
    expect(page.locator(".room canvas")).to_have_count(10)
    expect(step).not_to_have_text("0")
    page.get_by_role("button", name="Pause").click()
    expect(page.get_by_role("button", name="Play")).to_be_visible()
    page.wait_for_function(ALL_COUNTED, arg=187)
    said = f"Plan of 09 Crowd 100 split flow. Step {step.inner_text()}:"
    expect(page.get_by_role("img", name=said)).to_be_visible()


def test_the_front_page_shows_plans_and_results_without_scripts(make_page: Callable[..., Page]) -> None:
    page = make_page(javascript=False)
    page.goto("/")
    expect(page.locator(".room svg.plan")).to_have_count(10)
    expect(page.get_by_text("73/100")).to_be_visible()
    expect(page.get_by_role("button", name="Switch between light and dark")).to_be_hidden()
    expect(page.locator("#clock")).to_be_hidden()
