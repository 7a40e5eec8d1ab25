"""What a refused record teaches: a dry run says it beforehand, the run's page shows where they part."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

from playwright.sync_api import Page, expect

from tests.browser.pages import fits
from tests.browser.test_submit import agent_new, forged


def test_a_dry_run_says_every_verdict_and_keeps_nothing(
    page: Page, sign_up: Callable[..., str], tmp_path: Path
) -> None:
    sign_up(page)
    record = tmp_path / "forged.json"
    record.write_text(forged(2))
    page.goto("/submit/")
    agent_new(page, "Only trying")
    page.get_by_label("Dry run").check()
    page.locator("#file").set_input_files(record)
    expect(page.get_by_role("main")).to_contain_text("replay_mismatch")
    expect(page.get_by_role("main")).to_contain_text("steps[0].movements.P035")
    expect(page.get_by_role("main")).to_contain_text("The lowest ID keeps it")
    expect(page.get_by_role("main")).to_contain_text("Dry run, nothing was kept")
    expect(page.get_by_text("0 of 60 uploads used")).to_be_visible()
    page.goto("/me/")
    expect(page.get_by_role("main")).not_to_contain_text("Only trying")
    expect(page.get_by_role("main")).not_to_contain_text("forged.json")


def test_a_refused_run_shows_both_sides_of_the_step_at_which_they_part(
    page: Page, make_page: Callable[..., Page], sign_up: Callable[..., str], tmp_path: Path
) -> None:
    sign_up(page)
    record = tmp_path / "forged.json"
    record.write_text(forged(2))
    page.goto("/submit/")
    agent_new(page, "Forger")
    page.locator("#file").set_input_files(record)
    page.locator(".recs li a[href*='/runs/']").first.click()
    expect(page).to_have_url(re.compile(r"/runs/"))
    parting = page.locator("[data-parting]")
    expect(parting.get_by_role("heading")).to_contain_text(re.compile("They part|and part at step"))
    expect(parting.locator("canvas")).to_have_count(2)
    expect(parting.get_by_role("row", name=re.compile("^move of"))).to_contain_text("blocked_conflict")
    expect(parting).to_contain_text("The lowest ID keeps it")
    phone = make_page(phone=True, theme="dark", storage_state=page.context.storage_state())
    phone.goto(page.url)
    expect(phone.locator("[data-parting] canvas")).to_have_count(2)
    fits(phone)
