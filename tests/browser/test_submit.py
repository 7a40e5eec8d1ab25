"""Uploading records and looking at their replays, as a person does it."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.sync_api import Page, Route, expect

from simulator import load_suite, policies, run_episode
from tests.browser.conftest import Watch
from tests.browser.pages import fits
from tests.site_server import ROOT

RECORDS = [
    run_episode(scenario, policies.greedy).to_json()
    for scenario in load_suite(ROOT / "scenarios" / "public" / "v1").scenarios
]


def forged(number: int) -> str:
    """A record in which the loser of a conflict claims to have moved."""
    document = json.loads(RECORDS[number - 1])
    for step in document["steps"]:
        losers = [who for who, outcome in step["movements"].items() if outcome == "blocked_conflict"]
        if losers:
            step["movements"][losers[-1]] = "moved"
            return json.dumps(document)
    raise AssertionError("nobody lost a conflict")


@pytest.fixture
def mixed(tmp_path: Path) -> Path:
    """Ten records: the second forged, the seventh no JSON."""
    lines = [RECORDS[0], forged(2), *RECORDS[2:6], '{"header": oops', *RECORDS[7:]]
    path = tmp_path / "mixed.jsonl"
    path.write_text("\n".join(lines))
    return path


@pytest.fixture
def good(tmp_path: Path) -> Path:
    path = tmp_path / "good.jsonl"
    path.write_text("\n".join(RECORDS))
    return path


def agent_new(page: Page, name: str = "Uploader") -> None:
    page.get_by_label("Agent", exact=True).select_option("+")
    page.get_by_label("Name of the new agent").fill(name)


def test_every_row_gets_its_verdict_unaided(page: Page, sign_up: Callable[..., str], mixed: Path) -> None:
    sign_up(page)
    page.goto("/submit/")
    expect(page.get_by_text("16 MiB a file")).to_be_visible()
    agent_new(page)
    page.locator("#file").set_input_files(mixed)
    expect(page.get_by_text("10 of 10 checked")).to_be_visible()
    expect(page.locator(".recs li[data-letter=v]")).to_have_count(8)
    bad = page.locator("#line-2")
    expect(bad.get_by_text("replay_mismatch")).to_be_visible()
    expect(bad.get_by_text("The lowest ID keeps it")).to_be_visible()
    expect(bad.get_by_role("img")).to_be_visible()
    expect(page.locator("#line-7").get_by_text("record_format")).to_be_visible()


def test_several_files_and_a_wrong_one(
    page: Page, sign_up: Callable[..., str], good: Path, mixed: Path, tmp_path: Path, watch: Watch
) -> None:
    watch.expect("status of 422")
    sign_up(page)
    page.goto("/submit/")
    agent_new(page)
    picture = tmp_path / "picture.jsonl"
    picture.write_bytes(b"\x89PNG\r\n\x1a\n" + bytes(2000))
    page.locator("#file").set_input_files([mixed, good, picture])
    expect(page.get_by_text("10 of 10 checked")).to_have_count(2)
    expect(page.get_by_role("alert").get_by_text("this is a PNG image")).to_be_visible()


def test_files_go_to_the_agent_that_was_chosen_when_they_were_dropped(
    page: Page, sign_up: Callable[..., str], tmp_path: Path
) -> None:
    sign_up(page)
    page.goto("/submit/")
    files = [tmp_path / f"{number}.json" for number in range(3)]
    for path, record in zip(files, RECORDS, strict=False):
        path.write_text(record)
    held: list[Route] = []

    def hold_the_first(route: Route) -> None:
        if route.request.method == "POST" and not held:
            held.append(route)
        else:
            route.continue_()

    page.route("**/submit/", hold_the_first)
    agent_new(page, "Chosen at first")
    with page.expect_request(lambda request: request.method == "POST"):
        page.locator("#file").set_input_files(files[:2])
    page.get_by_label("Name of the new agent").fill("Chosen later")
    page.locator("#file").set_input_files(files[2])
    expect(page.get_by_text("Waiting to be sent")).to_have_count(3)
    held[0].continue_()
    expect(page.get_by_text("1 of 1 checked")).to_have_count(3)
    page.goto("/me/")
    for number, agent in enumerate(["Chosen at first", "Chosen at first", "Chosen later"]):
        row = page.get_by_role("row", name=re.compile(rf"^{number}\.json"))
        expect(row.get_by_role("cell", name=agent, exact=True)).to_be_visible()


def test_rows_go_on_after_the_connection_was_lost(
    page: Page, sign_up: Callable[..., str], good: Path, watch: Watch
) -> None:
    watch.expect("net::ERR_FAILED")
    sign_up(page)
    page.goto("/submit/")
    agent_new(page)
    page.route("**/submissions/*/status/**", lambda route: route.abort())
    page.locator("#file").set_input_files(good)
    expect(page.get_by_text("Still trying; nothing is lost")).to_be_visible()
    page.unroute("**/submissions/*/status/**")
    expect(page.locator(".recs li[data-letter=v]")).to_have_count(10)
    expect(page.get_by_text("Still trying; nothing is lost")).to_be_hidden()


def test_five_uploads_at_once_are_all_kept_fresh_over_a_loss_of_the_line(
    page: Page, sign_up: Callable[..., str], tmp_path: Path, watch: Watch
) -> None:
    """S08: not only the newest one."""
    watch.expect("net::ERR_FAILED")
    files = [tmp_path / f"{number}.jsonl" for number in range(5)]
    for number, path in enumerate(files):
        path.write_text("\n".join(RECORDS[2 * number : 2 * number + 2]))
    sign_up(page)
    page.goto("/submit/")
    agent_new(page)
    page.route("**/status/**", lambda route: route.abort())
    page.locator("#file").set_input_files(files)
    expect(page.get_by_text("Still trying; nothing is lost")).to_have_count(5)
    page.unroute("**/status/**")
    expect(page.get_by_text("2 of 2 checked")).to_have_count(5)
    expect(page.locator("[data-uploads] .recs li[data-letter=v]")).to_have_count(10)
    expect(page.locator("[data-trouble]:visible")).to_have_count(0)
    page.goto("/submissions/")
    expect(page.get_by_role("row", name=re.compile(r"^\d\.jsonl .*All verified"))).to_have_count(5)


def test_without_javascript_a_reload_shows_the_same(
    make_page: Callable[..., Page], page: Page, sign_up: Callable[..., str], good: Path
) -> None:
    sign_up(page)
    plain = make_page(javascript=False, storage_state=page.context.storage_state())
    plain.goto("/submit/")
    agent_new(plain, "Plain")
    plain.locator("#file").set_input_files(good)
    plain.get_by_role("button", name="Send the file").click()
    expect(plain.get_by_role("heading", name="good.jsonl")).to_be_visible()
    expect(reload_until_checked(plain).get_by_text("10 of 10 checked")).to_be_visible()


def reload_until_checked(page: Page) -> Page:
    """Reload until every verdict is in, as a person without JavaScript does."""
    for _ in range(240):
        if page.get_by_text("10 of 10 checked").count():
            break
        page.wait_for_timeout(250)
        page.reload()
    return page


def test_a_replay_plays_steps_and_keeps_its_place_in_the_address(page: Page) -> None:
    page.goto("/agents/greedy/")
    page.get_by_role("link", name="09").first.click()
    step = page.locator("[data-step]")
    expect(page.get_by_role("button", name="Play")).to_be_visible()
    page.keyboard.press("ArrowRight")
    page.keyboard.press("Shift+ArrowRight")
    expect(step).to_have_text("11")
    expect(page).to_have_url(re.compile(r"\?t=11$"))
    page.keyboard.press("End")
    expect(page.locator("[data-out]")).to_have_text("73")
    expect(page.locator("[data-lost]")).to_have_text("27")
    page.keyboard.press("Home")
    page.get_by_label("Speed").select_option("64")
    page.get_by_role("button", name="Play").click()
    expect(step).to_have_text("60")
    expect(page.get_by_role("button", name="Play")).to_be_visible()


@pytest.mark.parametrize(("asked", "shown"), [("999999", "60"), ("-5", "0"), ("abc", "0"), ("31", "31")])
def test_a_step_in_the_address_is_clamped_with_a_note(page: Page, asked: str, shown: str) -> None:
    page.goto("/agents/greedy/")
    address = page.get_by_role("link", name="09").first.get_attribute("href")
    page.goto(f"{address}?t={asked}")
    expect(page.locator("[data-step]")).to_have_text(shown)
    expect(page.locator("[data-note]")).to_be_visible(visible=asked != shown)


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_the_pages_fit_a_phone(
    make_page: Callable[..., Page], sign_up: Callable[..., str], mixed: Path, theme: str
) -> None:
    page = make_page(theme=theme, phone=True)
    sign_up(page)
    page.goto("/submit/")
    agent_new(page, "An agent with a rather long name for a small screen")
    page.locator("#file").set_input_files(mixed)
    expect(page.get_by_text("10 of 10 checked")).to_be_visible()
    fits(page)
    page.get_by_role("link", name="Run of line 2").click()
    expect(page.locator("#board")).to_be_visible()
    fits(page)
    for path in ("/me/", "/submissions/", "/agents/", "/agents/greedy/", "/agents/new/"):
        page.goto(path)
        fits(page)
