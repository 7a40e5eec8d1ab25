"""``ember suite check``: is a suite directory whole, and how does it stand to the published hashes?"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from simulator.command.output import (
    CommandError,
    DebugOption,
    ExitCode,
    JsonOption,
    Output,
    complain,
    reporting,
)
from simulator.command.sources import PublishedPins, file_read, published_pins, suite_read
from simulator.errors import EmberError
from simulator.scenario import Scenario
from simulator.strict_json import parse_json
from simulator.suite import CHANGED_FILE_REMEDY, MANIFEST_NAME, Suite

suite_app = typer.Typer(help="Look after suites of scenarios.", no_args_is_help=True)


class PinStatus(StrEnum):
    """How a suite stands to the published hashes."""

    MATCHES = "matches"
    REBUILD = "rebuild"
    CHANGED = "changed"
    NO_PINS = "no_pins"


@dataclass(frozen=True)
class Mismatch:
    """A file whose content hash is not the one that the manifest pins."""

    file: str
    expected: str
    actual: str

    @property
    def sentence(self) -> str:
        return (
            f"{self.file}: expected hash {self.expected}, the file has {self.actual}; {CHANGED_FILE_REMEDY}"
        )

    def to_dict(self) -> dict[str, str]:
        return {
            "file": self.file,
            "expected": self.expected,
            "actual": self.actual,
            "remedy": CHANGED_FILE_REMEDY,
        }


@suite_app.command("check")
def check(
    directory: Annotated[str, typer.Argument(metavar="DIR", help="The directory that holds manifest.json.")],
    as_json: JsonOption = False,
    debug: DebugOption = False,
) -> None:
    """Check a suite: manifest, files, every pinned field and hash; compare with the published hashes."""
    with reporting(as_json=as_json, debug=debug) as out:
        mismatches = hash_mismatches(directory)
        if mismatches:
            _report_mismatches(directory, mismatches, out)
            raise typer.Exit(ExitCode.REFUSED)
        suite = suite_read(directory)
        pins = published_pins()
        status = pin_status(suite, pins)
        _print_suite(suite, pins, status, loose_files(suite, directory), out)
    if status is PinStatus.CHANGED:
        raise typer.Exit(ExitCode.REFUSED)


def hash_mismatches(directory: str) -> list[Mismatch]:
    """Every file that is a scenario but not the pinned one; other faults are left to the strict loader."""
    try:
        manifest = parse_json(file_read(str(Path(directory) / MANIFEST_NAME)))
        entries = [(str(entry["path"]), str(entry["scenario_hash"])) for entry in manifest["scenarios"]]
    except (CommandError, EmberError, TypeError, KeyError):
        return []
    found = []
    for name, expected in entries:
        path = Path(directory) / name
        if path.parent != Path(directory) or not path.is_file():
            continue
        try:
            actual = Scenario.from_json(file_read(str(path))).content_hash
        except (CommandError, EmberError):
            continue
        if actual != expected:
            found.append(Mismatch(str(path), expected, actual))
    return found


def _report_mismatches(directory: str, mismatches: list[Mismatch], out: Output) -> None:
    if not out.as_json:
        for mismatch in mismatches:
            complain(mismatch.sentence)
    many = "1 file is" if len(mismatches) == 1 else f"{len(mismatches)} files are"
    problem = CommandError(
        f"{many} not what the manifest pins",
        code="hash_mismatch",
        file=directory,
        mismatches=[mismatch.to_dict() for mismatch in mismatches],
    )
    out.data({"ok": False, "error": problem.to_dict()})


def loose_files(suite: Suite, directory: str) -> list[str]:
    """Names of the files whose text is not in canonical file form; their hashes do not depend on it."""
    forms = {MANIFEST_NAME: suite.manifest_file_text()}
    for entry, scenario in zip(suite.entries, suite.scenarios, strict=True):
        forms[entry.path] = scenario.to_indented_json()
    return [name for name, form in forms.items() if file_read(str(Path(directory) / name)) != form.encode()]


def pin_status(suite: Suite, pins: PublishedPins | None) -> PinStatus:
    """Compare by hash; ID and version alone prove nothing."""
    if pins is None or suite.suite_id != pins.suite_id:
        return PinStatus.NO_PINS
    if suite.suite_hash == pins.suite_hash:
        return PinStatus.MATCHES
    return PinStatus.CHANGED if suite.version == pins.suite_version else PinStatus.REBUILD


def status_sentence(suite: Suite, pins: PublishedPins | None, status: PinStatus) -> str:
    """What the status means, in words."""
    if pins is None:
        return "The published hashes are not at hand, so this suite was not compared with them."
    if status is PinStatus.NO_PINS:
        return f"No hashes are published for a suite {suite.suite_id}."
    if status is PinStatus.MATCHES:
        return (
            f"Matches the published hashes of {pins.suite_id} {pins.suite_version}: "
            "these are the published files."
        )
    if status is PinStatus.CHANGED:
        return (
            f"Calls itself version {suite.version}, but the published suite of that version has the hash "
            f"{pins.suite_hash}: a changed suite needs a suite_version of its own."
        )
    return (
        f"A rebuild of {pins.suite_id} {pins.suite_version}, not the published files: layouts, rules and "
        "person IDs are the published ones, but the published documents do not give the text of the "
        "scenario descriptions, which the hashes cover. So descriptions, hashes and version are its own."
    )


def _print_suite(
    suite: Suite, pins: PublishedPins | None, status: PinStatus, loose: list[str], out: Output
) -> None:
    out.line(f"{suite.suite_id} {suite.version}  {suite.suite_hash}")
    for entry in suite.entries:
        out.line(f"  {entry.scenario_id:<34}  {entry.scenario_hash}")
    out.line(f"{len(suite.entries)} scenarios, every pinned field and hash agrees with its file.")
    out.line(status_sentence(suite, pins, status))
    for name in loose:
        out.note(f"{name}: not in canonical file form; the hash is the same in either form")
    published = pins.scenarios if pins is not None and status is not PinStatus.NO_PINS else {}
    out.data(
        {
            "ok": status is not PinStatus.CHANGED,
            "suite_id": suite.suite_id,
            "suite_version": suite.version,
            "suite_hash": suite.suite_hash,
            "published": {
                "status": str(status),
                "suite_hash": pins.suite_hash if pins is not None and published else None,
                "sentence": status_sentence(suite, pins, status),
            },
            "not_canonical": loose,
            "scenarios": [
                {
                    "scenario_id": entry.scenario_id,
                    "path": entry.path,
                    "scenario_hash": entry.scenario_hash,
                    "published_hash": published.get(entry.scenario_id),
                }
                for entry in suite.entries
            ],
        }
    )
