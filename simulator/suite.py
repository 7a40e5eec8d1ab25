"""Suites: manifest, strict loader and suite hash.

A suite is a directory that holds ``manifest.json`` and exactly the scenario files that it
lists. The suite hash is the SHA-256 of the canonical manifest, so it pins every scenario
hash and all metadata at once.

Source: scenario suite document, sections *Manifest* and *Change control*.
"""

import hashlib
import re
import stat
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any, Final

from simulator.checks import Checker
from simulator.errors import ScenarioError, SuiteError, item
from simulator.scenario import FireModelName, Scenario
from simulator.strict_json import canonical_json, indented_json, parse_json
from simulator.versions import SCHEMA_VERSION

MANIFEST_NAME: Final = "manifest.json"
CHANGED_FILE_REMEDY: Final = (
    "fetch the file again, or give the changed suite a new suite_version, manifest entry and pins"
)
"""What to do about a file that is not the pinned one."""

_VERSION = re.compile(r"(0|[1-9][0-9]{0,5})\.(0|[1-9][0-9]{0,5})\.(0|[1-9][0-9]{0,5})")
_SUITE_KEYS = ("suite_id", "suite_version", "visibility", "seed_role", "schema_version", "scenarios")
_ENTRY_KEYS = (
    "scenario_id", "path", "schema_version", "scenario_hash", "primary_family", "families",
    "population", "exit_count", "ignition_count", "fire_model", "purpose",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class SuiteEntry:
    """One scenario of a suite, as the manifest pins it."""

    scenario_id: str
    path: str
    scenario_hash: str
    primary_family: str
    families: tuple[str, ...]
    population: int
    exit_count: int
    ignition_count: int
    fire_model: str
    purpose: str

    @classmethod
    def of(
        cls, scenario: Scenario, *, primary_family: str, families: Sequence[str], purpose: str
    ) -> "SuiteEntry":
        """The entry that pins a scenario; families are sorted."""
        return cls(
            scenario_id=scenario.scenario_id,
            path=f"{scenario.scenario_id}.json",
            scenario_hash=scenario.content_hash,
            primary_family=primary_family,
            families=tuple(sorted(families)),
            population=len(scenario.people),
            exit_count=len(scenario.exits),
            ignition_count=len(scenario.ignitions),
            fire_model=str(scenario.fire.model),
            purpose=purpose,
        )

    def to_dict(self) -> dict[str, Any]:
        """The manifest entry, JSON-ready."""
        return {
            "scenario_id": self.scenario_id,
            "path": self.path,
            "schema_version": SCHEMA_VERSION,
            "scenario_hash": self.scenario_hash,
            "primary_family": self.primary_family,
            "families": list(self.families),
            "population": self.population,
            "exit_count": self.exit_count,
            "ignition_count": self.ignition_count,
            "fire_model": self.fire_model,
            "purpose": self.purpose,
        }


@dataclass(frozen=True)
class Suite:
    """A checked suite; ``entries`` and ``scenarios`` stand in ID order, side by side."""

    suite_id: str
    version: str
    visibility: str
    seed_role: str
    schema_version: str
    entries: tuple[SuiteEntry, ...]
    scenarios: tuple[Scenario, ...]

    @classmethod
    def parse(cls, manifest: str | bytes, files: Mapping[str, bytes]) -> "Suite":
        """Check a manifest against the files beside it.

        Args:
            manifest: Text of ``manifest.json``.
            files: Content of every other file of the directory, by name.

        Raises:
            SuiteError: Place in the manifest, and the file's name where a file is at fault.
        """
        return _SuiteReader().read(parse_json(manifest, SuiteError), files)

    def to_dict(self) -> dict[str, Any]:
        """The manifest, JSON-ready."""
        return {
            "suite_id": self.suite_id,
            "suite_version": self.version,
            "visibility": self.visibility,
            "seed_role": self.seed_role,
            "schema_version": self.schema_version,
            "scenarios": [entry.to_dict() for entry in self.entries],
        }

    @cached_property
    def manifest_text(self) -> str:
        """Canonical text of the manifest."""
        return canonical_json(self.to_dict())

    def manifest_file_text(self) -> str:
        """File form of the manifest: two-space indent, final newline."""
        return indented_json(self.to_dict())

    @cached_property
    def suite_hash(self) -> str:
        """SHA-256 of the canonical manifest, 64 hex digits."""
        return hashlib.sha256(self.manifest_text.encode("ascii")).hexdigest()


def load_suite(path: str | Path) -> Suite:
    """Load and check the suite in a directory.

    Raises:
        SuiteError: No such directory, no manifest, a stray or missing file, something that
            cannot be read (then an OSError is its cause), or a manifest that is wrong in itself
            or does not fit its files.
    """
    directory = Path(path)
    files = _files_of(directory)
    if MANIFEST_NAME not in files:
        raise SuiteError(f"{MANIFEST_NAME}: expected this file in {directory}, it is missing")
    return Suite.parse(files.pop(MANIFEST_NAME), files)


def _files_of(directory: Path) -> dict[str, bytes]:
    """Content of every file of a directory, by name."""
    contents: dict[str, bytes] = {}
    name = str(directory)
    try:
        if not directory.is_dir():
            raise SuiteError(f"expected a suite directory, got {name}")
        for entry in sorted(directory.iterdir()):
            name = entry.name
            if not stat.S_ISREG(entry.stat().st_mode):
                raise SuiteError(
                    f"{name}: expected only files that the manifest lists, got a directory or device"
                )
            contents[name] = entry.read_bytes()
    except OSError as problem:
        raise SuiteError(f"{name}: cannot be read ({problem.strerror})") from problem
    return contents


def check_manifest(document: Any) -> None:
    """Check a parsed manifest in itself, without the files that it lists.

    Raises:
        SuiteError: The first fault, with its place.
    """
    _SuiteReader().manifest(document)


class _SuiteReader:
    """Reads one manifest, then every file that it lists."""

    def __init__(self) -> None:
        self.check = Checker(SuiteError)

    def read(self, document: Any, files: Mapping[str, bytes]) -> Suite:
        suite = self.manifest(document)
        entries = suite.entries
        scenarios = tuple(self.scenario(entry, index, files) for index, entry in enumerate(entries))
        stray = sorted(set(files) - {entry.path for entry in entries})
        if stray:
            raise SuiteError(f"{stray[0]}: expected only {MANIFEST_NAME} and the files that it lists")
        return replace(suite, scenarios=scenarios)

    def manifest(self, document: Any) -> Suite:
        """The suite as its manifest describes it, still without scenarios."""
        check = self.check
        top = check.object(document, "", _SUITE_KEYS)
        suite_id = check.identifier(top["suite_id"], "suite_id")
        version = check.string(top["suite_version"], "suite_version")
        if not _VERSION.fullmatch(version):
            check.fail("suite_version", "MAJOR.MINOR.PATCH", version)
        visibility = check.choice(top["visibility"], "visibility", ["public", "generated"])
        seed_role = check.choice(top["seed_role"], "seed_role", ["development"])
        check.choice(top["schema_version"], "schema_version", [SCHEMA_VERSION])
        listed = check.list(top["scenarios"], "scenarios", at_least=1)
        entries = tuple(self.entry(value, item("scenarios", index)) for index, value in enumerate(listed))
        self.check_order(entries)
        return Suite(suite_id, version, visibility, seed_role, SCHEMA_VERSION, entries, scenarios=())

    def entry(self, value: Any, place: str) -> SuiteEntry:
        check = self.check
        members = check.object(value, place, _ENTRY_KEYS)
        scenario_id = check.identifier(members["scenario_id"], f"{place}.scenario_id")
        check.choice(members["path"], f"{place}.path", [f"{scenario_id}.json"])
        check.choice(members["schema_version"], f"{place}.schema_version", [SCHEMA_VERSION])
        primary, families = self.families(members, place)
        purpose = check.string(members["purpose"], f"{place}.purpose")
        if not purpose.strip() or "\n" in purpose:
            check.fail(f"{place}.purpose", "one line of text", purpose)
        models = [str(model) for model in FireModelName]
        return SuiteEntry(
            scenario_id=scenario_id,
            path=members["path"],
            scenario_hash=check.hash(members["scenario_hash"], f"{place}.scenario_hash"),
            primary_family=primary,
            families=families,
            population=check.integer(members["population"], f"{place}.population", 1),
            exit_count=check.integer(members["exit_count"], f"{place}.exit_count", 1),
            ignition_count=check.integer(members["ignition_count"], f"{place}.ignition_count", 0),
            fire_model=check.choice(members["fire_model"], f"{place}.fire_model", models),
            purpose=purpose,
        )

    def families(self, members: dict[str, Any], place: str) -> tuple[str, tuple[str, ...]]:
        check = self.check
        primary = check.identifier(members["primary_family"], f"{place}.primary_family")
        listed = check.list(members["families"], f"{place}.families", at_least=1)
        families = [check.identifier(f, item(f"{place}.families", i)) for i, f in enumerate(listed)]
        if families != sorted(set(families)):
            raise SuiteError("expected each family once, sorted", f"{place}.families")
        if primary not in families:
            check.fail(f"{place}.primary_family", "one of the families", primary)
        return primary, tuple(families)

    def check_order(self, entries: tuple[SuiteEntry, ...]) -> None:
        hashes: dict[str, str] = {}
        for index, entry in enumerate(entries):
            place = item("scenarios", index)
            if index and entry.scenario_id <= entries[index - 1].scenario_id:
                self.check.fail(
                    f"{place}.scenario_id", f"an ID after {entries[index - 1].scenario_id}", entry.scenario_id
                )
            self.check.unique(entry.scenario_hash, hashes, f"{place}.scenario_hash", "each hash")
            hashes[entry.scenario_hash] = f"{place}.scenario_hash"

    def scenario(self, entry: SuiteEntry, index: int, files: Mapping[str, bytes]) -> Scenario:
        """Read the entry's file and compare every pinned field with it."""
        place = item("scenarios", index)
        if entry.path not in files:
            raise SuiteError(f"expected the file {entry.path} beside the manifest, it is missing", place)
        try:
            scenario = Scenario.from_json(files[entry.path])
        except ScenarioError as problem:
            wanted = f"expected the scenario with content hash {entry.scenario_hash}"
            raise SuiteError(f"{entry.path}: {problem}; {wanted}: {CHANGED_FILE_REMEDY}", place) from problem
        if scenario.content_hash != entry.scenario_hash:
            raise SuiteError(
                f"{entry.path}: expected content hash {entry.scenario_hash}, the file has "
                f"{scenario.content_hash}; {CHANGED_FILE_REMEDY}",
                f"{place}.scenario_hash",
            )
        pinned = SuiteEntry.of(
            scenario, primary_family=entry.primary_family, families=entry.families, purpose=entry.purpose
        )
        for key, actual in pinned.to_dict().items():
            stated = entry.to_dict()[key]
            if stated != actual:
                raise SuiteError(f"{entry.path}: expected {actual!r}, got {stated!r}", f"{place}.{key}")
        return scenario
