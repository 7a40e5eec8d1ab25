"""
How much memory does an upload need, whatever is in the file?

Each case runs in a fresh process: it sets up the site on an empty SQLite database, takes in a small upload
so that everything is loaded, notes the peak of its resident memory, and then takes the case through the
submission service of page and API and the worker's verification (`site`), or through the replay check alone
(`replay`).
Printed is by how much the peak has grown, in MiB. Exit code 1 where one grew beyond the ceiling.

    python benchmarks/upload_memory.py [--case NAME]... [--path site] [--json]

Needs the site's dependencies, and Linux or macOS.
"""

from __future__ import annotations

import argparse
import gzip
import io
import json
import resource
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from benchmarks.fresh_site import site_setup  # noqa: E402
from simulator import Scenario, Simulator, policies, replay, run_episode  # noqa: E402
from simulator.limits import LIMITS, MIB  # noqa: E402

CEILING_MIB = 320
"""What an upload may add to the memory of a process."""

FULL = LIMITS.unpacked_bytes - 1024
PEOPLE = 100
VERIFIED = 50  # of the records of one upload; the worker takes one at a time, so more would show nothing new
MANY = ("2,000 records", "64 MiB of records of 4 MiB")


# --- what is uploaded -------------------------------------------------------------------------------


def crowd(max_steps: int = 100_000) -> Scenario:
    """A hundred people in a closed room far from a slow fire: a record of it is as long as one likes."""
    people = [{"id": f"P{n:03}", "position": [n // 10, n % 10]} for n in range(PEOPLE)]
    document = {
        "schema_version": "1.0",
        "scenario_id": "crowd",
        "grid": {"width": 15, "height": 10},
        "obstacles": [[row, 11] for row in range(10)],
        "exits": [{"id": "E1", "position": [9, 14]}],
        "people": people,
        "ignitions": [[0, 14]],
        "fire": {"model": "deterministic", "spread_interval": max_steps, "exits_flammable": True},
        "movement": {"conflict_resolution": "lowest_id_wins", "enter_fire": "casualty"},
        "termination": {"max_steps": max_steps},
        "seed": 0,
    }
    return Scenario.from_dict(document)


def long_record(size_bytes: int = FULL) -> bytes:
    """The canonical text of a run of the crowd that has not ended, just below that size."""
    simulator = Simulator(crowd())
    text = len(simulator.record_text())
    while True:
        actions = dict.fromkeys(simulator.active_ids, "stay")
        simulator.step(actions)
        text += len(simulator.last_step_text()) + 1
        if text + len(simulator.last_step_text()) + 100 > size_bytes:
            return simulator.record_text().encode()


def changed_at_the_end(record: bytes) -> bytes:
    """The record with its very last position changed: only a comparison to the end finds it."""
    head, mark, tail = record.rpartition(b'"position":[9,9]')
    return head + mark.replace(b"9,9", b"9,8") + tail


def stuffed(where: str, unit: str, last: str) -> bytes:
    """A record of the crowd with as many `unit` behind the mark `where` as the file can hold, then `last`."""
    head, mark, tail = long_record(40_000).decode().partition(where)
    room = FULL - len(head + mark + last + tail)
    return b"".join(
        [(head + mark).encode(), unit.encode() * (room // len(unit.encode())), (last + tail).encode()]
    )


def distinct_actions() -> bytes:
    """A step with millions of actions of people who do not exist."""
    head, mark, tail = long_record(40_000).decode().partition('"actions":{')
    names = ",".join(f'"{n:x}":""' for n in range(0xFFFFFF, 0xFFFFFF - (FULL - 45_000) // 12, -1))
    return f"{head}{mark}{names},{tail}".encode()


def many_records() -> bytes:
    """2,000 different records."""
    scenario = Scenario.from_json(
        (ROOT / "scenarios/public/v1/v1-pub-01-single-exit-sparse.json").read_bytes()
    )
    lines = [run_episode(scenario, policies.make_random(n), seed=n).to_json() for n in range(LIMITS.records)]
    return "\n".join(lines).encode()[: LIMITS.unpacked_bytes]


def full_file() -> bytes:
    """64 MiB unpacked of records of a few MiB each."""
    record = long_record(4 * MIB)
    return b"\n".join([record] * (LIMITS.unpacked_bytes // (len(record) + 1)))


def bomb() -> bytes:
    """2 GiB of blanks, gzipped to 2 MiB."""
    packed = io.BytesIO()
    with gzip.GzipFile(fileobj=packed, mode="wb", mtime=0) as stream:
        for _ in range(2048):
            stream.write(b" " * MIB)
    return packed.getvalue()


Make = Callable[[], bytes]
UPLOADS: dict[str, Make] = {
    "gzip bomb of 2 GiB": bomb,
    "2,000 records": many_records,
    "64 MiB of records of 4 MiB": full_file,
    "one good record of 64 MiB": long_record,
    "one record of 64 MiB, the last position changed": lambda: changed_at_the_end(long_record()),
    "64 MiB of empty lists": lambda: stuffed('"ignitions":[', "[],", "[]"),
    "64 MiB of small objects": lambda: stuffed('"casualties":[', '{"":1},', "{}"),
    "64 MiB of distinct actions": distinct_actions,
    "64 MiB of numbers in the header": lambda: stuffed('{"header":{', '"a":1,', '"b":1,'),
    "64 MiB of steps that are none": lambda: stuffed('"steps":[', '{"actions":{}},', ""),
    "64 MiB of keys": lambda: stuffed("{", '"":{},', ""),
    "64 MiB of brackets": lambda: stuffed('"ignitions":[', "[", ""),
    "64 MiB of signs beyond ASCII": lambda: stuffed('"observation_version":"', "\U0001f525", ""),
    "64 MiB of white space": lambda: stuffed('"observation_version":', " ", ""),
}  # fmt: skip


# --- the fresh process ------------------------------------------------------------------------------


def peak_bytes() -> int:
    """The largest resident memory of this process so far."""
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak if sys.platform == "darwin" else peak * 1024


def site_open(data: str) -> Callable[[bytes], str]:
    """An empty site in this process; the function uploads a file and gives the outcome in a word."""
    site_setup(data)
    from ember_site.accounts.models import User
    from ember_site.catalog.models import Scenario as Row
    from ember_site.runs import services
    from ember_site.runs.errors import SubmissionRefused
    from ember_site.runs.models import SubmissionSource

    scenario = crowd()
    Row.objects.create(
        content_hash=scenario.content_hash, scenario_id=scenario.scenario_id, document=scenario.to_json(),
        schema_version="1.0", width=scenario.width, height=scenario.height, population=PEOPLE, exit_count=1,
        ignition_count=1, fire_model="deterministic", hazard=scenario.hazard, max_steps=scenario.max_steps,
    )  # fmt: skip
    owner = User.objects.create_user("sender")
    agent = services.agent_create(owner=owner, fields={"name": "sender"})

    def upload(payload: bytes) -> str:
        try:
            submission = services.submission_create(
                owner=owner, agent=agent, payload=payload, filename="f", source=SubmissionSource.API
            )
        except SubmissionRefused as refused:
            return f"refused, {refused.error_code} {refused.place or ''}".strip()
        taken = [pk for pk in submission.lines.values_list("run_id", flat=True) if pk]
        runs = [services.run_verify(run_id=pk) for pk in taken[:VERIFIED]]
        codes = sorted({run.code for run in runs})
        return f"{len(taken)} taken, {', '.join(codes)} {runs[0].place}".strip()

    return upload


def measure_here(path: str, *, through_site: bool) -> dict[str, Any]:
    """Grow this process by one case."""
    small = long_record(40_000)
    with tempfile.TemporaryDirectory() as data:
        if through_site:
            upload = site_open(data)
        else:
            scenario = crowd()

            def upload(payload: bytes) -> str:
                verdict = replay(payload, scenario)
                return f"{verdict.code} {verdict.place or ''}".strip()

        upload(small)
        upload(changed_at_the_end(small))
        before = peak_bytes()
        outcome = upload(Path(path).read_bytes())
        return {"grown_bytes": peak_bytes() - before, "outcome": outcome}


def measure(name: str, only: str | None) -> Iterator[dict[str, Any]]:
    """
    Measure one case, each way in a process of its own.

    This process stays small: a new one inherits the peak of the one that started it.
    """
    with tempfile.TemporaryDirectory() as folder:
        plain, packed = Path(folder, "plain"), Path(folder, "packed")
        _child("--make", name, plain, packed)
        one_record = plain.exists() and plain.stat().st_size > 8 * MIB and name not in MANY
        for path, options in (("site", [packed, "--through-site"]), ("replay", [plain])):
            if only in (None, path) and (path == "site" or one_record):
                yield {"case": name, "path": path, **json.loads(_child("--measure", *options))}


def make_here(name: str, plain: Path, packed: Path) -> None:
    """Write the file of a case as text and as it is sent."""
    payload = UPLOADS[name]()
    if not payload.startswith(b"\x1f\x8b"):
        plain.write_bytes(payload)
        payload = gzip.compress(payload, 1, mtime=0)
    packed.write_bytes(payload)


def _child(*arguments: str | Path) -> str:
    command = [sys.executable, __file__, *map(str, arguments)]
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=False)
    if done.returncode:
        raise SystemExit(f"this failed: {' '.join(command)}")
    return done.stdout


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--case", action="append", choices=UPLOADS, help="only this one; may be repeated")
    parser.add_argument("--path", choices=["site", "replay"], help="only this way")
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--make", nargs=3, help=argparse.SUPPRESS)
    parser.add_argument("--measure", help=argparse.SUPPRESS)
    parser.add_argument("--through-site", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.make:
        make_here(options.make[0], Path(options.make[1]), Path(options.make[2]))
        return 0
    if options.measure:
        print(json.dumps(measure_here(options.measure, through_site=options.through_site)))
        return 0
    worst = 0
    for name in options.case or UPLOADS:
        for figure in measure(name, options.path):
            worst = max(worst, figure["grown_bytes"])
            text = f"{figure['grown_bytes'] / MIB:6.0f} MiB  {figure['path']:<6}  {name}: {figure['outcome']}"
            print(json.dumps(figure) if options.json else text, flush=True)
    return 1 if worst > CEILING_MIB * MIB else 0


if __name__ == "__main__":
    sys.exit(main())
