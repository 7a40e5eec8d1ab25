"""What a watcher can do besides looking back: find somebody who is in danger."""

from collections.abc import Callable

from playwright.sync_api import Page, expect

from tests.browser.test_play import open_game


def test_a_watcher_finds_a_person_of_the_list_on_the_board(
    page: Page, make_page: Callable[..., Page]
) -> None:
    open_game(page, "Central ignition")
    watcher = make_page()
    watcher.goto(page.url)
    expect(watcher.locator("#conn-word")).to_have_text("Live")
    page.bring_to_front()
    page.keyboard.press("Space")  # now the fire is near enough to two people
    expect(watcher.locator("#n-step")).to_have_text("1")
    watcher.bring_to_front()
    first = watcher.locator("#attention button").first
    expect(first).to_have_attribute("aria-pressed", "false")
    first.focus()
    watcher.keyboard.press("Enter")
    expect(first).to_have_attribute("aria-pressed", "true")
    expect(first).to_be_focused()
    watcher.keyboard.press("Enter")
    expect(first).to_have_attribute("aria-pressed", "false")
    expect(watcher.locator("#n-step")).to_have_text("1")
