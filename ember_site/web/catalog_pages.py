"""What the pages of suites and scenarios show, gathered from the selectors."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlencode

from django.utils.safestring import SafeString

from ember_site.accounts.visitors import Viewer
from ember_site.boards.scenario_runs import CardFigures, Standing, card_figures, scenario_standings
from ember_site.catalog import archive, pins, selectors
from ember_site.catalog.fire_curve import fire_curve
from ember_site.catalog.fire_preview import FirePreview, fire_preview
from ember_site.catalog.models import FireModel, Scenario, Suite, SuiteEntry
from ember_site.catalog.plan_svg import fire_frame, scenario_plan
from ember_site.catalog.scenario_cache import scenario_load
from ember_site.catalog.scenario_rules import RuleLine, scenario_rules
from ember_site.web.documents import document_get
from simulator.policies import BASELINES

LISTED_PLANS = 20
"""Small plans of a suite in the list of suites."""


@dataclass(frozen=True)
class ScenarioCard:
    """One scenario of a suite page."""

    entry: SuiteEntry
    scenario: Scenario
    plan: SafeString
    pin: pins.PinStatus
    figures: CardFigures


@dataclass(frozen=True)
class Choice:
    """One option of a filter."""

    value: str
    label: str
    chosen: bool


@dataclass(frozen=True)
class SuiteRow:
    """One suite of the list with small plans of its first scenarios."""

    suite: Suite
    pin: pins.PinStatus
    plans: list[tuple[Scenario, SafeString]]


def suite_rows(*, viewer: Viewer) -> list[SuiteRow]:
    """Gather the list of suites."""
    return [
        SuiteRow(
            suite,
            pins.suite_pin(suite_id=suite.suite_id, suite_hash=suite.suite_hash),
            [
                (entry.scenario, scenario_plan(entry.scenario.content_hash, suite.version))
                for entry in list(suite.entries.all())[:LISTED_PLANS]
            ],
        )
        for suite in selectors.suite_list(viewer=viewer)
    ]


@dataclass(frozen=True)
class SuitePage:
    """A suite page: its facts speak of the whole suite, its cards of what the filters leave."""

    pin: pins.PinStatus
    cards: list[ScenarioCard]
    scenario_count: int
    population: int
    fire_counts: list[tuple[str, int]]
    families: list[Choice]
    fire_models: list[Choice]
    is_filtered: bool
    as_table: bool
    filters: str
    archive_name: str
    archive_bytes: int
    first: Scenario


def suite_page(suite: Suite, *, viewer: Viewer, family: str, fire_model: str, as_table: bool) -> SuitePage:
    """Gather a suite page. As many queries for ten scenarios as for one."""
    entries = selectors.suite_entries(suite=suite)
    shown = [
        entry
        for entry in entries
        if (not family or family in entry.families)
        and (not fire_model or entry.scenario.fire_model == fire_model)
    ]
    figures = card_figures([entry.scenario for entry in shown], viewer=viewer)
    counts = Counter(entry.scenario.fire_model for entry in entries)
    families = sorted({name for entry in entries for name in entry.families})
    return SuitePage(
        pin=pins.suite_pin(suite_id=suite.suite_id, suite_hash=suite.suite_hash),
        cards=[_card(entry, figures[entry.scenario.content_hash]) for entry in shown],
        scenario_count=len(entries),
        population=sum(entry.scenario.population for entry in entries),
        fire_counts=[(model.value, counts[model]) for model in FireModel if counts[model]],
        families=[Choice(name, name, name == family) for name in families],
        fire_models=[Choice(model.value, model.label, model.value == fire_model) for model in FireModel],
        is_filtered=len(shown) != len(entries),
        as_table=as_table,
        filters=urlencode({k: v for k, v in (("family", family), ("fire", fire_model)) if v}),
        archive_name=archive.archive_name(suite),
        archive_bytes=len(archive.suite_archive(suite)),
        first=entries[0].scenario,
    )


def _card(entry: SuiteEntry, figures: CardFigures) -> ScenarioCard:
    scenario = entry.scenario
    return ScenarioCard(
        entry=entry,
        scenario=scenario,
        plan=scenario_plan(scenario.content_hash),
        pin=pins.scenario_pin(scenario_id=scenario.scenario_id, content_hash=scenario.content_hash),
        figures=figures,
    )


@dataclass(frozen=True)
class LinkedRule:
    """A rule with the place on the rules page that explains it; `fragment` is empty where there is none."""

    line: RuleLine
    fragment: str


@dataclass(frozen=True)
class FireFrame:
    """One small plan of the film strip."""

    step: int
    share: float
    plan: SafeString


@dataclass(frozen=True)
class ScenarioPage:
    """Everything that a scenario page shows apart from the scenario's own columns."""

    entry: SuiteEntry | None
    entries: list[SuiteEntry]
    plan: SafeString
    description: str
    rules: list[LinkedRule]
    seed: str
    layout: str
    pin: pins.PinStatus
    preview: FirePreview | None
    frames: list[FireFrame]
    curve: SafeString
    before: SuiteEntry | None
    after: SuiteEntry | None
    policies: list[str]
    standings: list[Standing]
    board: dict[str, Any]


