"""Every kind of page that the site has, and how a visitor, a member and an organiser come to it."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from playwright.sync_api import BrowserContext, Page, expect

from tests.browser.conftest import PASSWORD, Site
from tests.browser.test_play import open_game, step_to_end
from tests.browser.test_submit import RECORDS, agent_new, forged
from tests.site_server import ROOT

GUEST, MEMBER, ORGANISER = "guest", "member", "organiser"
SUITE = "/suites/emberbench-v1-public/1.0.1/"
PATIENCE_MS = 60_000


@dataclass(frozen=True)
class Stop:
    """One page: its name, who opens it, and its address or what leads to it."""

    name: str
    way: str | Callable[[Page], object]
    who: str = GUEST

    def open(self, page: Page) -> None:
        """Go there and wait until the page with its fonts stands."""
        if callable(self.way):
            self.way(page)
        else:
            page.goto(self.way)
        page.evaluate("document.fonts.ready")


def member_sign_up(context: BrowserContext, folder: Path) -> None:
    """Sign somebody up who has an agent, an upload with good and refused lines, and a token."""
    page = context.new_page()
    page.goto("/accounts/signup/")
    page.get_by_label("Username").fill("visits-every-page")
    page.get_by_label("Password", exact=True).fill(PASSWORD)
    page.get_by_label("Password (again)").fill(PASSWORD)
    page.get_by_role("button", name="Sign up").click()
    page.wait_for_url(lambda url: "/accounts/signup/" not in url)
    records = folder / "mixed.jsonl"
    records.write_text("\n".join([RECORDS[0], forged(2), *RECORDS[2:6], '{"header": oops', *RECORDS[7:]]))
    page.goto("/submit/")
    agent_new(page, "Planner of the north stairs")
    page.locator("#file").set_input_files(records)
    expect(page.get_by_text("10 of 10 checked")).to_be_visible(timeout=PATIENCE_MS)
    page.goto("/me/tokens/")
    page.get_by_label("Name").fill("laptop")
    page.get_by_role("button", name="Make the token").click()
    expect(page.locator("#token-key")).to_be_visible()
    page.close()


def organiser_sign_in(context: BrowserContext, site: Site) -> None:
    """Make an organiser as `serve` says how, and sign in."""
    name = "organiser-of-the-tour"
    environment = {
        key: value for key, value in os.environ.items() if not key.startswith(("EMBER_", "DJANGO_"))
    }
    subprocess.run(
        [sys.executable, "manage.py", "createsuperuser", "--noinput", "--username", name, "--email", ""],
        cwd=ROOT,
        env=environment | {"EMBER_DATA": str(site.data), "DJANGO_SUPERUSER_PASSWORD": PASSWORD},
        check=True,
        capture_output=True,
    )
    page = context.new_page()
    page.goto("/accounts/login/")
    page.get_by_label("Username or e-mail").fill(name)
    page.get_by_label("Password").fill(PASSWORD)
    page.get_by_role("main").get_by_role("button", name="Sign in").click()
    page.wait_for_url(lambda url: "/accounts/login/" not in url)
    page.close()


def home(page: Page) -> None:
    page.goto("/")
    expect(page.locator(".room canvas")).to_have_count(10)
    expect(page.get_by_role("button", name="Play")).to_be_visible()


def scenario(title: str) -> Callable[[Page], None]:
    def go(page: Page) -> None:
        page.goto(SUITE)
        page.get_by_role("heading", name=title).get_by_role("link", name=title).click()
        expect(page.locator("#board")).to_be_visible()

    return go


def before_a_game(page: Page) -> None:
    page.goto("/play/")
    page.get_by_role("heading", name="Crowd 100 split flow").get_by_role("link").click()
    expect(page.get_by_role("button", name="Start practice")).to_be_visible()


def game(page: Page) -> None:
    open_game(page, "Central ignition")
    page.keyboard.press("Control+a")
    page.keyboard.press("x")
    page.keyboard.press("Space")
    expect(page.locator("#n-step")).to_have_text("1")


def keys_of_the_game(page: Page) -> None:
    open_game(page, "Single exit sparse")
    page.keyboard.press("?")
    expect(page.get_by_role("dialog", name="Keys")).to_be_visible()


def end_of_a_game(page: Page) -> None:
    open_game(page, "Single exit sparse")
    page.keyboard.press("Control+a")
    page.keyboard.press("x")
    step_to_end(page)
    expect(page.locator("#end-text")).to_contain_text("Verified by replay", timeout=PATIENCE_MS)


def live_list(page: Page) -> None:
    open_game(page, "Unequal exits")
    page.goto("/live/")
    expect(page.get_by_role("heading", name="Unequal exits").first).to_be_visible()


def live_episode(page: Page) -> None:
    page.goto("/live/")
    page.get_by_role("button", name="Watch stay on Crowd 100").click()
    expect(page.locator("#conn-word")).to_have_text("Live")


def run_verified(page: Page) -> None:
    page.goto("/agents/greedy/")
    address = page.get_by_role("link", name="09").first.get_attribute("href")
    page.goto(f"{address}?t=31")
    expect(page.locator("[data-step]")).to_have_text("31")


def run_refused(page: Page) -> None:
    upload(page)
    page.locator("#line-2 a[href*='/runs/']").first.click()
    expect(page.locator("[data-parting] canvas")).to_have_count(2)


def upload(page: Page) -> None:
    page.goto("/submit/")
    page.get_by_role("link", name="mixed.jsonl").click()
    expect(page.get_by_text("10 of 10 checked")).to_be_visible()


def agent_edit(page: Page) -> None:
    page.goto("/agents/planner-of-the-north-stairs/edit/")
    expect(page.get_by_label("Name")).to_have_value("Planner of the north stairs")


def refused_form(page: Page) -> None:
    page.goto("/accounts/signup/")
    page.get_by_label("Username").fill("greedy")
    page.get_by_label("Password", exact=True).fill("short")
    page.get_by_label("Password (again)").fill("shorter")
    page.get_by_role("button", name="Sign up").click()
    expect(page.locator(".errors").first).to_be_visible()


def our_fault(page: Page) -> None:
    """The page of a failure has no view of its own: serve its file in the place of another."""
    body = re.sub(r"^{#.*?#}", "", (ROOT / "templates" / "500.html").read_text())
    page.route("**/status/", lambda route: route.fulfill(body=body, content_type="text/html"))
    page.goto("/status/")
    expect(page.get_by_role("heading", name=re.compile("^500"))).to_be_visible()


def api_reference(page: Page) -> None:
    page.goto("/api/v1/docs/")
    expect(page.get_by_text("/api/v1/agents/").first).to_be_visible()


DOCUMENTS = [path.stem for path in sorted((ROOT / "docs").glob("*.md")) if path.stem != "README"]


STOPS = [
    Stop("home", home),
    Stop("suites", "/suites/"),
    Stop("suite", SUITE),
    Stop("suite as a table", f"{SUITE}?view=table"),
    Stop("scenario with certain fire", scenario("Crowd 100 split flow")),
    Stop("scenario with random fire", scenario("Route invalidation")),
    Stop("games", "/play/"),
    Stop("before a game, guest", before_a_game),
    Stop("before a game, member", before_a_game, MEMBER),
    Stop("game", game),
    Stop("keys of the game", keys_of_the_game),
    Stop("end of a game, guest", end_of_a_game),
    Stop("end of a game, member", end_of_a_game, MEMBER),
    Stop("live list", live_list),
    Stop("live episode", live_episode),
    Stop("boards", "/boards/"),
    Stop("board", "/boards/public-dev/"),
    Stop("board without a row", "/boards/public-dev/?q=nobody-is-called-so"),
    Stop("agents", "/agents/"),
    Stop("agent", "/agents/greedy/"),
    Stop("agent of the member", "/agents/planner-of-the-north-stairs/", MEMBER),
    Stop("new agent", "/agents/new/", MEMBER),
    Stop("edit an agent", agent_edit, MEMBER),
    Stop("run, verified", run_verified),
    Stop("run, refused", run_refused, MEMBER),
    Stop("submit, signed out", "/submit/"),
    Stop("submit", "/submit/", MEMBER),
    Stop("upload", upload, MEMBER),
    Stop("uploads", "/submissions/", MEMBER),
    Stop("yours", "/me/", MEMBER),
    Stop("tokens", "/me/tokens/", MEMBER),
    Stop("notices", "/me/notices/", MEMBER),
    Stop("account", "/me/account/", MEMBER),
    Stop("delete the account", "/me/account/delete/", MEMBER),
    Stop("sign in", "/accounts/login/"),
    Stop("sign up", "/accounts/signup/"),
    Stop("sign up, refused", refused_form),
    Stop("sign out", "/accounts/logout/", MEMBER),
    Stop("reset the password", "/accounts/password/reset/"),
    Stop("reset the password, mail sent", "/accounts/password/reset/done/"),
    Stop("reset the password, worn link", "/accounts/password/reset/key/1-worn-out/"),
    Stop("change the password", "/accounts/password/change/", MEMBER),
    Stop("e-mail addresses", "/accounts/email/", MEMBER),
    Stop("status", "/status/"),
    Stop("log of decisions", "/audit/", ORGANISER),
    Stop("log of decisions, refused", "/audit/", MEMBER),
    Stop("nothing there", "/nothing-there/"),
    Stop("our fault", our_fault),
    Stop("documents", "/docs/"),
    *(Stop(f"document {slug}", f"/docs/{slug}/") for slug in DOCUMENTS),
    Stop("API reference", api_reference),
]
"""All kinds of pages. A new kind of page belongs into this list."""
