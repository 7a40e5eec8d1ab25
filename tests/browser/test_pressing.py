"""Presses that last longer than what they are about: a step comes in between."""

from collections.abc import Callable

from playwright.sync_api import Page, expect

from tests.browser.test_play import open_game


def test_a_press_on_the_list_that_outlasts_a_step_is_a_click(
    page: Page, make_page: Callable[..., Page]
) -> None:
    open_game(page, "Central ignition")
    watcher = make_page()
    watcher.goto(page.url)
    expect(watcher.locator("#conn-word")).to_have_text("Live")
    page.bring_to_front()
    page.keyboard.press("Space")
    expect(watcher.locator("#n-step")).to_have_text("1")
    watcher.bring_to_front()
    first = watcher.locator("#attention button").first
    first.hover()
    watcher.mouse.down()
    page.keyboard.press("Space")
    expect(watcher.locator("#n-step")).to_have_text("2")
    watcher.mouse.up()
    expect(first).to_have_attribute("aria-pressed", "true")
