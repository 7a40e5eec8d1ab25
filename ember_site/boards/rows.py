"""What a board shows: rows ready for page, JSON and CSV, and the ways to filter and order them."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

from ember_site.boards.intervals import ScoreIntervals, score_intervals
from ember_site.boards.models import Evaluation
from ember_site.boards.ranking import RankedEntry, RunScore, Schedule, SlotKey, SlotSpec
from ember_site.core.errors import BadInput

KINDS = ("model", "human", "baseline")
SEARCH_CHARS = 80


@dataclass(frozen=True, slots=True)
class SlotFacts:
    """A slot with what a board says of its scenario. `number` counts scenarios from 01."""

    key: SlotKey
    position: int
    number: str
    scenario_id: str
    population: int

    @property
    def name(self) -> str:
        """The scenario's ID without the suite's prefix, in words: `unequal exits`."""
        return scenario_words(self.scenario_id)


def scenario_words(scenario_id: str) -> str:
    """`v1-pub-04-unequal-exits` as `unequal exits`; other IDs keep all their words."""
    words = scenario_id.split("-")
    numbers = [index for index, word in enumerate(words[:-1]) if word.isdigit()]
    return " ".join(words[numbers[0] + 1 :] if numbers else words)


class Course:
    """The slots of an evaluation, in order, with what ranking and showing need of them."""

    def __init__(self, slots: Iterable[SlotFacts]) -> None:
        self.slots = tuple(slots)
        self.schedule = Schedule(SlotSpec(slot.key, slot.population) for slot in self.slots)
        groups: dict[str, list[SlotFacts]] = {}
        for slot in self.slots:
            groups.setdefault(slot.key.scenario_hash, []).append(slot)
        self.by_scenario = tuple(tuple(group) for group in groups.values())
        self._intervals: dict[Hashable, tuple[Mapping[SlotKey, RunScore], ScoreIntervals | None]] = {}

    def intervals(self, entry: RankedEntry) -> ScoreIntervals | None:
        """95 % intervals of a complete entry, resampled once for as long as the same runs count."""
        held = self._intervals.get(entry.key)
        if held is None or held[0] is not entry.best:
            held = self._intervals[entry.key] = (entry.best, score_intervals(self.schedule, entry.best))
        return held[1]


@dataclass(frozen=True, slots=True)
class AgentFacts:
    """What a board says of an agent."""

    slug: str
    name: str
    kind: str
    owner_name: str


@dataclass(frozen=True, slots=True)
class Cell:
    """One scenario of one row, over all its seeds. `evacuated` is None where a run is missing."""

    number: str
    name: str
    scenario_hash: str
    population: int
    evacuated: int | None
    casualties: int
    unresolved: int
    attempts: int
    run_id: str | None
    url: str | None = None


@dataclass(frozen=True)
class BoardRow:
    """One entry with its agent."""

    entry: RankedEntry
    agent: AgentFacts
    course: Course = field(repr=False)

    @property
    def rank_text(self) -> str:
        """The rank, or a dash for an incomplete entry."""
        return "-" if self.entry.rank is None else str(self.entry.rank)

    @property
    def progress_text(self) -> str:
        """`7 of 10`."""
        return f"{self.entry.slots_done} of {self.entry.slot_count}"

    @property
    def intervals(self) -> ScoreIntervals | None:
        """95 % intervals; None for an incomplete entry and where no scenario has several seeds."""
        return self.course.intervals(self.entry) if self.entry.complete else None

    @property
    def cells(self) -> list[Cell]:
        """One cell for each scenario, in the order of the schedule. Made anew each time: a row is kept."""
        return [self._cell(slots) for slots in self.course.by_scenario]

    @property
    def evacuated(self) -> list[int | None]:
        """People out of each scenario; None where a run is missing."""
        return [self._evacuated(slots) for slots in self.course.by_scenario]

    def _evacuated(self, slots: Sequence[SlotFacts]) -> int | None:
        runs = [self.entry.best.get(slot.key) for slot in slots]
        return None if None in runs else sum(run.evacuated for run in runs if run is not None)

    def _cell(self, slots: Sequence[SlotFacts]) -> Cell:
        runs = [self.entry.best.get(slot.key) for slot in slots]
        known = [run for run in runs if run is not None]
        population = sum(slot.population for slot in slots)
        whole = len(known) == len(slots)
        evacuated, casualties = (sum(run.evacuated for run in known), sum(run.casualties for run in known))
        return Cell(
            number=slots[0].number,
            name=slots[0].name,
            scenario_hash=slots[0].key.scenario_hash,
            population=population,
            evacuated=evacuated if whole else None,
            casualties=casualties,
            unresolved=population - evacuated - casualties if whole else 0,
            attempts=sum(self.entry.attempts.get(slot.key, 0) for slot in slots),
            run_id=str(known[0].run_id) if len(slots) == 1 and known else None,
        )


@dataclass(frozen=True, slots=True)
class BoardFilters:
    """What a visitor asked for. `sort` is one of `SORTS`, with a leading `-` for the other way round."""

    kind: str = ""
    complete: bool | None = None
    search: str = ""
    sort: str = "rank"


def _criterion(name: str) -> Callable[[BoardRow], Any]:
    def value(row: BoardRow) -> Fraction | None:
        return None if row.entry.scores is None else getattr(row.entry.scores, name)

    return value


SORTS: Mapping[str, tuple[str, Callable[[BoardRow], Any]]] = {
    "rank": ("Rank", lambda row: row.entry.rank),
    "name": ("Name", lambda row: (row.agent.name.casefold(), row.agent.name)),
    "evacuated": ("Evacuated", _criterion("evacuation_rate")),
    "casualties": ("Casualties", _criterion("casualty_rate")),
    "exit_step": ("Exit step", _criterion("exit_step")),
    "attempts": ("Attempts", lambda row: row.entry.attempt_count),
    "finished": ("Finished", lambda row: row.entry.finished_at if row.entry.complete else None),
}
"""Label and value of each order, lowest first. None, a missing score, stands last either way round."""


def board_filters(parameters: Mapping[str, str]) -> BoardFilters:
    """Read the filters from the parameters of an address; absent and empty ones mean everything.

    Raises:
        BadInput: a value that is none of the possible ones; `place` names the parameter.
    """
    kind, complete = parameters.get("kind", ""), parameters.get("complete", "")
    sort = parameters.get("sort", "") or "rank"
    _expect("kind", kind, ("", *KINDS))
    _expect("complete", complete, ("", "yes", "no"))
    _expect("sort", sort.removeprefix("-"), tuple(SORTS))
    return BoardFilters(
        kind=kind,
        complete=None if complete == "" else complete == "yes",
        search=parameters.get("search", "")[:SEARCH_CHARS].strip(),
        sort=sort,
    )


def _expect(place: str, value: str, allowed: Sequence[str]) -> None:
    if value not in allowed:
        expected = ", ".join(word for word in allowed if word)
        raise BadInput(f"Expected one of {expected}, got {value[:40]!r}.", place=place)


def rows_filter(rows: Iterable[BoardRow], filters: BoardFilters) -> list[BoardRow]:
    """The rows that match completeness and search; the kind is applied by `rows_of_kind`."""
    wanted = filters.search.casefold().strip()
    return [
        row
        for row in rows
        if filters.complete in (None, row.entry.complete)
        and (not wanted or wanted in row.agent.name.casefold() or wanted in row.agent.owner_name.casefold())
    ]


def rows_of_kind(rows: Iterable[BoardRow], kind: str) -> list[BoardRow]:
    """The rows of one kind of agent; all of them for an empty kind."""
    return [row for row in rows if not kind or row.agent.kind == kind]


def rows_sort(rows: Sequence[BoardRow], sort: str) -> list[BoardRow]:
    """The rows in another order; ties and rows without the value keep the order of the ranking."""
    value = SORTS[sort.removeprefix("-")][1]
    known = [row for row in rows if value(row) is not None]
    missing = [row for row in rows if value(row) is None]
    known.sort(key=value, reverse=sort.startswith("-"))
    return known + missing


@dataclass(frozen=True)
class Board:
    """The answer to one question about an evaluation: its rows, all of them, and the counts beside."""

    evaluation: Evaluation
    course: Course
    filters: BoardFilters
    rows: Sequence[BoardRow]
    counts: Mapping[str, int]
    """Rows for each kind under the same search; the empty kind counts all."""
    ranked: Sequence[BoardRow]
    """All complete entries in the order of the ranking, whatever was asked for."""
    entry_count: int
    """Entries of the evaluation, whatever was asked for."""

    @property
    def slots(self) -> Sequence[SlotFacts]:
        """The schedule with its scenarios, in order."""
        return self.course.slots

    @property
    def schedule(self) -> Schedule:
        """The schedule as ranking sees it."""
        return self.course.schedule

    @property
    def complete_count(self) -> int:
        """Ranked rows among `rows`."""
        return sum(row.entry.complete for row in self.rows)

    @property
    def has_intervals(self) -> bool:
        """Whether some scenario has several seeds, so that scores have intervals."""
        return any(seeds > 1 for seeds in self.schedule.seeds_of.values())

    @property
    def scenario_heads(self) -> list[SlotFacts]:
        """The first slot of each scenario, for the heads of the heat strip."""
        return [slots[0] for slots in self.course.by_scenario]
