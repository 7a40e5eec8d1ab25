"""What pages show and do while line or server are gone: two browsers, real kills, a silent line."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from tests.browser.conftest import PASSWORD, Site, Watch
from tests.browser.pages import fits
from tests.browser.relay import Relay
from tests.browser.test_play import expect_to_play, open_game
from tests.site_server import SiteServer

OFF = re.compile(r"\boff\b")
WITNESS = """
    () => {
      const said = (id) => document.getElementById(id).textContent;
      window.seen = [];
      new MutationObserver(() => window.seen.push({
        word: said("conn-word"),
        more: said("conn-more"),
        off: document.getElementById("board-box").classList.contains("off"),
        inert: Boolean(document.getElementById("orders")?.inert),
      })).observe(document.body, { subtree: true, childList: true, characterData: true, attributes: true });
    }
"""
"""Lets a page keep every state that it showed: one that lasts for seconds only may be missed from here."""
NO_WORD = """
    (asked) => window.seen.some(({ word, more, off, inert }) =>
      word === "No word" && more.startsWith("for 10 s") && off && inert === asked)
"""


class Place:
    """The site of this module behind a relay; the server can be killed and started again."""

    def __init__(self, data: Path) -> None:
        self._data = data
        self.server = SiteServer(data, "--no-demo")
        self.relay = Relay(self.server.wait_ready())

    def kill(self) -> None:
        """End the web process at once."""
        self.server.kill()

    def start(self) -> None:
        """Serve again, from the same data, where the browsers look for it."""
        self.server = SiteServer(self._data, "--no-demo")
        self.relay.target = self.server.wait_ready()

    def stop(self) -> None:
        self.relay.close()
        self.server.stop()


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Place]:
    """Give a site that this module alone uses."""
    place = Place(tmp_path_factory.mktemp("lines"))
    yield place
    place.stop()


@pytest.fixture(scope="module")
def site(place: Place, tmp_path_factory: pytest.TempPathFactory) -> Site:
    """Have the pages of this module go through the relay."""
    return Site(url=place.relay.url, server=place.server, data=tmp_path_factory.getbasetemp())


@pytest.fixture(autouse=True)
def _losses(watch: Watch, place: Place) -> Iterator[None]:
    """Browsers write into their console that a line broke, which these tests want."""
    watch.expect(r"WebSocket|ERR_CONNECTION|ERR_EMPTY_RESPONSE|Failed to load resource")
    yield
    place.relay.speak()


def mark(*pages: Page) -> None:
    """Leave a mark that a reload would wipe out."""
    for page in pages:
        page.evaluate("() => { window.sameDocument = true; }")


def unreloaded(page: Page) -> bool:
    return bool(page.evaluate("() => window.sameDocument === true"))


def word(page: Page, text: str) -> None:
    expect(page.locator("#conn-word")).to_have_text(text)


def step(page: Page, number: int) -> None:
    expect(page.locator("#n-step")).to_have_text(str(number))


def test_two_browsers_come_back_by_themselves_when_the_server_was_killed(
    place: Place, page: Page, make_page: Callable[..., Page]
) -> None:
    open_game(page, "Unequal exits")
    watcher = make_page()
    watcher.goto(page.url)
    word(watcher, "Live")
    page.keyboard.press("Control+a")
    page.keyboard.press("x")
    page.keyboard.press("Space")
    step(page, 1)
    step(watcher, 1)
    mark(page, watcher)

    place.kill()
    for one in (page, watcher):
        word(one, "Reconnecting")
        expect(one.locator("#conn-more")).to_contain_text("step 1 saved")
        expect(one.locator("#board-box")).to_have_class(OFF)
    expect(page.locator("#notice")).to_contain_text("Step 1 is saved and your orders are kept")
    expect(page.locator("#orders")).to_have_attribute("inert", "")
    page.keyboard.press("Space")
    page.keyboard.press("h")
    expect(page.locator("#who-order")).to_have_text("nearest exit")

    place.start()
    word(page, "Connected")
    word(watcher, "Live")
    expect(page.locator("#board-box")).not_to_have_class(OFF)
    step(page, 1)
    page.keyboard.press("Space")
    step(page, 2)
    step(watcher, 2)
    expect(watcher.locator("#crowd")).to_have_text("1 person")
    assert unreloaded(page) and unreloaded(watcher)


def test_the_newest_of_two_browsers_plays_also_after_a_kill_and_the_older_can_take_over_again(
    place: Place, page: Page, make_page: Callable[..., Page], sign_up: Callable[..., str]
) -> None:
    name = sign_up(page)
    open_game(page, "Unequal exits")
    newer = make_page()
    newer.goto("/accounts/login/")
    newer.get_by_label("Username or e-mail").fill(name)
    newer.get_by_label("Password").fill(PASSWORD)
    newer.get_by_role("main").get_by_role("button", name="Sign in").click()
    newer.wait_for_url(lambda url: "/accounts/login/" not in url)
    newer.goto(page.url)
    expect_to_play(newer)
    word(page, "Stopped")
    expect(page.locator("#notice")).to_contain_text("You play this episode in another window now.")
    expect(page.locator("#board-box")).to_have_class(OFF)
    mark(page, newer)

    place.kill()
    word(newer, "Reconnecting")
    place.start()
    word(newer, "Connected")
    newer.keyboard.press("Space")
    step(newer, 1)
    word(page, "Stopped")
    step(page, 0)

    page.bring_to_front()
    page.get_by_role("button", name="Play here").click()
    word(page, "Connected")
    step(page, 1)
    word(newer, "Stopped")
    page.keyboard.press("Space")
    step(page, 2)
    newer.keyboard.press("Space")
    step(newer, 1)
    assert unreloaded(page) and unreloaded(newer)


def test_who_signed_out_elsewhere_is_told_and_can_give_no_orders(
    place: Place, page: Page, sign_up: Callable[..., str]
) -> None:
    sign_up(page)
    open_game(page, "Unequal exits")
    other = page.context.new_page()
    other.goto("/accounts/logout/")
    other.get_by_role("main").get_by_role("button", name="Sign out").click()
    other.wait_for_url(lambda url: "/accounts/logout/" not in url)
    page.bring_to_front()
    place.relay.cut()
    expect(page.locator("#notice")).to_contain_text("not signed in as the player")
    expect(page.locator("#board-box")).to_have_class(OFF)
    page.keyboard.press("Space")
    page.get_by_role("button", name="Reload").click()
    expect(page).to_have_url(re.compile(r"/live/"))
    step(page, 0)


def test_a_board_without_word_for_long_is_dimmed_and_takes_no_orders(
    place: Place, page: Page, make_page: Callable[..., Page]
) -> None:
    open_game(page, "Unequal exits")
    watcher = make_page()
    watcher.goto(page.url)
    word(watcher, "Live")
    page.bring_to_front()

    for one in (page, watcher):
        one.evaluate(WITNESS)
    place.relay.fall_silent()
    page.wait_for_function(NO_WORD, arg=True)
    page.keyboard.press("Space")
    watcher.wait_for_function(NO_WORD, arg=False)  # a watcher has no orders that could be shut off

    place.relay.speak()
    word(page, "Connected")
    word(watcher, "Live")
    expect(page.locator("#board-box")).not_to_have_class(OFF)
    step(page, 0)
    page.keyboard.press("Space")
    step(page, 1)
    step(watcher, 1)


def test_a_watcher_looks_back_while_the_episode_goes_on_and_goes_live_again(
    page: Page, make_page: Callable[..., Page]
) -> None:
    open_game(page, "Unequal exits")
    watcher = make_page(phone=True)
    watcher.goto(page.url)
    word(watcher, "Live")
    for number in range(1, 5):
        page.keyboard.press("Space")
        step(page, number)
    step(watcher, 4)
    watcher.keyboard.press("ArrowLeft")
    watcher.keyboard.press("ArrowLeft")
    step(watcher, 2)
    expect(watcher.locator("#deck-behind")).to_have_text("2 behind live")
    page.keyboard.press("Space")
    step(page, 5)
    expect(watcher.locator("#deck-behind")).to_have_text("3 behind live")
    step(watcher, 2)
    watcher.keyboard.press("Home")
    step(watcher, 0)
    watcher.get_by_label("Steps that this page has seen").fill("3")
    step(watcher, 3)
    fits(watcher)
    watcher.get_by_role("button", name="Go live").tap()
    step(watcher, 5)
    expect(watcher.get_by_role("button", name="Go live")).to_be_disabled()
    page.keyboard.press("Space")
    step(watcher, 6)


def test_the_front_page_follows_a_baseline_whose_speed_is_changed_and_leads_to_its_run(
    page: Page, make_page: Callable[..., Page]
) -> None:
    page.goto("/live/")
    page.get_by_label("Speed").select_option("0.5")  # two minutes, in which all must have come
    page.get_by_role("button", name="Watch greedy on Crowd 100").click()
    expect(page.locator("#n-step")).to_have_text(re.compile(r"^[1-9]\d*$"))
    stranger = make_page()
    stranger.goto(page.url)
    expect(stranger.locator("#speed-now")).to_have_text("0.5")
    expect(stranger.locator("#speed")).to_have_count(0)
    home = make_page()
    home.goto("/")
    expect(home.get_by_role("heading", name="Live now")).to_be_visible()
    expect(home.locator("#live-line")).to_have_text("3 people watch")
    page.get_by_label("Steps a second").select_option("20")
    expect(stranger.locator("#speed-now")).to_have_text("20")
    for one in (page, stranger):
        expect(one.locator("#end-out")).to_have_text("73")
    expect(home.locator("#live-line")).to_have_text("Over: 73 of 100 out")
    home.get_by_role("link", name="See the run").click()
    expect(home).to_have_url(re.compile(r"/runs/"))
