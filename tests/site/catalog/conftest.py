"""The public suite, copies of it to change, and runs on it."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from ember_site.catalog.models import Suite
from ember_site.catalog.scenario_cache import scenario_load
from ember_site.catalog.services import suite_import
from simulator import Scenario, canonical_json, indented_json

ROOT = Path(__file__).parents[3]
PUBLIC_SUITE = ROOT / "scenarios" / "public" / "v1"
FIRST = "v1-pub-01-single-exit-sparse"

Document = dict[str, Any]
Edit = Callable[[Document], object]


def _nothing(document: Document) -> None:
    """Leave the document as it is."""


def suite_write(
    directory: Path, *, version: str = "1.0.2", manifest: Edit = _nothing, first: Edit = _nothing
) -> Path:
    """Write a copy of the public suite with its first scenario and its manifest edited and pinned anew."""
    shutil.copytree(PUBLIC_SUITE, directory)
    path = directory / f"{FIRST}.json"
    document = json.loads(path.read_text(encoding="ascii"))
    first(document)
    path.write_text(indented_json(document), encoding="ascii")
    listing = json.loads((directory / "manifest.json").read_text(encoding="ascii"))
    listing["suite_version"] = version
    listing["scenarios"][0]["scenario_hash"] = Scenario.from_json(canonical_json(document)).content_hash
    manifest(listing)
    (directory / "manifest.json").write_text(indented_json(listing), encoding="ascii")
    return directory


@pytest.fixture(autouse=True)
def _fresh_cache() -> None:
    scenario_load.cache_clear()


@pytest.fixture
def suite(db: None) -> Suite:
    """The public suite, imported."""
    return suite_import(directory=PUBLIC_SUITE)


@pytest.fixture
def first_hash(suite: Suite) -> str:
    """Content hash of the first public scenario."""
    return suite.entries.get(position=1).scenario.content_hash
