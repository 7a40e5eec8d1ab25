"""
How long does the replay check take, measured against merely parsing the same bytes?

Verifies the ten greedy records of the public suite, and runs `json.loads` over the same ten texts, turn
about in one process, so that a busy machine slows both alike. Prints one line; exit code 1 where a median
ratio is above the bound.

    python benchmarks/replay_vs_json.py [--rounds 30] [--bound 3.0] [--json]
"""

from __future__ import annotations

import argparse
import gc
import json
import statistics
import sys
import time
from collections.abc import Callable
from pathlib import Path

from simulator import Scenario, fire, ground, load_suite, policies, replay, run_episode
from simulator.kept import Kept

SUITE = Path(__file__).resolve().parent.parent / "scenarios" / "public" / "v1"
BOUND = 3.0
CLOCK = time.perf_counter if sys.platform == "win32" else time.process_time
"""Processor time does not count what others do meanwhile; on Windows it is too coarse for this."""

Task = tuple[Scenario, bytes]


def greedy_records() -> list[Task]:
    """Scenario and canonical record text of each scenario of the public suite."""
    return [
        (scenario, run_episode(scenario, policies.greedy).to_json().encode())
        for scenario in load_suite(SUITE).scenarios
    ]


def forget_trajectories() -> None:
    """As in a fresh process: no terrain and no fire is known yet."""
    fire._trajectories = Kept(64)
    ground._grounds = Kept(64)


def parse_all(tasks: list[Task]) -> None:
    for _, text in tasks:
        json.loads(text)


def verify_all(tasks: list[Task]) -> None:
    for scenario, text in tasks:
        verdict = replay(text, scenario)
        if not verdict.verified:
            raise SystemExit(f"{scenario.scenario_id}: {verdict.message}")


def timed(work: Callable[[list[Task]], None], tasks: list[Task]) -> float:
    """Seconds of one pass; garbage of the pass before is not counted, the pass's own is."""
    gc.collect()
    start = CLOCK()
    work(tasks)
    return CLOCK() - start


def measure(rounds: int) -> dict[str, float]:
    """Times in milliseconds, ratios of verifying to parsing."""
    tasks = greedy_records()
    parsing: list[float] = []
    warm: list[float] = []
    cold: list[float] = []
    for number in range(rounds + 1):
        row = [timed(parse_all, tasks), timed(verify_all, tasks)]
        forget_trajectories()
        row.append(timed(verify_all, tasks))
        if number:  # the first round warms up
            for times, seconds in zip((parsing, warm, cold), row, strict=True):
                times.append(seconds)
    return {
        "bytes": sum(len(text) for _, text in tasks),
        "json_ms": min(parsing) * 1000,
        "verify_ms": min(warm) * 1000,
        "verify_cold_ms": min(cold) * 1000,
        "ratio_best": min(warm) / min(parsing),
        "ratio_median": statistics.median(w / p for w, p in zip(warm, parsing, strict=True)),
        "ratio_cold": statistics.median(c / p for c, p in zip(cold, parsing, strict=True)),
    }


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--rounds", type=int, default=30)
    parser.add_argument("--bound", type=float, default=BOUND)
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    figures = measure(options.rounds)
    if options.json:
        print(json.dumps({**figures, "rounds": options.rounds, "bound": options.bound}))
    else:
        print(
            f"verify / json.loads over the ten greedy records ({figures['bytes']:,} bytes): "
            f"{figures['ratio_best']:.2f} (best of {options.rounds}: {figures['verify_ms']:.1f} ms / "
            f"{figures['json_ms']:.1f} ms), median {figures['ratio_median']:.2f}, "
            f"with no fire computed yet {figures['ratio_cold']:.2f}; bound {options.bound}"
        )
    return 1 if max(figures["ratio_median"], figures["ratio_cold"]) > options.bound else 0


if __name__ == "__main__":
    sys.exit(main())
