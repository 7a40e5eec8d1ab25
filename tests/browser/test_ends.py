"""How a game ends on the page: with a result that stays within reach, or stopped for good."""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Callable
from contextlib import closing

import pytest
from playwright.sync_api import Page, expect

from tests.browser.conftest import Site
from tests.browser.test_play import open_game, step_to_end

EPISODE = re.compile(r"episode=([0-9a-f-]{36})")


def test_the_result_comes_up_once_and_stays_within_reach(page: Page) -> None:
    open_game(page, "Single exit sparse")
    page.keyboard.press("Control+a")
    page.keyboard.press("x")
    step_to_end(page)
    expect(page.locator("#end-run")).to_be_focused()
    expect(page.locator("#n-fire")).to_have_text("–")
    page.keyboard.press("Escape")
    expect(page.locator("#end")).to_be_hidden()
    expect(page.locator("#notice-text")).to_have_text("The episode is over.")
    expect(page.locator(".legend")).to_be_in_viewport(ratio=0.9)  # the board gave way to the notice
    page.get_by_role("button", name="Result").click()
    expect(page.locator("#end")).to_be_visible()
    page.get_by_role("button", name="Look at the board").click()
    expect(page.locator("#end")).to_be_hidden()


def test_who_comes_after_the_end_sees_it_and_is_not_told_that_it_ended_just_now(
    page: Page, make_page: Callable[..., Page]
) -> None:
    open_game(page, "Single exit sparse")
    page.keyboard.press("Control+a")
    page.keyboard.press("x")
    step_to_end(page)
    late = make_page(phone=True)
    late.goto(f"/live/{episode_of(page)}/")
    expect(late.locator("#end-out")).to_have_text("4")
    expect(late.locator("#notice-text")).to_contain_text("the board shows its end")
    expect(late.locator("#conn-word")).to_have_text("Over")
    expect(late.get_by_role("link", name="See the run")).to_be_visible()


@pytest.mark.parametrize(("state", "why"), [("abandoned", "given up"), ("frozen", "fault on our side")])
def test_an_episode_that_takes_no_more_steps_says_so_to_player_and_watcher_also_after_a_reload(
    page: Page, make_page: Callable[..., Page], site: Site, state: str, why: str
) -> None:
    open_game(page, "Unequal exits")
    watcher = make_page()
    watcher.goto(f"/live/{episode_of(page)}/")
    expect(watcher.locator("#conn-word")).to_have_text("Live")
    set_state(site, episode_of(page), state)
    expect_stopped(page, why)
    expect_stopped(watcher, why)
    page.reload()
    expect_stopped(page, why)


def expect_stopped(page: Page, why: str) -> None:
    """Wait until the page says why, offers nothing that cannot help, and takes no orders."""
    expect(page.locator("#conn-word")).to_have_text("Stopped")
    expect(page.locator("#notice-text")).to_contain_text(why)
    expect(page.locator("#notice-button")).to_be_hidden()
    expect(page.locator("#board-box")).to_have_class(re.compile(r"\boff\b"))


def episode_of(page: Page) -> str:
    """The ID of the episode that is played."""
    found = EPISODE.search(page.url)
    assert found is not None
    return found[1]


def set_state(site: Site, episode_id: str, state: str) -> None:
    """What a sweep of the server does in its time, at once."""
    with closing(sqlite3.connect(site.data / "ember.sqlite3", timeout=60)) as database, database:
        change = "UPDATE episodes_episode SET state = ? WHERE id = ?"
        assert database.execute(change, [state, episode_id.replace("-", "")]).rowcount == 1
