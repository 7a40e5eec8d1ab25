"""
How much more does a request for a board cost with ten thousand entries than with a hundred?

Fills a board in a database of its own (SQLite in a folder that is removed, or `DATABASE_URL`) and asks
for its page, its API page and its exports through Django's test client, first with 100 entries, then
with 100 times as many. Prints milliseconds of processor time and their ratio; exit code 1 where a page
is above the bound. Whole-file exports grow with their rows and are shown without a bound.

    python benchmarks/board_size.py [--copies 99] [--rounds 10] [--bound 4.0] [--json]
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from django.test import Client

ROOT = Path(__file__).resolve().parent.parent
BOUND = 4.0
PAGES = (
    "/boards/public-dev/",
    "/boards/public-dev/?page=2",
    "/boards/public-dev/board.atom",
    "/api/v1/boards/public-dev/",
    "/agents/crowd-7/",
)
SEARCHES = ("/api/v1/boards/public-dev/?search=crowd&sort=-name",)
EXPORTS = ("/boards/public-dev/board.csv", "/boards/public-dev/board.json")


def django_start(folder: str) -> None:
    os.environ["EMBER_DATA"] = folder
    os.environ["EMBER_LOG_LEVEL"] = "ERROR"
    os.environ["DJANGO_SETTINGS_MODULE"] = "tests.settings"
    sys.path.insert(0, str(ROOT))
    import django

    django.setup()
    from django.core.management import call_command

    call_command("migrate", verbosity=0)


def cpu_ms(work: Callable[[], object]) -> float:
    start = time.process_time()
    work()
    return (time.process_time() - start) * 1000


def asked_ms(client: Client, rounds: int) -> dict[str, float]:
    """Processor milliseconds of each address, the median of some rounds after a first one."""

    def ask(address: str) -> None:
        assert client.get(address).status_code == 200, address

    addresses = (*PAGES, *SEARCHES, *EXPORTS)
    for address in addresses:
        ask(address)
    return {a: statistics.median(cpu_ms(lambda a=a: ask(a)) for _ in range(rounds)) for a in addresses}


def measure(rounds: int, copies: int) -> dict[str, object]:
    """Processor milliseconds of each address with few and with many entries."""
    from django.db import connection
    from django.test import Client

    from ember_site.boards.models import Evaluation
    from ember_site.boards.selectors import board_rows
    from ember_site.boards.services import evaluation_ensure_open
    from ember_site.boards.standings import standings_forget
    from ember_site.catalog.services import suite_import
    from ember_site.runs.models import Run
    from tests.site.boards.crowded import board_fill, board_multiply

    suite = suite_import(directory=ROOT / "scenarios" / "public" / "v1")
    evaluation: Evaluation = evaluation_ensure_open(suite=suite)
    client = Client()

    def one_change() -> float:
        run = Run.objects.order_by("pk").first()
        assert run is not None
        Run.objects.filter(pk=run.pk).update(exit_step_total=(run.exit_step_total or 0) + 1)
        return cpu_ms(lambda: board_rows(evaluation=evaluation))

    board_fill(evaluation, entries=100)
    few = asked_ms(client, rounds)
    board_multiply(copies=copies)
    if connection.vendor == "postgresql":
        connection.cursor().execute("ANALYZE")
    standings_forget()
    first_reading = cpu_ms(lambda: board_rows(evaluation=evaluation))
    many = asked_ms(client, rounds)
    return {
        "entries": 100 * (copies + 1),
        "first_reading_ms": first_reading,
        "one_change_ms": statistics.median(one_change() for _ in range(rounds)),
        "few_ms": few,
        "many_ms": many,
        "ratio": {address: many[address] / few[address] for address in few},
    }


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--copies", type=int, default=99)
    parser.add_argument("--rounds", type=int, default=10)
    parser.add_argument("--bound", type=float, default=BOUND)
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="ember-board-size-", ignore_cleanup_errors=True) as folder:
        django_start(folder)
        figures = measure(options.rounds, options.copies)
    if options.json:
        print(json.dumps({**figures, "rounds": options.rounds, "bound": options.bound}))
    else:
        few, many, ratio = figures["few_ms"], figures["many_ms"], figures["ratio"]
        assert isinstance(few, dict)
        assert isinstance(many, dict)
        assert isinstance(ratio, dict)
        print(f"processor ms with 100 and with {figures['entries']} entries, and their ratio")
        for address in few:
            print(f"{address:55}{few[address]:9.1f}{many[address]:9.1f}{ratio[address]:9.2f}")
        print(f"first reading {figures['first_reading_ms']:.0f} ms")
        print(f"reading after one change {figures['one_change_ms']:.0f} ms")
        print(f"bound for pages {options.bound}")
    worst = max(figures["ratio"][address] for address in PAGES)  # type: ignore[index]
    return 1 if worst > options.bound else 0


if __name__ == "__main__":
    sys.exit(main())
