"""
How fast is a step, and how much memory does a run take?

Runs each baseline on the 100-person scenario of the public suite and replays the record, best of a few
rounds. A *person-step* is one active person in one step. Memory is the peak of Python's own allocations
(tracemalloc), measured in a pass of its own, since measuring slows.

    python benchmarks/step_speed.py [--rounds 5] [--json]
"""

from __future__ import annotations

import argparse
import json
import sys
import time
import tracemalloc
from collections.abc import Callable
from pathlib import Path
from typing import Any

from simulator import Scenario, policies, replay, run_episode

SCENARIO = (
    Path(__file__).resolve().parent.parent
    / "scenarios"
    / "public"
    / "v1"
    / "v1-pub-09-crowd-100-split-flow.json"
)


def best_seconds(work: Callable[[], object], rounds: int) -> float:
    times = []
    for _ in range(rounds):
        start = time.perf_counter()
        work()
        times.append(time.perf_counter() - start)
    return min(times)


def peak_bytes(work: Callable[[], object]) -> int:
    tracemalloc.start()
    work()
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    return peak


def measure(scenario: Scenario, name: str, rounds: int) -> dict[str, Any]:
    """Speed and memory of running one baseline and of verifying its record."""
    policy = policies.BASELINES[name]()
    record = run_episode(scenario, policy)
    text = record.to_json()
    steps = record.to_dict()["steps"]
    person_steps = sum(len(step["actions"]) for step in steps)
    run_s = best_seconds(lambda: run_episode(scenario, policy), rounds)
    verify_s = best_seconds(lambda: replay(text, scenario), rounds)
    return {
        "policy": name,
        "steps": len(steps),
        "person_steps": person_steps,
        "record_bytes": len(text),
        "run_steps_per_s": round(len(steps) / run_s),
        "verify_steps_per_s": round(len(steps) / verify_s),
        "verify_person_steps_per_s": round(person_steps / verify_s),
        "run_peak_bytes": peak_bytes(lambda: run_episode(scenario, policy)),
        "verify_peak_bytes": peak_bytes(lambda: replay(text, scenario)),
    }


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    scenario = Scenario.from_json(SCENARIO.read_bytes())
    rows = [measure(scenario, name, options.rounds) for name in policies.BASELINES]
    if options.json:
        print(json.dumps(rows))
        return 0
    for row in rows:
        print(
            f"{row['policy']:<7} {row['steps']:>4} steps, record {row['record_bytes']:>9,} bytes; "
            f"run {row['run_steps_per_s']:>6,} steps/s, peak {row['run_peak_bytes'] / 2**20:.1f} MiB; "
            f"verify {row['verify_steps_per_s']:>6,} steps/s "
            f"({row['verify_person_steps_per_s']:,} person-steps/s), "
            f"peak {row['verify_peak_bytes'] / 2**20:.1f} MiB"
        )
    return 0


if __name__ == "__main__":
    sys.exit(main())
