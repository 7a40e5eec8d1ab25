"""Parsed scenarios, once for each process. A content hash never changes its meaning."""

from __future__ import annotations

from functools import lru_cache

from ember_site.catalog.models import Scenario as ScenarioRow
from ember_site.core.errors import NotFound
from simulator import Scenario

CACHED_SCENARIOS = 128


@lru_cache(maxsize=CACHED_SCENARIOS)
def scenario_load(content_hash: str) -> Scenario:
    """The scenario with that content hash, ready for the simulator. One query at most.

    Raises:
        NotFound: no such scenario was imported.
    """
    document = ScenarioRow.objects.filter(pk=content_hash).values_list("document", flat=True).first()
    if document is None:
        raise NotFound(f"No scenario with the hash {content_hash} is known here.")
    return Scenario.from_json(document)
