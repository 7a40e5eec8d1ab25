"""Playing and watching in a real browser, with keys, pointer and touch."""

import re
from collections.abc import Callable

import pytest
from playwright.sync_api import Page, expect

from tests.browser.pages import fits, place

PLAYED = re.compile(r"/play/[0-9a-f]{64}/\?episode=")
STEP = "#n-step"
NUMBER = re.compile(r"^\d+$")
NOBODY_HOLDS = "() => { const now = performance.now(); performance.now = () => now; }"
"""A busy machine may let a finger that taps rest on a button for so long that it would count as held down."""


def open_game(page: Page, title: str, *, ranked: bool = False) -> None:
    """Go from the index to the board of a new game."""
    page.goto("/play/")
    page.get_by_role("heading", name=title).get_by_role("link").click()
    page.get_by_role("button", name="Start ranked" if ranked else "Start practice").click()
    page.wait_for_url(PLAYED)
    expect_to_play(page)


def expect_to_play(page: Page) -> None:
    """Wait until the page takes orders: the line stands and the first observation is there."""
    expect(page.locator("#conn-word")).to_have_text("Connected")
    expect(page.locator("#n-inside")).to_have_text(NUMBER)


def step_to_end(page: Page, most: int = 80) -> None:
    """Press Space until the end screen comes, which it does a moment after the last step."""
    for _ in range(most):
        before = page.locator(STEP).inner_text()
        page.keyboard.press("Space")
        page.wait_for_function(
            """before => document.querySelector("#end[open]")
                || document.querySelector("#n-step").textContent !== before""",
            arg=before,
        )
        if page.locator("#end[open]").count():
            return
    expect(page.locator("#end")).to_be_visible()


def cell_point(page: Page, row: int, col: int) -> tuple[float, float]:
    """The middle of a cell of scenario 01 (14 columns) on the page, from what the plan looks like."""
    box = place(page.locator("#board"))
    # The plan is as high as the canvas less the same margin above and below; the exit's label is beside it.
    cell = box["height"] / 9
    return box["x"] + (col + 0.5) * cell, box["y"] + (row + 0.5) * cell


def test_a_guest_wins_with_the_keyboard_alone_and_the_run_is_verified(page: Page) -> None:
    open_game(page, "Single exit sparse")
    for _ in range(4):
        page.keyboard.press("Tab")
        page.keyboard.press("x")
    expect(page.locator("#assist")).to_have_text("assist 2")
    step_to_end(page)
    expect(page.locator("#end-out")).to_have_text("4")
    expect(page.locator("#end-text")).to_contain_text("Verified by replay")
    expect(page.locator("#end-seed")).to_have_text(NUMBER)
    with page.expect_download() as download:
        page.get_by_role("link", name="Download the record").click()
    assert download.value.suggested_filename.endswith(".json")
    page.get_by_role("link", name="See the run").click()
    expect(page).to_have_url(re.compile(r"/runs/"))
    expect(page.get_by_role("main")).to_contain_text("Verified")


def test_ranked_play_is_on_the_board_afterwards(page: Page, sign_up: Callable[..., str]) -> None:
    name = sign_up(page)
    button = page.locator(".menu-account summary")
    as_elsewhere = place(button)
    open_game(page, "Single exit sparse", ranked=True)
    in_game = place(button)
    assert in_game["height"] == as_elsewhere["height"], "the styles of the game stay out of the masthead"
    page.keyboard.press("Control+a")
    page.keyboard.press("x")
    step_to_end(page)
    expect(page.locator("#end-text")).to_contain_text("it counts on the board")
    page.goto("/boards/public-dev/")
    expect(page.get_by_role("main")).to_contain_text(name)


def test_a_person_is_selected_by_click_and_sent_by_a_click_on_a_cell(page: Page) -> None:
    open_game(page, "Single exit sparse")
    page.mouse.click(*cell_point(page, 2, 3))
    expect(page.locator("#who")).to_have_text(re.compile(r"^P\d{3}$"))
    page.mouse.click(*cell_point(page, 2, 6))
    expect(page.locator("#who-order")).to_have_text("go to 2, 6")
    expect(page.locator("#who-arrive")).to_have_text("step 3 at best")
    page.mouse.click(*cell_point(page, 4, 13))
    expect(page.locator("#who-order")).to_have_text("go to exit E1")


def test_a_box_selects_everyone_in_it_and_escape_nobody(page: Page) -> None:
    open_game(page, "Single exit sparse")
    page.mouse.move(*cell_point(page, 1, 1))
    page.mouse.down()
    page.mouse.move(*cell_point(page, 7, 12), steps=6)
    page.mouse.up()
    expect(page.locator("#who")).to_have_text("4 people")
    page.keyboard.press("Escape")
    expect(page.locator("#who")).to_have_text("Nobody")


def test_a_nudge_counts_for_one_step_and_is_no_help(page: Page) -> None:
    open_game(page, "Single exit sparse")
    page.keyboard.press("Tab")
    page.keyboard.press("ArrowUp")
    expect(page.locator("#who-order")).to_have_text("north, this step")
    expect(page.locator("#who-next")).to_have_text("moves")
    page.keyboard.press("Enter")
    expect(page.locator(STEP)).to_have_text("1")
    expect(page.locator("#who-order")).to_have_text("none, stays")
    expect(page.locator("#assist")).to_have_text("assist 0")


