"""Every example of `docs/api.md` is run, and its tables are complete."""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import yaml
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client

from ember_site.api.pagination import orders
from ember_site.boards.models import Evaluation
from ember_site.boards.policy_runs import open_slots, policy_runs_make
from ember_site.catalog.scenario_cache import scenario_load
from ember_site.runs.models import RunSource
from ember_site.runs.services import baseline_agent
from simulator import policies, run_episode
from tests.site.api.test_api_roles import endpoints

DOCS = Path(__file__).parents[3] / "docs"
TEXT = (DOCS / "api.md").read_text("utf-8")
BLOCK = re.compile(r"```(console|json)\n(.*?)```", re.DOTALL)


@dataclass
class Example:
    """A request as `curl` would make it, the head that the page shows, and what is shown of the body."""

    command: str
    head: str = ""
    body: Any = None


def examples() -> Iterator[Example]:
    last: Example | None = None
    for kind, text in BLOCK.findall(TEXT):
        if kind == "json":
            assert last is not None
            last.body = json.loads(text)
            continue
        if last:
            yield last
        command, _, head = text.strip().partition("\n")
        last = Example(command.removeprefix("$ "), head)
    assert last is not None
    yield last


def curl(client: Client, command: str, variables: dict[str, str], files: dict[str, bytes]) -> Any:
    """Make the request of a `curl` command through Django's test client; options beyond these are refused."""
    for name, value in variables.items():
        command = command.replace(f"${name}", value)
    words = iter(shlex.split(command))
    assert next(words) == "curl"
    headers: dict[str, str] = {}
    form: dict[str, Any] = {}
    body: bytes | None = None
    url = ""
    for word in words:
        if word == "-H":
            name, _, value = next(words).partition(": ")
            headers[name] = value
        elif word == "-d":
            body = next(words).encode()
        elif word == "--data-binary":
            body = files[next(words).removeprefix("@")]
        elif word == "-F":
            name, _, value = next(words).partition("=")
            form[name] = SimpleUploadedFile(value[1:], files[value[1:]]) if value.startswith("@") else value
        elif word != "-i":
            assert word.startswith("http://localhost:8000/"), word
            url = word.removeprefix("http://localhost:8000")
    where = {"SERVER_NAME": "localhost", "SERVER_PORT": "8000", "headers": headers}
    if form:
        return client.post(url, form, **where)
    if body is not None:
        return client.post(url, body, content_type=headers.pop("Content-Type"), **where)
    return client.get(url, **where)


def assert_shows(shown: Any, real: Any, place: str = "") -> None:
    """What the page shows is there; `...` stands for any value, and further keys and rows may follow."""
    if isinstance(shown, dict):
        for key, value in shown.items():
            assert key in real, f"{place}.{key}"
            assert_shows(value, real[key], f"{place}.{key}")
    elif isinstance(shown, list):
        assert len(real) >= len(shown), place
        for index, value in enumerate(shown):
            assert_shows(value, real[index], f"{place}[{index}]")
    elif shown == "...":
        assert real is not None, place
    else:
        assert real == shown, place


def test_the_examples_do_what_the_page_shows(client, user, token_header, evaluation: Evaluation):
    policy_runs_make(
        agent=baseline_agent(name="greedy"),
        make_policy=policies.BASELINES["greedy"],
        source=RunSource.BASELINE,
        slots=open_slots(),
    )
    slot = evaluation.slots.first()
    assert slot is not None
    record = run_episode(scenario_load(slot.scenario_id), policies.stay, int(slot.seed)).to_json().encode()
    variables = {"EMBER_TOKEN": token_header(user, "submit")["authorization"].removeprefix("Token ")}
    found = list(examples())
    assert len(found) > 8
    for example in found:
        command = example.command.replace("SUITE_HASH", evaluation.suite.suite_hash)
        response = curl(client, command, variables, {"runs.jsonl": record + b"\n"})
        if example.head:
            # The number alone: the words after it are other ones from Python 3.13 on.
            assert example.head.startswith(f"HTTP/1.1 {response.status_code} "), example.command
        else:
            assert response.status_code in {200, 201}, (example.command, response.content)
        if example.body is not None:
            assert_shows(example.body, response.json(), example.command)


def test_the_page_lists_every_address():
    described = yaml.safe_load((DOCS / "openapi.yaml").read_text("utf-8"))["paths"]
    wanted = {f"{method.upper()} {path}" for path, methods in described.items() for method in methods}
    assert set(re.findall(r"^\| `((?:GET|POST|PATCH|PUT|DELETE) [^`]+)` \|", TEXT, re.MULTILINE)) == wanted


def test_the_page_lists_every_filter_and_order():
    table = {
        name: (filters, sorts)
        for names, filters, sorts in re.findall(
            r"^\| (`[a-z`, ]+) \| (`[^|]+) \| (`[^|]+) \|$", TEXT, re.MULTILINE
        )
        for name in re.findall(r"`(\w+)`", names)
    }
    views = {
        pattern.name.removeprefix("api_").removesuffix("_list") + "s": pattern.callback.cls
        for _, pattern in endpoints()
        if hasattr(getattr(pattern.callback, "cls", None), "orderings")
    }
    assert set(views) == set(table)
    for name, view in views.items():
        filters, sorts = (re.findall(r"`(\w+)`", cell) for cell in table[name])
        assert set(filters) == set(view.filterset_class.base_filters), name
        assert sorts == [order for order in orders(view) if not order.startswith("-")], name


@pytest.mark.parametrize("word", ["600", "1,800"])
def test_the_page_says_the_limits_in_force(word: str, settings):
    rates = settings.REST_FRAMEWORK["DEFAULT_THROTTLE_RATES"].values()
    assert f"{word.replace(',', '')}/min" in rates
    assert word in TEXT
