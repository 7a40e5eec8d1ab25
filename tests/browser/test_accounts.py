"""Signing up and API tokens, as a new visitor does it."""

from collections.abc import Callable

import pytest
from playwright.sync_api import Page, expect

from tests.browser.conftest import PASSWORD, Watch


def no_sideways_scrolling(page: Page) -> bool:
    return page.evaluate("document.documentElement.scrollWidth <= document.documentElement.clientWidth")


def test_a_visitor_signs_up_out_and_in_again(page: Page, sign_up: Callable[..., str]) -> None:
    name = sign_up(page)
    page.goto("/accounts/logout/")
    page.get_by_role("main").get_by_role("button", name="Sign out").click()
    page.goto("/me/tokens/")
    page.get_by_label("Login").fill(name)
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
    key = page.locator("#token-key").inner_text()
    assert key.startswith("ember_")
    page.get_by_role("link", name="Done").click()
    expect(page.get_by_role("cell", name="Read, submit and play")).to_be_visible()
    assert key not in page.content()
    page.get_by_role("button", name="Revoke the token laptop").click()
    expect(page.get_by_text("The token is revoked")).to_be_visible()
    expect(page.get_by_text("No tokens yet")).to_be_visible()


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("path", ["/accounts/login/", "/accounts/signup/", "/accounts/password/reset/"])
def test_account_pages_fit_a_phone(make_page: Callable[..., Page], path: str, theme: str) -> None:
    page = make_page(theme=theme, phone=True)
    page.goto(path)
    expect(page.get_by_role("heading", level=1)).to_be_visible()
    assert no_sideways_scrolling(page)


def test_the_list_of_tokens_fits_a_phone(make_page: Callable[..., Page], sign_up: Callable[..., str]) -> None:
    page = make_page(phone=True)
    sign_up(page)
    page.goto("/me/tokens/")
    page.get_by_label("Name").fill("a machine with a long name in the cellar")
    page.get_by_role("button", name="Make the token").click()
    expect(page.get_by_role("heading", name="Your new token")).to_be_visible()
    assert no_sideways_scrolling(page)
    page.get_by_role("link", name="Done").click()
    expect(page.get_by_role("button", name="Revoke")).to_be_visible()
    assert no_sideways_scrolling(page)


def test_accounts_work_without_scripts(make_page: Callable[..., Page], sign_up: Callable[..., str]) -> None:
    page = make_page(javascript=False)
    sign_up(page)
    page.goto("/me/tokens/")
    expect(page.get_by_role("heading", name="API tokens")).to_be_visible()


def test_an_unknown_socket_path_closes_with_4404(page: Page, watch: Watch) -> None:
    watch.expect("WebSocket connection")
    page.goto("/")
    code = page.evaluate(
        """() => new Promise((resolve) => {
            const socket = new WebSocket(location.origin.replace("http", "ws") + "/ws/nothing/");
            socket.addEventListener("close", (event) => resolve(event.code));
        })"""
    )
    assert code == 4404
