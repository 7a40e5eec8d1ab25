"""The examples in the documents are real: they parse, run and give what the text says."""

from __future__ import annotations

import importlib.util
import json
import re
from types import ModuleType

import pytest

from simulator import (
    OBSERVATION_VERSION,
    SIMULATOR_VERSION,
    Scenario,
    ScenarioError,
    policies,
    replay,
    run_episode,
)
from simulator.engine import Outcome
from tests.simulator.builders import ROOT, public_documents, scenario_of

DOCS = ROOT / "docs"
FIRST_SCORE = (DOCS / "first-score.md").read_text(encoding="utf-8")


def json_examples(name: str) -> list[str]:
    """The JSON blocks of a document."""
    text = (DOCS / name).read_text(encoding="utf-8")
    return re.findall(r"^```json\n(.*?)^```", text, re.MULTILINE | re.DOTALL)


def example_agent() -> ModuleType:
    """The example agent, loaded from its file as the command would."""
    spec = importlib.util.spec_from_file_location("nearest_exit", DOCS / "examples" / "nearest_exit.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_example_scenario_parses_and_its_record_replays() -> None:
    (scenario_text,) = json_examples("scenario-schema.md")
    (record_text,) = json_examples("record-format.md")
    scenario = Scenario.from_json(scenario_text)
    verdict = replay(record_text, scenario)
    assert verdict.code == "record_incomplete", verdict.message
    header = json.loads(record_text)["header"]
    assert header["simulator_version"] == SIMULATOR_VERSION
    assert header["observation_version"] == OBSERVATION_VERSION


def test_the_example_refusal_is_worded_as_the_parser_words_it() -> None:
    document = next(document for document in public_documents().values() if document["grid"]["width"] == 19)
    document["people"][3]["position"][1] = 19
    with pytest.raises(ScenarioError) as caught:
        scenario_of(document)
    text = (DOCS / "scenario-schema.md").read_text(encoding="utf-8")
    assert f"\n{caught.value}\n" in text
    assert str(caught.value) == "people[3].position[1]: expected 0 to 18, got 19"


def test_the_rules_page_has_every_rule_outcome_and_version() -> None:
    text = (DOCS / "rules.md").read_text(encoding="utf-8")
    assert re.findall(r"^### (R\d+) ", text, re.MULTILINE) == [f"R{number}" for number in range(1, 11)]
    assert [outcome for outcome in Outcome if f"`{outcome}`" not in text] == []
    assert SIMULATOR_VERSION in text
    assert OBSERVATION_VERSION in text


def test_the_record_page_has_every_verdict() -> None:
    text = (DOCS / "record-format.md").read_text(encoding="utf-8")
    for code in (
        "verified",
        "record_format",
        "replay_mismatch",
        "scenario_unknown",
        "record_incomplete",
        "limit_exceeded",
        "internal",
    ):
        assert f"| `{code}` |" in text


def test_the_figures_of_greedy_in_the_contract_are_true() -> None:
    figures = []
    for document in public_documents().values():
        record = run_episode(scenario_of(document), policies.greedy)
        figures.append(sum(len(step["evacuations"]) for step in record.to_dict()["steps"]))
    stated = ", ".join(str(figure) for figure in figures[:-1]) + f" and {figures[-1]} people"
    assert stated in (DOCS / "contract.md").read_text(encoding="utf-8").replace("\n", " ")


@pytest.mark.parametrize("name", public_documents())
def test_the_example_agent_plays_and_its_records_verify(name: str) -> None:
    scenario = scenario_of(public_documents()[name])
    record = run_episode(scenario, example_agent().decide)
    verdict = replay(record.to_json(), scenario)
    assert verdict.verified, verdict.message
    assert verdict.metrics is not None
    # The table of the walk-through states what the agent reaches.
    metrics = verdict.metrics
    assert f"| {name[7:9]} | {metrics.evacuated} of {metrics.population} | {metrics.steps} |" in FIRST_SCORE


def test_the_walk_through_shows_the_example_agent_as_it_is() -> None:
    source = (DOCS / "examples" / "nearest_exit.py").read_text(encoding="utf-8")
    (shown,) = re.findall(r"^```python\n(.*?)^```", FIRST_SCORE, re.MULTILINE | re.DOTALL)
    assert shown == source


def test_documents_link_to_documents_that_exist() -> None:
    for path in DOCS.glob("*.md"):
        for target in re.findall(r"\]\(([^)#:/][^)#:]*)(?:#[^)]*)?\)", path.read_text(encoding="utf-8")):
            assert (path.parent / target).exists(), f"{path.name} links to {target}"
