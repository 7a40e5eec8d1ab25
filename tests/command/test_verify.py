"""`ember verify`: the verdict of each record, with file and line; the same one that the site gives."""

from __future__ import annotations

import gzip
import json
import tracemalloc
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from typer.testing import Result

from simulator import Scenario, Simulator, VerdictCode, policies, run_episode
from simulator.command.sources import ScenarioLibrary
from simulator.command.verify import records_judge
from simulator.limits import LIMITS, MIB
from tests.command.conftest import PUBLIC, ROOT, Process

Invoke = Callable[..., Result]
DATA: dict[str, Any] = json.loads((ROOT / "tests" / "data" / "mismatch_cases.json").read_text())
KEYS = {
    "file", "line", "verified", "code", "message", "place", "expected", "actual", "digest", "metrics",
    "limit", "scenario_id", "scenario_hash", "seed",
}  # fmt: skip


@pytest.fixture
def runs(tmp_path: Path, greedy_lines: list[str]) -> Path:
    path = tmp_path / "runs.jsonl"
    path.write_text("\n".join(greedy_lines) + "\n")
    return path


def forged(line: str) -> str:
    """The record of scenario 01 with one movement of step 3 turned into another."""
    record = json.loads(line)
    record["steps"][2]["movements"]["P002"] = "blocked_conflict"
    return json.dumps(record)


def test_ten_records_verify_one_a_line(ember: Callable[..., Process], runs: Path) -> None:
    done = ember("verify", "runs.jsonl")
    assert done.returncode == 0
    lines = done.stdout.splitlines()
    assert len(lines) == 10
    assert lines[8] == "runs.jsonl:9: verified  73 of 100 evacuated  60 steps  v1-pub-09-crowd-100-split-flow"
    assert done.stderr == "10 records: 10 verified\n"


def test_a_forged_record_is_named_with_line_place_and_both_values(
    invoke: Invoke, tmp_path: Path, greedy_lines: list[str]
) -> None:
    (tmp_path / "runs.jsonl").write_text(
        "\n".join([greedy_lines[1], forged(greedy_lines[0]), greedy_lines[2]])
    )
    done = invoke("verify", "runs.jsonl")
    assert done.exit_code == 1
    first, second, third = done.stdout.splitlines()
    assert ": verified  " in first
    assert ": verified  " in third
    assert second == (
        "runs.jsonl:2: replay_mismatch  steps[2].movements.P002 (step 3): "
        "record says blocked_conflict, replay says moved"
    )


def test_gzipped_indented_and_piped_records_are_the_same_records(
    invoke: Invoke, tmp_path: Path, runs: Path, greedy_lines: list[str]
) -> None:
    (tmp_path / "runs.jsonl.gz").write_bytes(gzip.compress(runs.read_bytes()))
    (tmp_path / "one.json").write_text(json.dumps(json.loads(greedy_lines[0]), indent=4))
    done = invoke("verify", "runs.jsonl.gz", "one.json", "-", stdin=runs.read_bytes())
    assert done.exit_code == 0
    lines = done.stdout.splitlines()
    assert len(lines) == 21
    assert lines[10].startswith("one.json:1: verified  4 of 4")
    assert lines[11].startswith("stdin:1: verified")


@pytest.mark.parametrize("case", DATA["cases"], ids=lambda case: str(case["name"]))
def test_the_cases_of_the_trials_get_their_code_and_place(
    invoke: Invoke, tmp_path: Path, case: dict[str, Any]
) -> None:
    (tmp_path / "scenario.json").write_text(json.dumps(DATA["scenario"]))
    (tmp_path / "record.json").write_text(case["record"])
    done = invoke("verify", "record.json", "--scenario", "scenario.json", "--json")
    [answer] = [json.loads(line) for line in done.stdout.splitlines()]
    assert set(answer) == KEYS
    code = "scenario_unknown" if case["name"] == "other_hash" else case["code"]
    assert (answer["code"], answer["place"] or None) == (code, case["place"] or None)
    assert answer["verified"] is (code == "verified")
    assert done.exit_code == (0 if code == "verified" else 1)