def scenario_page(scenario: Scenario, *, viewer: Viewer) -> ScenarioPage:
    """Gather a scenario page."""
    parsed = scenario_load(scenario.content_hash)
    entries = selectors.scenario_entries(viewer=viewer, scenario=scenario)
    before, after = _neighbours(entries[0]) if entries else (None, None)
    preview = fire_preview(scenario.content_hash)
    return ScenarioPage(
        entry=entries[0] if entries else None,
        entries=entries,
        plan=scenario_plan(scenario.content_hash),
        description=parsed.description or "",
        rules=_linked_rules(scenario_rules(parsed)),
        seed=str(parsed.seed),
        layout="\n".join(parsed.ascii_layout()),
        pin=pins.scenario_pin(scenario_id=scenario.scenario_id, content_hash=scenario.content_hash),
        preview=preview,
        curve=fire_curve(preview) if preview else SafeString(),
        before=before,
        after=after,
        frames=_frames(scenario.content_hash, preview),
        policies=list(BASELINES),
        standings=scenario_standings(scenario, viewer=viewer),
        board=_board_data(scenario.content_hash, preview),
    )


def _neighbours(entry: SuiteEntry) -> tuple[SuiteEntry | None, SuiteEntry | None]:
    """The entries before and after one in its suite."""
    around = {other.position: other for other in selectors.suite_entries(suite=entry.suite)}
    return around.get(entry.position - 1), around.get(entry.position + 1)


def _linked_rules(lines: list[RuleLine]) -> list[LinkedRule]:
    """Find each rule's heading on the rules page: its anchor begins with the rule's number."""
    document = document_get("rules")
    anchors = [heading.anchor for heading in document.headings] if document else []
    found = {anchor.partition("-")[0]: anchor for anchor in reversed(anchors)}
    return [LinkedRule(line, found.get(line.anchor, "")) for line in lines]


def _frames(content_hash: str, preview: FirePreview | None) -> list[FireFrame]:
    if preview is None:
        return []
    scenario = scenario_load(content_hash)
    return [
        FireFrame(step, preview.share(step), fire_frame(scenario, step=step, burning=preview.burning(step)))
        for step in preview.frame_steps
    ]


def _board_data(content_hash: str, preview: FirePreview | None) -> dict[str, Any]:
    """What the script draws from: the scenario at step 0 and, where it is known, when cells burn."""
    document = scenario_load(content_hash).to_dict()
    drawn = {key: document[key] for key in ("grid", "obstacles", "exits", "people", "ignitions", "fire")}
    return drawn | {"arrivals": preview.arrivals if preview else None}
