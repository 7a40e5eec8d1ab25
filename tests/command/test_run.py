"""`ember run`: records, where they go, and what is left behind when something fails."""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable
from pathlib import Path

import pytest
from typer.testing import Result

from simulator import RunRecord, Scenario, load_suite, policies, run_episode
from tests.command.conftest import PUBLIC, Process, on_a_terminal

Invoke = Callable[..., Result]
SCENARIO = str(PUBLIC / "v1-pub-04-unequal-exits.json")
FIXTURE = "narrow_corridor"

BREAKING_POLICY = """
def policy(observation):
    assert observation.step < 2
    return {p.id: "stay" for p in observation.people if p.status == "active"}
"""


def test_a_record_at_home_is_the_record_of_the_library(invoke: Invoke, tmp_path: Path) -> None:
    done = invoke("run", SCENARIO, "--policy", "greedy", "--seed", "7", "-o", "record.json")
    assert done.exit_code == 0, done.output
    scenario = Scenario.from_json(Path(SCENARIO).read_bytes())
    record = run_episode(scenario, policies.greedy, seed=7)
    assert (tmp_path / "record.json").read_text() == record.to_json() + "\n"
    assert "5 of 5 evacuated  9 steps" in done.stdout
    assert "1 record in record.json" in done.stdout


def test_a_shipped_scenario_is_found_by_its_id(invoke: Invoke) -> None:
    assert "4 of 4 evacuated" in invoke("run", FIXTURE, "-p", "greedy").stdout


@pytest.mark.parametrize("seed", ["0", "18446744073709551615"])
def test_the_seed_is_stored_exactly(invoke: Invoke, tmp_path: Path, seed: str) -> None:
    invoke("run", FIXTURE, "-p", "stay", "--seed", seed, "-o", "r.json")
    assert RunRecord.from_json((tmp_path / "r.json").read_text()).header.seed == int(seed)


def test_the_whole_suite_becomes_one_record_a_line(
    ember: Callable[..., Process], tmp_path: Path, greedy_lines: list[str]
) -> None:
    done = ember("run", "--suite", str(PUBLIC), "--policy", "greedy", "-o", "runs.jsonl")
    assert (done.returncode, done.stderr) == (0, "")
    assert (tmp_path / "runs.jsonl").read_text().splitlines() == greedy_lines
    assert done.stdout.count(" evacuated  ") == 10
    assert "10 records in runs.jsonl" in done.stdout


def test_a_terminal_sees_a_progress_bar_and_standard_output_stays_clean(tmp_path: Path) -> None:
    with (tmp_path / "said.txt").open("wb") as said:
        shown = on_a_terminal(
            "run", "--suite", str(PUBLIC), "-p", "stay", "-o", "r.jsonl", cwd=tmp_path, stdout=said.fileno()
        )
    assert "/10" in shown
    assert "v1-pub-" in shown
    lines = (tmp_path / "said.txt").read_text().splitlines()
    assert len(lines) == 11
    assert lines[-1] == "10 records in r.jsonl"


def test_a_name_that_ends_in_gz_is_gzipped_the_same_each_time(
    invoke: Invoke, tmp_path: Path, greedy_lines: list[str]
) -> None:
    contents = []
    for _ in range(2):
        assert invoke("run", "--suite", str(PUBLIC), "-p", "greedy", "-o", "runs.jsonl.gz").exit_code == 0
        contents.append((tmp_path / "runs.jsonl.gz").read_bytes())
    assert contents[0] == contents[1]
    assert gzip.decompress(contents[0]).decode().splitlines() == greedy_lines


def test_the_random_policy_has_a_seed_of_its_own(invoke: Invoke, tmp_path: Path) -> None:
    for policy_seed, name in (("0", "a"), ("1", "b")):
        invoke("run", FIXTURE, "-p", "random", "--policy-seed", policy_seed, "-o", name)
    invoke("run", FIXTURE, "-p", "random", "-o", "default")
    first, second, default = ((tmp_path / name).read_text() for name in ("a", "b", "default"))
    assert first == default
    assert first != second
    assert RunRecord.from_json(second).header.seed == RunRecord.from_json(first).header.seed


def test_standard_output_holds_the_record_alone(ember: Callable[..., Process]) -> None:
    done = ember("run", FIXTURE, "-p", "greedy", "-o", "-")
    assert done.returncode == 0
    assert RunRecord.from_json(done.stdout).to_json() + "\n" == done.stdout
    assert "4 of 4 evacuated" in done.stderr