def test_json_lines_have_all_keys_and_a_seed_that_survives_javascript(invoke: Invoke, tmp_path: Path) -> None:
    scenario = Scenario.from_json((PUBLIC / "v1-pub-10-route-invalidation.json").read_bytes())
    seed = 2**64 - 1
    (tmp_path / "r.json").write_text(run_episode(scenario, policies.greedy, seed=seed).to_json())
    [answer] = [json.loads(line) for line in invoke("verify", "r.json", "--json").stdout.splitlines()]
    assert set(answer) == KEYS
    assert answer["seed"] == str(seed)
    assert (answer["file"], answer["line"], answer["code"]) == ("r.json", 1, "verified")
    assert answer["metrics"]["population"] == 6
    assert answer["scenario_hash"] == scenario.content_hash


def test_an_unfinished_run_is_never_good(invoke: Invoke, tmp_path: Path) -> None:
    simulator = Simulator(Scenario.from_json((PUBLIC / "v1-pub-01-single-exit-sparse.json").read_bytes()))
    simulator.step(policies.greedy(simulator.observe()))
    (tmp_path / "r.json").write_text(simulator.record().to_json())
    done = invoke("verify", "r.json")
    assert done.exit_code == 1
    assert "r.json:1: record_incomplete  " in done.stdout


# --- which scenario ---------------------------------------------------------------------------------------


def test_named_scenarios_replace_the_shipped_ones(invoke: Invoke, runs: Path) -> None:
    done = invoke("verify", "runs.jsonl", "--scenario", str(PUBLIC / "v1-pub-04-unequal-exits.json"))
    assert done.exit_code == 1
    codes = [line.split(": ")[1].split("  ")[0] for line in done.stdout.splitlines()]
    assert codes == ["scenario_unknown"] * 3 + ["verified"] + ["scenario_unknown"] * 6


def test_a_record_of_an_older_scenario_shows_both_hashes(
    invoke: Invoke, tmp_path: Path, greedy_lines: list[str]
) -> None:
    document = json.loads((PUBLIC / "v1-pub-01-single-exit-sparse.json").read_text())
    document["description"] += " Changed."
    changed = Scenario.from_dict(document)
    (tmp_path / "changed.json").write_text(changed.to_indented_json())
    (tmp_path / "r.json").write_text(greedy_lines[0])
    done = invoke("verify", "r.json", "--scenario", "changed.json")
    assert done.exit_code == 1
    assert changed.content_hash in done.stdout
    assert json.loads(greedy_lines[0])["header"]["scenario_hash"] in done.stdout


def test_fixtures_are_known_too(invoke: Invoke) -> None:
    assert invoke("run", "stochastic_room", "-p", "greedy", "-o", "r.json").exit_code == 0
    assert invoke("verify", "r.json").exit_code == 0


def test_without_any_scenarios_it_says_what_to_do(
    invoke: Invoke, runs: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("simulator.command.sources.shipped_directory", lambda: None)
    done = invoke("verify", "runs.jsonl")
    assert done.exit_code == 2
    assert "--suite DIR or --scenario FILE" in done.stderr
    assert invoke("verify", "runs.jsonl", "--suite", str(PUBLIC)).exit_code == 0


# --- bad files --------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("content", "code", "said"),
    [
        (b"", "record_format", "empty"),
        (b"\x89PNG\r\n\x1a\n" + bytes(40), "record_format", "PNG image"),
        (b"\xef\xbb\xbf{}", "record_format", "byte order mark"),
        ("{}".encode("utf-16"), "record_format", "UTF-16"),
        (b'{"a": "\xff"}', "record_format", "not UTF-8"),
        (gzip.compress(b"{}" * 99)[:-4], "record_format", "cut"),
        (gzip.compress(bytes(1000)), "record_format", "UTF-16"),
        (gzip.compress(b" " * (LIMITS.unpacked_bytes + 1)), "limit_exceeded", "64 MiB unpacked"),
        (b" " * (LIMITS.file_bytes + 1), "limit_exceeded", "16 MiB a file"),
        (b"\n" * 6 + b"{bad", "record_format", "expected JSON"),
        (b"[" * 100_000, "record_format", "got a list"),
        (b'{"header": ' + b"[" * 100_000, "record_format", "nested"),
        (b'{"header": {"seed": ' + b"9" * 10_000 + b"}}", "record_format", "digits"),
        (b'{"header": 1}', "record_format", "header"),
        (b"17", "record_format", "expected"),
        (b'{"header": NaN}', "record_format", "NaN"),
    ],
)  # fmt: skip
def test_bad_files_get_code_sentence_and_line(
    invoke: Invoke, tmp_path: Path, content: bytes, code: str, said: str
) -> None:
    (tmp_path / "bad.jsonl").write_bytes(content)
    done = invoke("verify", "bad.jsonl")
    assert done.exit_code == 1
    [line] = done.stdout.splitlines()
    where = 7 if content.startswith(b"\n") else 1
    assert line.startswith(f"bad.jsonl:{where}: {code}  ")
    assert said in line
    assert len(line) < 400
    assert "Traceback" not in done.output


