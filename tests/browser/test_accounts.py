"""Signing up and API tokens, as a new visitor does it."""

import re
from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from simulator import load_suite, policies, run_episode
from tests.browser.conftest import PASSWORD, Watch
from tests.browser.pages import at_once, fits
from tests.site_server import ROOT


def test_a_visitor_signs_up_out_and_in_again(page: Page, sign_up: Callable[..., str]) -> None:
    name = sign_up(page)
    page.goto("/accounts/logout/")
    page.get_by_role("main").get_by_role("button", name="Sign out").click()
    page.goto("/me/tokens/")
    page.get_by_label("Username or e-mail").fill(name)
    page.get_by_label("Password").fill(PASSWORD)
    page.get_by_role("main").get_by_role("button", name="Sign in").click()
    expect(page.get_by_role("heading", name="API tokens")).to_be_visible()


def test_a_token_is_made_shown_once_and_revoked(page: Page, sign_up: Callable[..., str]) -> None:
    sign_up(page)
    page.goto("/me/tokens/")
    expect(page.get_by_text("No tokens yet")).to_be_visible()
    page.get_by_label("Name").fill("laptop")
    page.get_by_label("May").select_option("play")
    page.get_by_role("button", name="Make the token").click()
    shown = page.locator("#token-key")
    expect(shown).to_have_text(re.compile("^ember_"))
    key = at_once(page, "document.querySelector('#token-key').textContent.trim()")
    page.get_by_role("link", name="Done").click()
    expect(page.get_by_role("cell", name="Read, submit and play")).to_be_visible()
    expect(page.locator("html")).not_to_contain_text(key)
    assert key not in at_once(page, "document.documentElement.outerHTML")
    page.get_by_role("button", name="Revoke the token laptop").click()
    expect(page.get_by_text("The token is revoked")).to_be_visible()
    expect(page.get_by_text("No tokens yet")).to_be_visible()


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("path", ["/accounts/login/", "/accounts/signup/", "/accounts/password/reset/"])
def test_account_pages_fit_a_phone(make_page: Callable[..., Page], path: str, theme: str) -> None:
    page = make_page(theme=theme, phone=True)
    page.goto(path)
    expect(page.get_by_role("heading", level=1)).to_be_visible()
    fits(page)


def test_the_list_of_tokens_fits_a_phone(make_page: Callable[..., Page], sign_up: Callable[..., str]) -> None:
    page = make_page(phone=True)
    sign_up(page)
    page.goto("/me/tokens/")
    page.get_by_label("Name").fill("a machine with a long name in the cellar")
    page.get_by_role("button", name="Make the token").click()
    expect(page.get_by_role("heading", name="Your new token")).to_be_visible()
    fits(page)
    page.get_by_role("link", name="Done").click()
    expect(page.get_by_role("button", name="Revoke")).to_be_visible()
    fits(page)


def test_pages_with_a_name_of_one_long_word_fit_a_phone(
    make_page: Callable[..., Page], sign_up: Callable[..., str]
) -> None:
    page = make_page(phone=True)
    sign_up(page)
    page.goto("/me/account/")
    page.get_by_label("Display name").fill("W" * 60)
    page.get_by_role("main").get_by_role("button", name="Save").click()
    for path, heading in (("/me/", "Yours"), ("/me/account/", "Account")):
        page.goto(path)
        expect(page.get_by_role("heading", level=1, name=heading)).to_be_visible()
        expect(page.locator("html")).to_contain_text("WWWWW")
        fits(page)


def test_accounts_work_without_scripts(make_page: Callable[..., Page], sign_up: Callable[..., str]) -> None:
    page = make_page(javascript=False)
    sign_up(page)
    page.goto("/me/tokens/")
    expect(page.get_by_role("heading", name="API tokens")).to_be_visible()


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("phone", [False, True])
def test_status_notices_and_account_fit_their_screen(
    make_page: Callable[..., Page], sign_up: Callable[..., str], phone: bool, theme: str
) -> None:
    page = make_page(theme=theme, phone=phone)
    sign_up(page)
    for path, heading in [
        ("/status/", "Status"),
        ("/me/notices/", "Notices"),
        ("/me/account/", "Account"),
        ("/me/account/delete/", "Delete the account"),
    ]:
        page.goto(path)
        expect(page.get_by_role("heading", level=1, name=heading)).to_be_visible()
        fits(page)


def test_the_status_page_sees_the_worker_and_renews_itself(page: Page) -> None:
    page.goto("/")
    page.get_by_role("contentinfo").get_by_role("link", name="Status").click()
    expect(page.get_by_role("heading", name="Status")).to_be_visible()
    expect(page.get_by_text("alive", exact=True).first).to_be_visible()
    with page.expect_response(lambda answer: answer.url.endswith("/status/")):
        pass
    expect(page.get_by_text("Everything works.")).to_be_visible()


def test_an_upload_is_told_of_in_the_frame_of_every_page(
    page: Page, sign_up: Callable[..., str], tmp_path: Path
) -> None:
    sign_up(page)
    page.goto("/agents/new/")
    page.get_by_label("Name").fill("Planner that waits to be told")
    page.get_by_role("button", name="Make the agent").click()
    scenario = load_suite(ROOT / "scenarios" / "public" / "v1").scenarios[0]
    record = tmp_path / "one.json"
    record.write_text(run_episode(scenario, policies.stay).to_json())
    page.goto("/submit/")
    page.locator("input[type=file]").set_input_files(record)
    expect(page.get_by_text("Verified").first).to_be_visible()
    page.goto("/docs/")
    page.locator("summary", has_text="Account of").click()
    page.get_by_role("link", name="Notices 1").click()
    page.get_by_role("link", name="1 of 1 record verified").click()
    expect(page).to_have_url(re.compile(r"/submissions/"))
    expect(page.locator(".unread")).to_have_count(0)


def test_a_person_takes_a_name_and_leaves_for_good(page: Page, sign_up: Callable[..., str]) -> None:
    name = sign_up(page)
    page.goto("/me/account/")
    page.get_by_label("Display name").fill("Ada of the Stairs")
    page.get_by_label("Notices by e-mail too").uncheck()
    page.get_by_role("button", name="Save").click()
    expect(page.get_by_text("Saved.")).to_be_visible()
    expect(page.locator(".who")).to_have_text("Ada of the Stairs")
    page.get_by_role("link", name="Delete the account").click()
    page.get_by_label("Password").fill(PASSWORD)
    page.get_by_role("button", name="Delete for good").click()
    expect(page.get_by_text("Your account is deleted")).to_be_visible()
    page.goto("/accounts/login/")
    page.get_by_label("Username or e-mail").fill(name)
    page.get_by_label("Password").fill(PASSWORD)
    page.get_by_role("main").get_by_role("button", name="Sign in").click()
    expect(page.get_by_text("not correct")).to_be_visible()


def test_an_unknown_socket_path_closes_with_4404(page: Page, watch: Watch) -> None:
    watch.expect("WebSocket connection")
    page.goto("/")
    code = at_once(
        page,
        """() => new Promise((resolve) => {
            const socket = new WebSocket(location.origin.replace("http", "ws") + "/ws/nothing/");
            socket.addEventListener("close", (event) => resolve(event.code));
        })""",
    )
    assert code == 4404
