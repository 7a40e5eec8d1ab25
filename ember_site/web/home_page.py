"""What the front page shows, gathered from the selectors."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from django.conf import settings
from django.contrib.auth.models import AnonymousUser
from django.urls import reverse
from django.utils.safestring import SafeString

from ember_site.boards.rows import Board, BoardFilters, BoardRow, Cell
from ember_site.boards.selectors import board_rows, evaluation_main
from ember_site.catalog import selectors as catalog
from ember_site.catalog.models import Scenario, Suite, SuiteEntry
from ember_site.catalog.plan_svg import scenario_plan
from ember_site.episodes.models import Episode
from ember_site.episodes.selectors import episode_agent_named, episode_moving
from ember_site.runs.models import Agent, AgentKind
from ember_site.web.boards_pages import linked_cells
from ember_site.web.episodes_pages import ANY_RUN
from simulator.limits import size_text

REPLAYED_BASELINE = "greedy"
BEST_COUNT = 5


@dataclass(frozen=True)
class Room:
    """One scenario of the front page with the replayed baseline's result, if there is one."""

    number: str
    scenario: Scenario
    plan: SafeString
    result: Cell | None
    track_url: str


@dataclass(frozen=True)
class BestRow:
    """One row of the short board, its cells linked to the runs behind them."""

    row: BoardRow
    cells: list[Cell]


@dataclass(frozen=True)
class HomePage:
    """Everything that the front page shows. Without a suite there are no rooms, without runs no rows."""

    suite: Suite | None
    family_count: int
    population: int
    rooms: list[Room]
    replayed: BoardRow | None
    board: Board | None
    best: list[BestRow]
    upload_limit: str
    live: Episode | None
    live_agent: Agent | None

    @property
    def live_data(self) -> dict[str, str]:
        """What the script needs to follow the running episode as a watcher."""
        if self.live is None:
            return {}
        return {
            "socket": f"/ws/episodes/{self.live.pk}/?watch",
            "run": reverse("run_detail", args=[ANY_RUN]),
        }


def home_page() -> HomePage:
    """Gather the front page. It is the same for everybody; as many queries for ten rooms as for one."""
    evaluation = evaluation_main(viewer=AnonymousUser())
    board = board_rows(evaluation=evaluation, filters=BoardFilters(complete=True)) if evaluation else None
    suite = evaluation.suite if evaluation else next(iter(catalog.suite_list(viewer=AnonymousUser())), None)
    entries = catalog.suite_entries(suite=suite) if suite else []
    replayed = _replayed(board)
    live = episode_moving()
    return HomePage(
        suite=suite,
        family_count=len({family for entry in entries for family in entry.families}),
        population=sum(entry.scenario.population for entry in entries),
        rooms=_rooms(entries, replayed),
        replayed=replayed,
        board=board,
        best=[BestRow(row, linked_cells(row.cells)) for row in board.rows[:BEST_COUNT]] if board else [],
        upload_limit=size_text(settings.EMBER_UPLOAD_MAX_BYTES),
        live=live,
        live_agent=episode_agent_named(viewer=AnonymousUser(), episode=live) if live else None,
    )


def _replayed(board: Board | None) -> BoardRow | None:
    """The row of the baseline whose runs the front page replays."""
    rows = board.rows if board else ()
    wanted = (
        row for row in rows if row.agent.kind == AgentKind.BASELINE and row.agent.slug == REPLAYED_BASELINE
    )
    return next(wanted, None)


def _rooms(entries: Sequence[SuiteEntry], replayed: BoardRow | None) -> list[Room]:
    results = {cell.scenario_hash: cell for cell in replayed.cells} if replayed else {}
    return [_room(number, entry.scenario, results) for number, entry in enumerate(entries, start=1)]


def _room(number: int, scenario: Scenario, results: dict[str, Cell]) -> Room:
    result = results.get(scenario.content_hash)
    run_id = result.run_id if result else None
    return Room(
        number=scenario.number or f"{number:02d}",
        scenario=scenario,
        plan=scenario_plan(scenario.content_hash),
        result=result,
        track_url=reverse("run_track", args=[run_id]) if run_id else "",
    )
