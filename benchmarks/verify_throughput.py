"""
How many records a second does one worker verify, from the upload to the verdict in the database?

Sets up an empty site, sends the records of several agents through the submission service of page and API,
starts one real worker (`manage.py work`) and waits until every verdict is in. The clock runs while records
are stored and queued, and while the worker works, apart from its start. Beside it stands the time that
`json.loads` takes over the same bytes, in the same run. Exit code 1 where not every record was verified.

    python benchmarks/verify_throughput.py [--records 400] [--json]

The database is SQLite in a folder that is removed, or an empty one named by `DATABASE_URL`. Needs the site's
dependencies.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
SUITE = ROOT / "scenarios" / "public" / "v1"
sys.path.insert(0, str(ROOT))

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


def parse_seconds(texts: list[str]) -> float:
    """Median time of parsing all of them."""
    times = []
    for _ in range(PARSED):
        start = time.perf_counter()
        for text in texts:
            json.loads(text)
        times.append(time.perf_counter() - start)
    return statistics.median(times)


def site_setup(data: str) -> None:
    """An empty site with the public suite, in this process and its children."""
    os.environ |= {
        "EMBER_DATA": data,
        "DJANGO_SETTINGS_MODULE": "ember_site.settings",
        "EMBER_LOG_LEVEL": "ERROR",
    }
    import django
    from django.core.management import call_command

    django.setup()
    call_command("migrate", verbosity=0, interactive=False)
    call_command("import_suite", SUITE, verbosity=0)


def upload_all(texts: list[str]) -> float:
    """Send the records as a few files, each of an account of its own; seconds."""
    from ember_site.accounts.models import User
    from ember_site.runs import services

    senders = []
    for number in range(FILES):
        owner = User.objects.create_user(f"sender{number}")
        senders.append((owner, services.agent_create(owner=owner, fields={"name": f"sender {number}"})))
    start = time.perf_counter()
    for number, (owner, agent) in enumerate(senders):
        payload = "\n".join(texts[number::FILES]).encode()
        services.submission_create(owner=owner, agent=agent, payload=payload, filename="f", source="api")
    return time.perf_counter() - start


@contextmanager
def worker() -> Iterator[subprocess.Popen[bytes]]:
    """One real worker; it leaves when its standard input is closed."""
    command = [sys.executable, "-m", "django", "work", "--with-parent"]
    process = subprocess.Popen(command, cwd=ROOT, stdin=subprocess.PIPE)
    try:
        yield process
    finally:
        process.communicate(timeout=60)


def verify_all(total: int) -> dict[str, float]:
    """Wait for all verdicts; seconds from the first to the last, and the verdicts between them."""
    from ember_site.runs.models import Run, RunState

    with worker() as process:
        first: tuple[float, int] | None = None
        while True:
            now, done = (
                time.perf_counter(),
                Run.objects.exclude(state__in=[RunState.QUEUED, RunState.RUNNING]).count(),
            )
            if first is None and done:
                first = (now, done)
            if first is not None and done == total:
                return {"seconds": now - first[0], "verdicts": total - first[1]}
            if process.poll() is not None:
                raise SystemExit("the worker has ended")
            time.sleep(POLL_S)


def measure(count: int) -> dict[str, Any]:
    """All figures of one run."""
    from ember_site.runs.models import Run

    texts = records(count)
    size_bytes = sum(len(text) for text in texts)
    upload_s = upload_all(texts)
    worked = verify_all(count)
    parse_s = parse_seconds(texts)
    verify_s = worked["seconds"] / worked["verdicts"] * count
    return {
        "records": count,
        "bytes": size_bytes,
        "verified": Run.objects.filter(code="verified").count(),
        "upload_s": upload_s,
        "verify_s": verify_s,
        "json_s": parse_s,
        "uploaded_a_second": count / upload_s,
        "verified_a_second": count / verify_s,
        "whole_path_a_second": count / (upload_s + verify_s),
        "json_a_second": count / parse_s,
        "whole_path_times_json": (upload_s + verify_s) / parse_s,
    }


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
        print(
            f"{figures['records']} records, {figures['bytes']:,} bytes: "
            f"{figures['whole_path_a_second']:.0f} a second through the whole path with one worker "
            f"(stored and queued {figures['uploaded_a_second']:.0f}, "
            f"verified {figures['verified_a_second']:.0f} a second); "
            f"json.loads over the same bytes {figures['json_a_second']:.0f} a second, "
            f"so the whole path takes {figures['whole_path_times_json']:.1f} times as long"
        )
    return 0 if figures["verified"] == figures["records"] else 1


if __name__ == "__main__":
    sys.exit(main())
