"""
The published hashes, and what they say of a suite or scenario.

The published documents give layouts, rules and hashes, but not the text of the descriptions,
which is part of what is hashed. A suite made here from those documents is therefore a rebuild
with hashes of its own; only files that hash to the pins are the published ones.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from functools import lru_cache
from pathlib import Path
from typing import Any

from ember_site.environment import BASE_DIR

PINS_PATH = BASE_DIR / "scenarios" / "published_pins.json"


class PinKind(StrEnum):
    """How something stands to the published hashes."""

    PUBLISHED = "published"
    REBUILD = "rebuild"
    UNPINNED = "unpinned"


@dataclass(frozen=True, slots=True)
class PublishedPins:
    """Hashes of the published suite: one for the manifest, one for each scenario ID."""

    suite_id: str
    suite_version: str
    suite_hash: str
    source: str
    scenarios: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class PinStatus:
    """The verdict on one hash. `pin` is the published hash, empty where there is none."""

    kind: PinKind
    pin: str
    pinned_version: str

    @property
    def label(self) -> str:
        """Two or three words for a tag."""
        return {
            PinKind.PUBLISHED: "matches the published hash",
            PinKind.REBUILD: "rebuild",
            PinKind.UNPINNED: "no published hash",
        }[self.kind]

    @property
    def sentence(self) -> str:
        """What the status means."""
        return {
            PinKind.PUBLISHED: f"The hash equals that of the published version {self.pinned_version}.",
            PinKind.REBUILD: (
                "Rebuilt from the published documents, with descriptions of its own and therefore another "
                f"hash than the published version {self.pinned_version}."
            ),
            PinKind.UNPINNED: "No hash of it has been published to compare with.",
        }[self.kind]


@lru_cache(maxsize=1)
def published_pins() -> PublishedPins:
    """The pins that the project ships, read once."""
    return pins_read(PINS_PATH)


def pins_read(path: Path) -> PublishedPins:
    """Read a file of pins."""
    document: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    return PublishedPins(
        suite_id=document["suite_id"],
        suite_version=document["suite_version"],
        suite_hash=document["suite_hash"],
        source=document["source"],
        scenarios=document["scenarios"],
    )


def suite_pin(*, suite_id: str, suite_hash: str) -> PinStatus:
    """How a suite stands to the published one. Suites are told apart by their hash alone."""
    pins = published_pins()
    return _status(suite_hash, pins.suite_hash if suite_id == pins.suite_id else "", pins)


def scenario_pin(*, scenario_id: str, content_hash: str) -> PinStatus:
    """How a scenario stands to the published one of the same ID."""
    pins = published_pins()
    return _status(content_hash, pins.scenarios.get(scenario_id, ""), pins)


def _status(actual: str, pin: str, pins: PublishedPins) -> PinStatus:
    if not pin:
        return PinStatus(PinKind.UNPINNED, "", "")
    kind = PinKind.PUBLISHED if actual == pin else PinKind.REBUILD
    return PinStatus(kind, pin, pins.suite_version)