def test_without_an_output_nothing_is_kept_and_it_says_so(invoke: Invoke, tmp_path: Path) -> None:
    before = sorted(tmp_path.iterdir())
    done = invoke("run", FIXTURE, "-p", "greedy")
    assert done.exit_code == 0
    assert "not kept" in done.stderr
    assert sorted(tmp_path.iterdir()) == before


def test_json_of_a_run(invoke: Invoke) -> None:
    answer = json.loads(invoke("run", SCENARIO, "-p", "greedy", "--json").stdout)
    assert set(answer) == {"ok", "policy", "output", "runs"}
    [row] = answer["runs"]
    assert set(row) == {"scenario_id", "scenario_hash", "seed", "digest", "reason", "metrics"}
    assert (row["seed"], row["reason"], row["metrics"]["evacuated"]) == ("0", "all_resolved", 5)
    assert len(row["digest"]) == 64


def test_a_failure_half_way_leaves_the_older_file_and_nothing_else(invoke: Invoke, tmp_path: Path) -> None:
    (tmp_path / "breaking.py").write_text(BREAKING_POLICY)
    (tmp_path / "runs.jsonl").write_text("older\n")
    before = sorted(path.name for path in tmp_path.iterdir())
    done = invoke("run", "--suite", str(PUBLIC), "-p", "breaking:policy", "-o", "runs.jsonl")
    assert done.exit_code == 1
    assert (tmp_path / "runs.jsonl").read_text() == "older\n"
    assert sorted(path.name for path in tmp_path.iterdir() if path.name != "__pycache__") == before


def test_an_existing_file_is_replaced_and_keeps_its_permissions(invoke: Invoke, tmp_path: Path) -> None:
    target = tmp_path / "r.json"
    target.write_text("older, and longer than nothing\n" * 1000)
    target.chmod(0o640)
    assert invoke("run", FIXTURE, "-p", "greedy", "-o", "r.json").exit_code == 0
    assert RunRecord.from_json(target.read_text())
    assert target.stat().st_mode & 0o777 == 0o640


def test_a_link_stays_a_link(invoke: Invoke, tmp_path: Path) -> None:
    (tmp_path / "real.json").write_text("older\n")
    (tmp_path / "link.json").symlink_to("real.json")
    assert invoke("run", FIXTURE, "-p", "greedy", "-o", "link.json").exit_code == 0
    assert (tmp_path / "link.json").is_symlink()
    assert RunRecord.from_json((tmp_path / "real.json").read_text())


def test_what_is_no_regular_file_is_written_to_directly(invoke: Invoke) -> None:
    assert invoke("run", FIXTURE, "-p", "greedy", "-o", "/dev/null").exit_code == 0
    assert Path("/dev/null").is_char_device()


@pytest.mark.parametrize(
    ("target", "said"),
    [
        ("no/such/r.json", "no such file or directory"),
        (".", "a directory"),
        ("round", "symbolic links"),
        ("n" * 300, "too long"),
    ],
)
def test_a_place_that_cannot_be_written_is_wrong_use(
    invoke: Invoke, tmp_path: Path, target: str, said: str
) -> None:
    (tmp_path / "round").symlink_to("round")
    done = invoke("run", FIXTURE, "-p", "greedy", "-o", target)
    assert done.exit_code == 2
    assert f"{target}: cannot be written" in done.stderr
    assert said in done.stderr


@pytest.mark.parametrize(
    "arguments",
    [
        ["run"],
        ["run", FIXTURE, "--suite", str(PUBLIC), "-p", "greedy"],
        ["run", FIXTURE],
        ["run", FIXTURE, "-p", "greedy", "--policy-seed", "3"],
        ["run", FIXTURE, "-p", "greedy", "--seed", "-1"],
        ["run", FIXTURE, "-p", "greedy", "--seed", "18446744073709551616"],
        ["run", FIXTURE, "-p", "greedy", "--seed", "1.0"],
        ["run", FIXTURE, "-p", "greedy", "-o", "-", "--json"],
    ],
)
def test_wrong_use_of_run(invoke: Invoke, arguments: list[str]) -> None:
    assert invoke(*arguments).exit_code == 2


def test_the_suite_is_run_in_id_order_with_the_given_seed(invoke: Invoke, tmp_path: Path) -> None:
    invoke("run", "--suite", str(PUBLIC), "-p", "stay", "--seed", "11", "-o", "runs.jsonl")
    records = [RunRecord.from_json(line) for line in (tmp_path / "runs.jsonl").read_text().splitlines()]
    assert [r.header.scenario_id for r in records] == [s.scenario_id for s in load_suite(PUBLIC).scenarios]
    assert {r.header.seed for r in records} == {11}
