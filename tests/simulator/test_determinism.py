"""T16: neither hash order nor a fresh process changes a byte, and the library stays pure."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from tests.simulator.builders import ROOT, golden_cases

FIFTY_DIGESTS = """
import json
from simulator import Scenario, Simulator, policies, run_episode
from tests.simulator.builders import golden_cases, public_documents

for case in golden_cases():
    simulator = Simulator(Scenario.from_json(json.dumps(case["scenario"])), case["seed"])
    for actions in case["actions"]:
        simulator.step(actions)
    print(simulator.record().digest, simulator.state_digest)
for name, document in sorted(public_documents().items()):
    record = run_episode(Scenario.from_json(json.dumps(document)), policies.make_random(5), seed=12345)
    print(record.digest)
"""

PURITY = """
import sys

class Guard:
    FORBIDDEN = ("django", "ember_site", "rest_framework", "channels", "asgiref")

    def find_spec(self, name, path=None, target=None):
        if name.split(".")[0] in self.FORBIDDEN:
            raise AssertionError(f"the simulator imports {name}")
        return None

sys.meta_path.insert(0, Guard())
import pkgutil
import simulator

for module in pkgutil.walk_packages(simulator.__path__, "simulator."):
    if not module.name.startswith("simulator.command"):
        __import__(module.name)
loaded = {name.split(".")[0] for name in sys.modules}
print(sorted(loaded & {*Guard.FORBIDDEN, "typer", "rich"}))
"""


def run_python(code: str, hash_seed: str) -> str:
    """Run code in a fresh interpreter and return what it prints."""
    environment = {**os.environ, "PYTHONHASHSEED": hash_seed, "PYTHONPATH": str(ROOT)}
    done = subprocess.run(
        [sys.executable, "-c", code], env=environment, cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_fifty_records_are_identical_under_every_hash_seed_in_fresh_processes() -> None:
    outputs = {run_python(FIFTY_DIGESTS, hash_seed) for hash_seed in ("0", "1", "42", "4294967295", "random")}
    assert len(outputs) == 1
    lines = outputs.pop().splitlines()
    assert len(lines) == 50
    assert [line.split()[0] for line in lines[:40]] == [case["record_digest"] for case in golden_cases()]


def test_the_simulator_imports_neither_django_nor_the_site() -> None:
    assert run_python(PURITY, "0").strip() == "[]"


@pytest.mark.parametrize("module", ["random", "time", "datetime", "secrets", "uuid"])
def test_the_simulator_uses_no_clock_and_no_global_randomness(module: str) -> None:
    for path in sorted((ROOT / "simulator").rglob("*.py")):
        if "command" in path.parts:
            continue
        text = path.read_text()
        assert f"import {module}\n" not in text, path.name
        assert f"from {module} import" not in text, path.name