def test_space_held_down_runs(page: Page) -> None:
    open_game(page, "Single exit sparse")
    page.keyboard.press("Control+a")
    page.keyboard.press("x")
    for _ in range(10_000):  # what a held key sends; how many it takes depends on the machine
        page.keyboard.down("Space")
        if page.locator("#end[open]").count():
            break
    page.keyboard.up("Space")
    expect(page.locator("#end-out")).to_have_text("4")


def test_a_reload_goes_on_with_the_same_game(page: Page) -> None:
    open_game(page, "Central ignition")
    page.keyboard.press("Space")
    expect(page.locator(STEP)).to_have_text("1")
    page.reload()
    expect_to_play(page)
    expect(page.locator(STEP)).to_have_text("1")
    page.keyboard.press("Space")
    expect(page.locator(STEP)).to_have_text("2")
    page.goto("/play/")
    expect(page.get_by_role("region", name="Unfinished")).to_contain_text("Central ignition")


def test_a_second_window_takes_over_and_the_first_can_take_back(page: Page) -> None:
    open_game(page, "Unequal exits")
    second = page.context.new_page()
    second.goto(page.url)
    expect_to_play(second)
    expect(page.locator("#conn-word")).to_have_text("Stopped")
    second.keyboard.press("Space")
    expect(second.locator(STEP)).to_have_text("1")
    page.bring_to_front()
    page.get_by_role("button", name="Play here").click()
    expect(page.locator("#conn-word")).to_have_text("Connected")
    expect(page.locator(STEP)).to_have_text("1")
    expect(second.locator("#conn-word")).to_have_text("Stopped")


def test_the_help_lists_the_keys_and_closes_with_escape(page: Page) -> None:
    open_game(page, "Single exit sparse")
    page.keyboard.press("?")
    dialog = page.get_by_role("dialog", name="Keys")
    expect(dialog).to_contain_text("go to the nearest exit")
    page.keyboard.press("Escape")
    expect(dialog).to_be_hidden()
    page.keyboard.press("Tab")
    expect(page.locator("#who")).to_have_text("P001")


def test_escape_twice_leaves_the_board_so_that_tab_moves_on(page: Page) -> None:
    open_game(page, "Single exit sparse")
    page.keyboard.press("Tab")
    page.keyboard.press("Escape")
    page.keyboard.press("Escape")
    expect(page.get_by_role("button", name="All", exact=True)).to_be_focused()
    page.keyboard.press("Tab")
    expect(page.get_by_role("button", name="Nudge west")).to_be_focused()


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_a_phone_plays_by_touch_without_scrolling_sideways(
    make_page: Callable[..., Page], theme: str
) -> None:
    page = make_page(phone=True, theme=theme)
    page.goto("/play/")
    page.get_by_role("heading", name="Single exit sparse").get_by_role("link").tap()
    page.get_by_role("button", name="Start practice").tap()
    expect_to_play(page)
    page.get_by_role("button", name="All", exact=True).tap()
    page.get_by_role("button", name="Nearest exit").tap()
    page.evaluate(NOBODY_HOLDS)
    for step in range(1, 13):
        page.get_by_role("button", name="Step", exact=True).tap()
        expect(page.locator(STEP)).to_have_text(str(step))
    expect(page.locator("#end-out")).to_have_text("4")
    fits(page)


def test_a_hundred_people_are_possible(page: Page) -> None:
    open_game(page, "Crowd 100 split flow")
    page.keyboard.press("Control+a")
    page.keyboard.press("x")
    expect(page.locator("#who")).to_have_text("100 people")
    for step in range(1, 6):
        page.keyboard.press("Space")
        expect(page.locator(STEP)).to_have_text(str(step))
    expect(page.locator("#attention li").first).to_contain_text("too late at E2")


def test_a_baseline_is_started_watched_and_seen_as_a_run(page: Page) -> None:
    page.goto("/live/")
    page.get_by_label("Speed").select_option("20")
    page.get_by_role("button", name="Watch greedy on Central ignition").click()
    expect(page).to_have_url(re.compile(r"/live/[0-9a-f-]{36}/"))
    expect(page.locator("#end")).to_be_visible()
    expect(page.locator("#end-out")).to_have_text("6")
    page.get_by_role("link", name="See the run").click()
    expect(page).to_have_url(re.compile(r"/runs/"))


def test_a_stranger_watches_a_game_while_it_is_played(page: Page, make_page: Callable[..., Page]) -> None:
    open_game(page, "Unequal exits")
    stranger = make_page()
    stranger.goto(page.url)
    expect(stranger).to_have_url(re.compile(r"/live/"))
    expect(stranger.locator("#conn-word")).to_have_text("Live")
    expect(stranger.locator("#crowd")).to_have_text("1 person")
    page.bring_to_front()
    page.keyboard.press("Space")
    expect(stranger.locator(STEP)).to_have_text("1")
    expect(stranger.locator("#orders, #step")).to_have_count(0)  # where a player has the orders and commits
    expect(stranger.get_by_role("button", name=re.compile("^(Step|Hold H|Nearest exit)"))).to_have_count(0)


def test_without_javascript_the_game_says_what_it_needs(make_page: Callable[..., Page]) -> None:
    page = make_page(javascript=False)
    page.goto("/play/")
    page.get_by_role("heading", name="Single exit sparse").get_by_role("link").click()
    page.get_by_role("button", name="Start practice").click()
    expect(page.get_by_text("The game needs JavaScript")).to_be_visible()
