"""What tests of several parts of the site build on: the public suite and its board."""

from __future__ import annotations

import pytest

from ember_site.boards.models import Evaluation
from ember_site.boards.services import evaluation_ensure_open
from ember_site.catalog.models import Suite
from ember_site.catalog.services import suite_import
from tests.simulator.builders import PUBLIC_SUITE


@pytest.fixture
def suite(db: None) -> Suite:
    """Give the public suite, imported."""
    return suite_import(directory=PUBLIC_SUITE)


@pytest.fixture
def evaluation(suite: Suite) -> Evaluation:
    """Give the public suite's development board: ten slots."""
    return evaluation_ensure_open(suite=suite)
