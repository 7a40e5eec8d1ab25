"""`ember show` and `ember hash`."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from pathlib import Path

import pytest
from typer.testing import Result

from simulator import Scenario, load_suite
from tests.command.conftest import PUBLIC, ROOT, Process, on_a_terminal

Invoke = Callable[..., Result]
FIXTURES = sorted((ROOT / "scenarios" / "fixtures").glob("*.json"))
FILES = sorted(PUBLIC.glob("v1-*.json")) + FIXTURES


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.stem))
def test_every_shipped_scenario_is_shown_with_its_map_and_hash(invoke: Invoke, path: Path) -> None:
    scenario = Scenario.from_json(path.read_bytes())
    done = invoke("show", str(path))
    assert done.exit_code == 0, done.output
    shown = done.stdout.splitlines()
    start = shown.index(scenario.ascii_layout()[0])
    assert shown[start : start + scenario.height] == scenario.ascii_layout()
    assert scenario.content_hash in done.stdout
    assert scenario.hazard in done.stdout
    assert f"at most {scenario.max_steps} steps" in done.stdout


def test_a_pipe_gets_no_colours_and_a_terminal_does(ember: Callable[..., Process]) -> None:
    assert "\x1b" not in ember("show", "multiple_exits").stdout
    shown = on_a_terminal("show", "multiple_exits")
    assert "\x1b[" in shown
    assert "E1" in shown


def test_wide_maps_are_not_wrapped(invoke: Invoke, tmp_path: Path) -> None:
    document = json.loads(FIXTURES[0].read_text())
    document["grid"] = {"width": 1024, "height": 1024}
    (tmp_path / "wide.json").write_text(json.dumps(document))
    done = invoke("show", "wide.json")
    assert done.exit_code == 0, done.output
    assert sum(len(line) == 1024 for line in done.stdout.splitlines()) == 1024


def test_a_description_cannot_steer_the_terminal(invoke: Invoke, tmp_path: Path) -> None:
    document = json.loads(FIXTURES[0].read_text())
    document["description"] = "\x1b]0;owned\x07 [red]not markup[/red] \x9b2J \u202eevil :fire:\nsecond line"
    (tmp_path / "s.json").write_text(json.dumps(document))
    for shown in (invoke("show", "s.json").stdout, on_a_terminal("show", str(tmp_path / "s.json"))):
        assert "\\u001b]0;owned\\u0007 [red]not markup[/red] \\u009b2J \\u202eevil :fire:" in shown
        assert "second line" in shown


def test_json_of_a_scenario(invoke: Invoke) -> None:
    answer = json.loads(invoke("show", "v1-pub-10-route-invalidation", "--json").stdout)
    assert set(answer) == {
        "ok", "scenario_id", "scenario_hash", "description", "width", "height", "population", "exit_count",
        "ignition_count", "hazard", "rules", "seed", "layout",
    }  # fmt: skip
    assert set(answer["rules"]) == {
        "fire_model", "spread_interval", "spread_probability", "exits_flammable", "enter_fire",
        "conflict_resolution", "max_steps",
    }  # fmt: skip
    assert (answer["hazard"], answer["seed"], answer["population"]) == ("sto/1 p=0.5", "0", 6)


@pytest.mark.parametrize("command", ["show", "run"])
def test_a_bad_scenario_is_refused_with_its_place(invoke: Invoke, tmp_path: Path, command: str) -> None:
    document = json.loads(FIXTURES[0].read_text())
    document["people"][0]["position"] = [0, 99]
    (tmp_path / "s.json").write_text(json.dumps(document))
    options = ["-p", "stay"] if command == "run" else []
    done = invoke(command, "s.json", *options)
    assert done.exit_code == 1
    assert done.stderr.startswith("ember: s.json: people[0].position[1]: expected 0 to ")
    answer = json.loads(invoke(command, "s.json", *options, "--json").stdout)
    assert answer["error"]["code"] == "scenario_format"
    assert (answer["error"]["file"], answer["error"]["place"]) == ("s.json", "people[0].position[1]")


# --- hash -------------------------------------------------------------------------------------------------


def test_the_three_kinds_are_told_apart_and_hashed(
    invoke: Invoke, tmp_path: Path, greedy_lines: list[str]
) -> None:
    (tmp_path / "r.json").write_text(greedy_lines[0] + "\n")
    scenario = str(PUBLIC / "v1-pub-01-single-exit-sparse.json")
    suite = load_suite(PUBLIC)
    done = invoke("hash", scenario, str(PUBLIC / "manifest.json"), "r.json")
    assert done.exit_code == 0
    assert done.stderr == ""
    assert done.stdout.splitlines() == [
        f"scenario  {suite.scenarios[0].content_hash}  {scenario}",
        f"manifest  {suite.suite_hash}  {PUBLIC / 'manifest.json'}",
        f"record  {hashlib.sha256(greedy_lines[0].encode()).hexdigest()}  r.json:1",
    ]


def test_every_record_of_a_file_gets_its_digest(
    invoke: Invoke, tmp_path: Path, greedy_lines: list[str]
) -> None:
    (tmp_path / "runs.jsonl").write_text("\n".join(greedy_lines))
    lines = invoke("hash", "runs.jsonl").stdout.splitlines()
    assert [line.split()[1] for line in lines] == [
        hashlib.sha256(text.encode()).hexdigest() for text in greedy_lines
    ]


def test_a_record_is_hashed_without_making_one_tree_of_it(
    invoke: Invoke, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, greedy_lines: list[str]
) -> None:
    def refuse(text: bytes) -> None:
        raise AssertionError("a large record would take thirty times the memory of its text")

    monkeypatch.setattr("simulator.command.hash.parse_json", refuse)
    (tmp_path / "r.json").write_text(json.dumps(json.loads(greedy_lines[0]), indent=1))
    done = invoke("hash", "r.json")
    assert done.exit_code == 0, done.stderr
    assert hashlib.sha256(greedy_lines[0].encode()).hexdigest() in done.stdout


@pytest.mark.parametrize("name", ["v1-pub-01-single-exit-sparse.json", "manifest.json"])
def test_another_form_is_noted_and_changes_no_hash(invoke: Invoke, tmp_path: Path, name: str) -> None:
    good = json.loads(invoke("hash", str(PUBLIC / name), "--json").stdout)
    (tmp_path / "x.json").write_text(json.dumps(json.loads((PUBLIC / name).read_text())))
    done = invoke("hash", "x.json")
    assert done.exit_code == 0
    assert "not in canonical form" in done.stderr
    other = json.loads(invoke("hash", "x.json", "--json").stdout)
    assert set(good) == {"ok", "file", "line", "kind", "hash", "canonical_form"}
    assert (good["canonical_form"], other["canonical_form"]) == (True, False)
    assert good["hash"] == other["hash"]


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"{}", "neither a scenario, nor a suite manifest, nor a run record"),
        (b"[1]", "a list"),
        (b"17", "neither"),
        (b'{"header": {}}', "initial: expected this key"),
        (b'{"grid": {}}', "schema_version"),
        (b"", "empty"),
        (b"\xff\xff", "not UTF-8"),
        (b'{"suite_id": 1, "suite_id": 2}', "suite_id: expected each key once"),
        (b'{"suite_id": "a"}', "suite_version: expected this key"),
        (b'{"grid": NaN}', "grid: expected a finite number"),
    ],
)
def test_what_is_none_of_the_three_is_refused(
    invoke: Invoke, tmp_path: Path, content: bytes, said: str
) -> None:
    (tmp_path / "x.json").write_bytes(content)
    done = invoke("hash", "x.json")
    assert done.exit_code == 1
    assert said in done.stderr
    assert done.stderr.startswith("ember: x.json: ")
    assert json.loads(invoke("hash", "x.json", "--json").stdout)["error"]["code"] == "document_format"