def test_a_bad_line_never_hurts_the_good_ones(
    invoke: Invoke, tmp_path: Path, greedy_lines: list[str]
) -> None:
    lines = [*greedy_lines[:6], "{bad", *greedy_lines[6:]]
    (tmp_path / "runs.jsonl").write_text("\n".join(lines))
    done = invoke("verify", "runs.jsonl")
    assert done.exit_code == 1
    assert done.stdout.count(": verified  ") == 10
    assert "runs.jsonl:7: record_format  " in done.stdout
    assert "10 verified" in done.stderr


def test_too_many_records_are_refused_after_the_allowed_ones(invoke: Invoke, tmp_path: Path) -> None:
    (tmp_path / "many.jsonl").write_text("{}\n" * 2001)
    answers = [json.loads(line) for line in invoke("verify", "many.jsonl", "--json").stdout.splitlines()]
    assert [answer["code"] for answer in answers] == ["record_format"] * 2000 + ["limit_exceeded"]
    assert (answers[-1]["line"], answers[-1]["limit"]) == (2001, 2000)
    assert "limit_exceeded" not in invoke("verify", "many.jsonl", "--no-limits").stdout


def test_memory_does_not_grow_with_the_file(tmp_path: Path, greedy_lines: list[str]) -> None:
    path = tmp_path / "many.jsonl"
    path.write_text((greedy_lines[3] + "\n") * 400)
    assert path.stat().st_size > 1.9 * MIB
    library = ScenarioLibrary.of([], [str(PUBLIC)])
    tracemalloc.start()
    codes = {judged.verdict.code for judged in records_judge(str(path), library, LIMITS)}
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert codes == {VerdictCode.VERIFIED}
    assert peak < MIB / 2


def test_an_unreadable_file_does_not_stop_the_others(invoke: Invoke, runs: Path) -> None:
    done = invoke("verify", "absent.jsonl", "runs.jsonl", ".")
    assert done.exit_code == 2
    assert done.stdout.count(": verified  ") == 10
    assert "ember: absent.jsonl: no such file" in done.stderr
    assert "ember: .: this is a directory" in done.stderr
    answers = [
        json.loads(line)
        for line in invoke("verify", "absent.jsonl", "runs.jsonl", "--json").stdout.splitlines()
    ]
    assert answers[0] == {
        "ok": False,
        "error": {
            "code": "file_unreadable",
            "message": "no such file",
            "file": "absent.jsonl",
            "place": None,
        },
    }
    assert len(answers) == 11


def test_nothing_in_a_record_can_steer_the_terminal(
    invoke: Invoke, tmp_path: Path, greedy_lines: list[str]
) -> None:
    record = json.loads(greedy_lines[0])
    record["steps"][0]["movements"]["P001"] = "\x1b[2J\x07moved\u202e"
    (tmp_path / "r.json").write_text(json.dumps(record))
    done = invoke("verify", "r.json")
    assert done.exit_code == 1
    assert not any(sign in done.output for sign in "\x1b\x07\u202e")


def test_a_fault_in_the_json_names_the_line_of_the_file(
    invoke: Invoke, tmp_path: Path, greedy_lines: list[str]
) -> None:
    (tmp_path / "runs.jsonl").write_text("\n".join([*greedy_lines[:6], '{"header": oops', greedy_lines[7]]))
    done = invoke("verify", "runs.jsonl")
    assert done.exit_code == 1
    assert "at line 7, column 12 " in done.stdout.splitlines()[6]
