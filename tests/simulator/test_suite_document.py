"""`docs/suite.md` says what the files say."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest

from simulator import Scenario, load_suite
from tests.simulator.builders import FIXTURES, PUBLIC_SUITE, ROOT

TEXT = (ROOT / "docs" / "suite.md").read_text(encoding="utf-8")
SUITE = load_suite(PUBLIC_SUITE)
PINS: dict[str, Any] = json.loads((ROOT / "scenarios" / "published_pins.json").read_text(encoding="utf-8"))
SECTION = re.compile(r"^### (\S+)\n(.*?)(?=^#{2,3} |\Z)", re.MULTILINE | re.DOTALL)
SECTIONS = dict(SECTION.findall(TEXT))

every_scenario = pytest.mark.parametrize(
    "scenario", SUITE.scenarios, ids=lambda scenario: scenario.scenario_id
)


def test_the_document_has_a_section_for_each_scenario_in_order() -> None:
    assert list(SECTIONS) == [scenario.scenario_id for scenario in SUITE.scenarios]


@every_scenario
def test_the_layout_in_the_document_is_that_of_the_file(scenario: Scenario) -> None:
    (layout,) = re.findall(r"^```\n(.*?)\n```$", SECTIONS[scenario.scenario_id], re.MULTILINE | re.DOTALL)
    assert layout.splitlines() == scenario.ascii_layout()


@every_scenario
def test_the_facts_in_the_document_are_those_of_the_file(scenario: Scenario) -> None:
    section = SECTIONS[scenario.scenario_id]
    counts = f"{len(scenario.people)}, {len(scenario.exits)}, {len(scenario.ignitions)}"
    exits = "exits burn" if scenario.fire.exits_flammable else "exits do not burn"
    for row in (
        f"| Size, step limit | {scenario.width} x {scenario.height}, {scenario.max_steps} steps |",
        f"| People, exits, fires | {counts} |",
        f"| Hazard | `{scenario.hazard}`, {exits} |",
        f"| Content hash | `{scenario.content_hash}` |",
        f"| Published hash | `{PINS['scenarios'][scenario.scenario_id]}` |",
    ):
        assert row in section


def test_version_and_hashes_of_the_suite_are_those_of_the_manifest() -> None:
    assert f"| Version | `{SUITE.version}` |" in TEXT
    assert f"| Suite hash | `{SUITE.suite_hash}` |" in TEXT
    assert f"| published {PINS['suite_version']} | `{PINS['suite_hash']}` |" in TEXT
    assert f"| this rebuild {SUITE.version} | `{SUITE.suite_hash}` |" in TEXT


def test_the_families_in_the_document_are_those_of_the_manifest() -> None:
    table = dict(re.findall(r"^\| `([a-z0-9_]+)` \| `(v1-pub-[a-z0-9-]+)` \|$", TEXT, re.MULTILINE))
    assert table == {family: entry.scenario_id for entry in SUITE.entries for family in entry.families}


def test_the_fixtures_in_the_document_are_those_in_the_directory() -> None:
    section = TEXT.partition("## Fixtures")[2].partition("\n## ")[0]
    assert set(re.findall(r"^\| `([a-z_]+)` \|", section, re.MULTILINE)) == {
        path.stem for path in FIXTURES.glob("*.json")
    }
