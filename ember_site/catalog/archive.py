"""Suites and scenarios as files, byte for byte as they stand in a suite directory."""

from __future__ import annotations

import io
import json
import zipfile
from functools import lru_cache

from ember_site.catalog.models import Scenario, Suite
from simulator import indented_json
from simulator.suite import MANIFEST_NAME

EARLIEST_ZIP_DATE = (1980, 1, 1, 0, 0, 0)
"""One date for every file, so that the same suite always gives the same archive."""


def scenario_file_text(scenario: Scenario) -> str:
    """The scenario file: the stored canonical document with its two-space indent and final newline."""
    return indented_json(json.loads(scenario.document))


def manifest_file_text(suite: Suite) -> str:
    """`manifest.json` of a suite."""
    return indented_json(json.loads(suite.manifest))


def archive_name(suite: Suite) -> str:
    """Name of the archive, without ending, and of the one folder in it."""
    return f"{suite.suite_id}-{suite.version}"


def suite_archive(suite: Suite) -> bytes:
    """A zip of the suite directory: one folder with the manifest and the files that it lists."""
    return _suite_archive(suite.suite_hash)


@lru_cache(maxsize=8)
def _suite_archive(suite_hash: str) -> bytes:
    suite = Suite.objects.get(suite_hash=suite_hash)
    folder = archive_name(suite)
    files = {MANIFEST_NAME: manifest_file_text(suite)}
    for scenario in Scenario.objects.filter(entries__suite=suite).order_by("entries__position"):
        files[f"{scenario.scenario_id}.json"] = scenario_file_text(scenario)
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        for name, text in files.items():
            entry = zipfile.ZipInfo(f"{folder}/{name}", date_time=EARLIEST_ZIP_DATE)
            entry.compress_type = zipfile.ZIP_DEFLATED
            entry.external_attr = 0o644 << 16
            archive.writestr(entry, text.encode("ascii"))
    return buffer.getvalue()
