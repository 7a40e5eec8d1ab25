"""The example agent and the limits of `docs/api-episodes.md`, against a real web process."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from ember_site.accounts.models import User
from ember_site.boards.models import Evaluation
from ember_site.boards.services import evaluation_ensure_open
from ember_site.catalog.models import Suite
from ember_site.catalog.services import suite_import
from ember_site.runs.models import Agent, Run
from ember_site.runs.services import run_verify
from tests.patience import PATIENCE_S
from tests.site.episodes.web_process import WebProcess

pytestmark = pytest.mark.django_db(transaction=True)

ROOT = Path(__file__).resolve().parents[3]


@pytest.fixture
def key(user: User, token_of: Callable[..., str]) -> str:
    """Give a play token of `user`."""
    return token_of(user)


@pytest.fixture
def suite(web: WebProcess) -> Suite:
    return suite_import(directory=ROOT / "scenarios" / "public" / "v1")


def test_the_example_agent_plays_on_the_real_site_and_its_run_verifies(
    web: WebProcess, suite: Suite, planner: Agent, key: str
) -> None:
    evaluation: Evaluation = evaluation_ensure_open(suite=suite)
    slot = evaluation.slots.order_by("position").first()
    assert slot is not None
    reference = f"{suite.suite_id}/{slot.scenario.scenario_id}"
    for mode in ("practice", f"{evaluation.slug}/{slot.position}"):
        command = [
            "docs/examples/remote_agent.py",
            f"http://{web.address}",
            key,
            planner.slug,
            reference,
            mode,
        ]
        ended = subprocess.run(
            [sys.executable, *command],
            cwd=ROOT,
            capture_output=True,
            text=True,
            timeout=PATIENCE_S,
            check=False,
        )
        assert ended.returncode == 0, ended.stderr + ended.stdout
        end = json.loads(ended.stdout)
        run = Run.objects.get(pk=end["run"])
        run_verify(run_id=run.pk)
        run.refresh_from_db()
        assert (run.state, run.evacuated, run.ranked) == (
            "verified",
            end["summary"]["evacuated"],
            mode != "practice",
        )
        assert run.evacuated == run.population


def test_the_example_in_the_document_is_the_file_and_as_short_as_promised() -> None:
    source = (ROOT / "docs" / "examples" / "remote_agent.py").read_text(encoding="utf-8")
    text = (ROOT / "docs" / "api-episodes.md").read_text(encoding="utf-8")
    assert f"```python\n{source}```" in text
    assert len([line for line in source.splitlines() if line.strip()]) <= 40
    imported = {
        line.split()[1].split(".")[0] for line in source.splitlines() if line.startswith(("import", "from"))
    }
    assert imported <= sys.stdlib_module_names


def test_the_limits_in_the_document_are_those_in_force(settings: Any) -> None:
    text = " ".join((ROOT / "docs" / "api-episodes.md").read_text(encoding="utf-8").split())
    assert f"`move_s` seconds ({settings.EMBER_AGENT_MOVE_S})" in text
    assert f"`idle_s` seconds ({settings.EMBER_AGENT_IDLE_S})" in text
