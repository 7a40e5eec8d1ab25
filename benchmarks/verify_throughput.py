"""
How many records a second does one worker verify, from the upload to the verdict in the database?

Sets up an empty site, sends the records of several agents through the submission service of page and API,
starts one real worker (`manage.py work`) and waits until every verdict is in. The clock runs while records
are stored and queued, and while the worker works, apart from its start. Beside it stands the time that
`json.loads` takes over the same bytes, in the same run. On Linux processor time is measured as well, which
says what a machine without other work would do. Exit code 1 where not every record was verified.

    python benchmarks/verify_throughput.py [--records 400] [--json]

The database is SQLite in a folder that is removed, or an empty one named by `DATABASE_URL`. Needs the site's
dependencies.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from benchmarks.fresh_site import SUITE, site_setup  # noqa: E402
from simulator import load_suite, policies, run_episode  # noqa: E402

FILES = 4
POLL_S = 0.05
PARSED = 5  # times that json.loads goes over everything


def records(count: int) -> list[str]:
    """So many different records, spread over the scenarios of the public suite."""
    scenarios = load_suite(SUITE).scenarios
    return [
        run_episode(
            scenarios[n % len(scenarios)],
            policies.make_random(n) if n >= len(scenarios) else policies.greedy,
            seed=n // len(scenarios),
        ).to_json()
        for n in range(count)
    ]


@dataclass(frozen=True)
class Spent:
    """Time by the clock, and of the processor, in seconds."""

    clock: float
    processor: float

    @classmethod
    def now(cls) -> Spent:
        """The two clocks of this process."""
        return cls(time.perf_counter(), time.process_time())

    @classmethod
    def of_process(cls, pid: int) -> Spent:
        """The clock, and what another process has spent; nothing where that cannot be told."""
        stat = Path(f"/proc/{pid}/stat")
        if not stat.exists():
            return cls(time.perf_counter(), 0.0)
        fields = stat.read_text().rpartition(")")[2].split()
        return cls(time.perf_counter(), (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK"))

    def since(self, start: Spent) -> Spent:
        return Spent(self.clock - start.clock, self.processor - start.processor)

    def __mul__(self, factor: float) -> Spent:
        return Spent(self.clock * factor, self.processor * factor)

    def __add__(self, other: Spent) -> Spent:
        return Spent(self.clock + other.clock, self.processor + other.processor)


def parse_all(texts: list[str]) -> Spent:
    """Parse all of them a few times; the mean."""
    start = Spent.now()
    for _ in range(PARSED):
        for text in texts:
            json.loads(text)
    return Spent.now().since(start) * (1 / PARSED)


def upload_all(texts: list[str]) -> Spent:
    """Send the records as a few files, each of an account of its own."""
    from ember_site.accounts.models import User
    from ember_site.runs import services

    senders = []
    for number in range(FILES):
        owner = User.objects.create_user(f"sender{number}")
        senders.append((owner, services.agent_create(owner=owner, fields={"name": f"sender {number}"})))
    start = Spent.now()
    for number, (owner, agent) in enumerate(senders):
        payload = "\n".join(texts[number::FILES]).encode()
        services.submission_create(owner=owner, agent=agent, payload=payload, filename="f", source="api")
    return Spent.now().since(start)


@contextmanager
def worker() -> Iterator[subprocess.Popen[bytes]]:
    """One real worker; it leaves when its standard input is closed."""
    command = [sys.executable, "-m", "django", "work", "--with-parent"]
    process = subprocess.Popen(command, cwd=ROOT, stdin=subprocess.PIPE)
    try:
        yield process
    finally:
        process.communicate(timeout=60)


def verify_all(total: int) -> Spent:
    """Wait for all verdicts; what they cost, reckoned without the worker's start."""
    from ember_site.runs.models import Run, RunState

    with worker() as process:
        first: tuple[Spent, int] | None = None
        while True:
            done = Run.objects.exclude(state__in=[RunState.QUEUED, RunState.RUNNING]).count()
            now = Spent.of_process(process.pid)
            if first is None and done:
                first = (now, done)
            if first is not None and done == total:
                return now.since(first[0]) * (total / max(1, total - first[1]))
            if process.poll() is not None:
                raise SystemExit("the worker has ended")
            time.sleep(POLL_S)


def measure(count: int) -> dict[str, Any]:
    """All figures of one run."""
    from ember_site.runs.models import Run

    texts = records(count)
    uploaded, verified, parsed = upload_all(texts), verify_all(count), parse_all(texts)
    whole = uploaded + verified
    figures: dict[str, Any] = {
        "records": count,
        "bytes": sum(len(text) for text in texts),
        "verified": Run.objects.filter(code="verified").count(),
    }
    for kind in ("clock", "processor"):
        whole_s, parsed_s = getattr(whole, kind), getattr(parsed, kind)
        figures[kind] = {
            "uploaded_a_second": count / getattr(uploaded, kind),
            "verified_a_second": count / (getattr(verified, kind) or 1e9),
            "whole_path_a_second": count / whole_s,
            "json_a_second": count / parsed_s,
            "whole_path_times_json": whole_s / parsed_s,
        }
    return figures


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--records", type=int, default=400)
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as data:
        site_setup(data)
        figures = measure(options.records)
    if options.json:
        print(json.dumps(figures))
    else:
        print(f"{figures['records']} records, {figures['bytes']:,} bytes, one worker; records a second:")
        for kind, words in (("clock", "by the clock"), ("processor", "of processor time")):
            figure = figures[kind]
            print(
                f"{words:>17}: whole path {figure['whole_path_a_second']:.0f} "
                f"(stored and queued {figure['uploaded_a_second']:.0f}, "
                f"verified {figure['verified_a_second']:.0f}), json.loads {figure['json_a_second']:.0f}: "
                f"{figure['whole_path_times_json']:.1f} times as long"
            )
    return 0 if figures["verified"] == figures["records"] else 1


if __name__ == "__main__":
    sys.exit(main())
