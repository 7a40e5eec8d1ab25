"""
Browser tests: the real site (`manage.py serve`, a file database, a real worker) and real Chromium.

Run them in a pytest of their own: `make test-browser` or `pytest tests/browser`. Every page that a
test opens is watched: an error in its console, an uncaught exception, a violation of the content
security policy or a request to another host fails the test.
"""

import re
import subprocess
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import (
    Browser,
    BrowserContext,
    ConsoleMessage,
    Page,
    Request,
    expect,
    sync_playwright,
)

from tests.conftest import PASSWORD
from tests.site_server import ROOT, SiteServer

RESULTS = ROOT / "test-results"
DESK = {"width": 1440, "height": 900}
PHONE = {"width": 360, "height": 740}
CHROMIUM_OPTIONS = [
    "--no-sandbox",  # CI runs as root
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]

PATIENCE_MS = 60_000
"""How long a page may take to show what it should, with whatever else the machine does.

Scripts, server and worker change a page after it has loaded. So tests ask by `expect` or `wait_for_function`,
which wait, and never by an `assert` on what a locator shows just now.
"""
expect.set_options(timeout=PATIENCE_MS)

_numbers = count(1)


@dataclass
class Watch:
    """What went wrong on the pages of one test, and what the test expects to go wrong."""

    host: str
    problems: list[str] = field(default_factory=list)
    expected: list[str] = field(default_factory=list)

    def expect(self, pattern: str) -> None:
        """Let problems that match the pattern pass, for example a page that answers 404 on purpose."""
        self.expected.append(pattern)

    def attach(self, page: Page) -> None:
        """Watch a page from now on."""
        page.on("console", self._console)
        page.on("pageerror", lambda error: self.problems.append(f"uncaught: {error}"))
        page.on("request", self._request)

    def unexpected(self) -> list[str]:
        """Give the problems that no expectation covers."""
        return [
            problem
            for problem in self.problems
            if not any(re.search(pattern, problem) for pattern in self.expected)
        ]

    def _console(self, message: ConsoleMessage) -> None:
        if message.type in {"error", "warning"}:
            self.problems.append(
                f"console {message.type}: {message.text} ({message.location.get('url', '')})"
            )

    def _request(self, request: Request) -> None:
        parts = urlsplit(request.url)
        if parts.scheme in {"http", "https", "ws", "wss"} and parts.netloc != self.host:
            self.problems.append(f"request to another host: {request.url}")


@dataclass(frozen=True)
class Site:
    """The running site and what tests may do to its processes."""

    url: str
    server: SiteServer
    data: Path


@pytest.fixture(scope="session")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    """Serve the whole site, with baselines and demo agents, for all browser tests."""
    data = tmp_path_factory.mktemp("site")
    server = SiteServer(data)
    try:
        yield Site(url=server.wait_ready(), server=server, data=data)
    finally:
        server.stop()


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    """Start Chromium once."""
    found = subprocess.run(["sh", str(ROOT / "tools" / "find_chromium.sh")], capture_output=True, text=True)
    assert found.returncode == 0, "no Chromium: `make chromium` gets it or says how"
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=found.stdout.strip(), args=CHROMIUM_OPTIONS)
        yield browser
        browser.close()


@pytest.fixture
def watch(site: Site) -> Iterator[Watch]:
    """Fail the test when one of its pages had a problem that it did not expect."""
    watch = Watch(host=urlsplit(site.url).netloc)
    yield watch
    assert not watch.unexpected(), "\n".join(watch.unexpected())


@pytest.fixture
def make_page(
    request: pytest.FixtureRequest, browser: Browser, site: Site, watch: Watch
) -> Iterator[Callable[..., Page]]:
    """
    Give a function that opens a page of a new visitor with cookies of their own.

    Options: `theme` light or dark; `phone` for 360 px and touch; `javascript` false to go without;
    anything else that Playwright's `new_context` takes.
    """
    contexts: list[BrowserContext] = []

    def make(*, theme: str = "light", phone: bool = False, javascript: bool = True, **options: Any) -> Page:
        shape: dict[str, Any] = {"viewport": PHONE if phone else DESK, "has_touch": phone}
        context = browser.new_context(
            base_url=site.url,
            color_scheme=theme,
            java_script_enabled=javascript,
            reduced_motion="reduce",
            **shape | options,
        )
        context.set_default_timeout(PATIENCE_MS)
        contexts.append(context)
        page = context.new_page()
        watch.attach(page)
        return page

    yield make
    if getattr(request.node, "failed", False):
        RESULTS.mkdir(exist_ok=True)
        name = re.sub(r"[^\w.-]+", "_", request.node.name)
        for number, page in enumerate(page for context in contexts for page in context.pages):
            page.screenshot(path=RESULTS / f"{name}-{number}.png", full_page=True)
    for context in contexts:
        context.close()


@pytest.fixture
def page(make_page: Callable[..., Page]) -> Page:
    """Give a page at 1440 px in the light theme."""
    return make_page()


@pytest.fixture
def sign_up() -> Callable[..., str]:
    """Give a function that signs a new person up on a page and gives their name."""

    def sign_up(page: Page, username: str = "") -> str:
        username = username or f"tester{next(_numbers)}"
        page.goto("/accounts/signup/")
        page.get_by_label("Username").fill(username)
        page.get_by_label("Password", exact=True).fill(PASSWORD)
        page.get_by_label("Password (again)").fill(PASSWORD)
        page.get_by_role("button", name="Sign up").click()
        page.wait_for_url(lambda url: "/accounts/signup/" not in url)
        return username

    return sign_up


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item, call: pytest.CallInfo[None]) -> Iterator[None]:
    """Let fixtures know that the test failed, so that they keep a picture of its pages."""
    report = yield
    if report.when == "call" and report.failed:
        item.failed = True  # type: ignore[attr-defined]
    return report


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark what stands in this folder."""
    for item in items:
        if Path(__file__).parent in item.path.parents:
            item.add_marker(pytest.mark.browser)
