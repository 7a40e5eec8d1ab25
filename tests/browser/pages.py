"""Questions to a page that `expect` has no form of, each asked when the page has come to rest."""

from __future__ import annotations

from typing import Any

from playwright.sync_api import FloatRect, Locator, Page

AT_REST = """
    async () => {
      await document.fonts.ready;
      await new Promise((drawn) => requestAnimationFrame(() => requestAnimationFrame(drawn)));
    }
"""
STICKS_OUT = """
    () => {
      const { scrollWidth, clientWidth } = document.documentElement;
      if (scrollWidth <= clientWidth) return [];
      const wide = [...document.querySelectorAll("body *")]
        .filter((element) => element.getBoundingClientRect().right > clientWidth + 0.5);
      return [`${scrollWidth} px on a screen of ${clientWidth} px`]
        .concat(wide.slice(0, 5).map((element) => element.outerHTML.slice(0, 120)));
    }
"""


def at_once(page: Page, script: str) -> Any:
    """What a script says now: for what nothing changes any more, or for a promise, which waits by itself."""
    return page.evaluate(script)


def come_to_rest(page: Page) -> None:
    """Wait until scripts have fetched what they need, the fonts are there, and all of it is drawn."""
    page.wait_for_load_state("networkidle")
    page.evaluate(AT_REST)


def fits(page: Page) -> None:
    """Make sure that the page, as it stands in the end, does not scroll sideways."""
    come_to_rest(page)
    sticks_out = page.evaluate(STICKS_OUT)
    if sticks_out:
        raise AssertionError("\n".join([page.url, *sticks_out]))


def place(locator: Locator) -> FloatRect:
    """Where something is, and how large, once the page stands."""
    come_to_rest(locator.page)
    box = locator.bounding_box()
    if box is None:
        raise AssertionError(f"{locator} is not to be seen")
    return box
