"""The job that the site is for, by one person in one sitting."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

from playwright.sync_api import Page, expect

from tests.browser.test_play import open_game, step_to_end
from tests.patience import PATIENCE_S
from tests.site_server import ROOT

EMBER = [sys.executable, "-m", "simulator.command"]


def ember(*words: str | Path) -> str:
    """Run the command as a person would at home and give what it prints."""
    done = subprocess.run(
        [*EMBER, *map(str, words)], cwd=ROOT, capture_output=True, text=True, check=True, timeout=PATIENCE_S
    )
    return done.stdout


def test_sign_up_play_upload_ten_records_and_be_ranked(
    page: Page, sign_up: Callable[..., str], tmp_path: Path
) -> None:
    name = sign_up(page)

    # Browse: the ten public scenarios, and one of them in full.
    page.goto("/suites/")
    page.get_by_role("main").get_by_role("link", name=re.compile("emberbench-v1-public")).first.click()
    expect(page.get_by_role("heading", name="Route invalidation")).to_be_visible()
    page.get_by_role("link", name=re.compile("Narrow|Corridor bottleneck")).first.click()
    expect(page.get_by_role("heading", level=1)).to_contain_text("Corridor bottleneck")

    # Play one on the canvas; its record comes home and verifies there.
    open_game(page, "Unequal exits", ranked=True)
    page.keyboard.press("Control+a")
    page.keyboard.press("x")
    step_to_end(page)
    expect(page.locator("#end-text")).to_contain_text("Verified by replay")
    with page.expect_download() as download:
        page.get_by_role("link", name="Download the record").click()
    played = tmp_path / "played.json"
    download.value.save_as(played)
    assert "verified" in ember("verify", played)
    page.get_by_role("link", name="See the run").click()
    expect(page.get_by_role("main")).to_contain_text("Verified")

    # Make ten records at home, send them, see each verified.
    records = tmp_path / "runs.jsonl"
    ember("run", "--suite", "scenarios/public/v1", "--policy", "greedy", "-o", records)
    agent = f"Agent of {name}"
    page.goto("/submit/")
    page.get_by_label("Agent", exact=True).select_option("+")
    page.get_by_label("Name of the new agent").fill(agent)
    page.locator("#file").set_input_files(records)
    expect(page.get_by_text("10 of 10 checked")).to_be_visible()
    expect(page.locator(".recs li[data-letter=v]")).to_have_count(10)

    # Find the agent ranked beside the baseline that plays alike.
    page.get_by_role("link", name=f"How {agent} stands").click()
    page.get_by_role("main").get_by_role("link", name="Development board").click()
    row = page.get_by_role("row", name=re.compile(re.escape(agent)))
    expect(row).to_contain_text("85.5")
    rank = row.locator("td, th").first
    expect(rank).to_have_text(re.compile(r"^\s*[0-9]+\s*$"))
    baseline = page.get_by_role("row", name=re.compile(r"^\s*\d+\s+greedy"))
    expect(baseline.locator("td, th").first).to_have_text(rank.inner_text())
    row.get_by_role("link", name=agent).click()
    expect(page).to_have_url(re.compile(r"/agents/"))
