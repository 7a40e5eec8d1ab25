"""Where scenarios, suites and records come from: files, directories, and what the project ships."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import BinaryIO

import simulator
from simulator.command.output import CommandError, os_reason
from simulator.errors import ScenarioError, SuiteError
from simulator.limits import LIMITS, size_text
from simulator.scenario import Scenario
from simulator.suite import MANIFEST_NAME, Suite, load_suite

STANDARD_INPUT = "-"


def file_read(path: str) -> bytes:
    """
    The bytes of a file.

    Raises:
        CommandError: No such file, a directory, not readable, or larger than the limit.
    """
    limit = LIMITS.unpacked_bytes
    try:
        with open(path, "rb") as stream:
            content = stream.read(limit + 1)
    except (OSError, ValueError) as problem:
        raise file_unreadable(path, problem) from problem
    if len(content) > limit:
        raise CommandError(f"larger than {size_text(limit)}", code="limit_exceeded", file=path, limit=limit)
    return content


def file_unreadable(path: str, problem: OSError | ValueError) -> CommandError:
    """The refusal of a file that cannot be opened or read."""
    if isinstance(problem, FileNotFoundError):
        message = "no such file"
    elif isinstance(problem, IsADirectoryError):
        message = "this is a directory, expected a file"
    elif isinstance(problem, OSError):
        message = f"cannot be read ({os_reason(problem)})"
    else:
        message = "this cannot be the name of a file"
    return CommandError.wrong_use(message, file=path, code="file_unreadable")


@contextmanager
def file_opened(file: str) -> Iterator[BinaryIO]:
    """
    A file opened for reading; ``-`` is standard input.

    Raises:
        CommandError: It cannot be opened.
    """
    if file == STANDARD_INPUT:
        yield sys.stdin.buffer
        return
    with ExitStack() as stack:
        try:
            stream = stack.enter_context(open(file, "rb"))
        except (OSError, ValueError) as problem:
            raise file_unreadable(file, problem) from problem
        yield stream


def file_shown_name(file: str) -> str:
    """What a file is called in the answer."""
    return "stdin" if file == STANDARD_INPUT else file


def scenario_read(path: str) -> Scenario:
    """
    The scenario in a file.

    Raises:
        CommandError: The file cannot be read, or breaks the schema.
    """
    try:
        return Scenario.from_json(file_read(path))
    except ScenarioError as problem:
        raise CommandError.of(problem, code="scenario_format", file=path) from problem


def scenario_find(name: str) -> Scenario:
    """
    The scenario in a file, or the shipped one of that ID where there is no such file.

    Raises:
        CommandError: Neither; or the file is refused.
    """
    if not os.path.lexists(name):
        for path in _shipped_scenario_files():
            if path.stem == name:
                return scenario_read(str(path))
        if not name.endswith(".json"):
            message = "neither a file nor the ID of a scenario that comes with the project"
            raise CommandError.wrong_use(message, file=name, code="file_unreadable")
    return scenario_read(name)


def suite_read(directory: str) -> Suite:
    """
    The suite in a directory, checked.

    Raises:
        CommandError: No such directory, or its suite is refused.
    """
    try:
        if MANIFEST_NAME not in os.listdir(directory):
            message = f"this directory holds no {MANIFEST_NAME}, so it is not a suite"
            raise CommandError.wrong_use(message, file=directory, code="file_unreadable")
        return load_suite(directory)
    except FileNotFoundError as problem:
        raise CommandError.wrong_use("no such directory", file=directory, code="file_unreadable") from problem
    except NotADirectoryError as problem:
        message = "this is a file, expected a suite directory"
        raise CommandError.wrong_use(message, file=directory, code="file_unreadable") from problem
    except SuiteError as problem:
        cause = problem.__cause__
        if isinstance(cause, OSError):
            raise file_unreadable(str(cause.filename or directory), cause) from problem
        raise CommandError.of(problem, code="suite_format", file=directory) from problem
    except (OSError, ValueError) as problem:
        raise file_unreadable(directory, problem) from problem


@dataclass
class ScenarioLibrary:
    """The scenarios that records may be of, by content hash."""

    by_hash: dict[str, Scenario] = field(default_factory=dict)

    @classmethod
    def of(cls, scenario_files: list[str], suite_directories: list[str]) -> ScenarioLibrary:
        """
        The named scenarios and suites, or everything that the project ships where none is named.

        Raises:
            CommandError: One of them is refused, or none is named and none is shipped.
        """
        library = cls()
        for directory in suite_directories:
            library.add(*suite_read(directory).scenarios)
        for file in scenario_files:
            library.add(scenario_find(file))
        if not scenario_files and not suite_directories:
            library.add(*_shipped_scenarios())
        return library

    def add(self, *scenarios: Scenario) -> None:
        self.by_hash.update((scenario.content_hash, scenario) for scenario in scenarios)

    def find(self, scenario_hash: str) -> Scenario | None:
        return self.by_hash.get(scenario_hash)

    def hash_of(self, scenario_id: str) -> str | None:
        """The content hash of the scenario of that ID, whatever a record says of it."""
        same = (key for key, scenario in self.by_hash.items() if scenario.scenario_id == scenario_id)
        return next(same, None)


def shipped_directory() -> Path | None:
    """
    The project's ``scenarios/``: beside the package in a checkout, else in the current directory.
    """
    for home in (Path(simulator.__file__).resolve().parent.parent, Path.cwd()):
        if (home / "scenarios" / "public" / "v1" / MANIFEST_NAME).is_file():
            return home / "scenarios"
    return None


def _shipped_scenarios() -> Iterator[Scenario]:
    directory = shipped_directory()
    if directory is None:
        message = (
            "no scenarios come with this installation: name those that the records are of "
            "with --suite DIR or --scenario FILE"
        )
        raise CommandError.wrong_use(message, code="no_scenarios")
    yield from suite_read(str(directory / "public" / "v1")).scenarios
    for path in sorted((directory / "fixtures").glob("*.json")):
        yield scenario_read(str(path))


def _shipped_scenario_files() -> Iterator[Path]:
    directory = shipped_directory()
    if directory is not None:
        for path in sorted(directory.glob("*/**/*.json")):
            if path.name != MANIFEST_NAME:
                yield path


@dataclass(frozen=True)
class PublishedPins:
    """The hashes of the published suite, which stand beside the project's own."""

    suite_id: str
    suite_version: str
    suite_hash: str
    scenarios: dict[str, str]


def published_pins() -> PublishedPins | None:
    """The pins that the project ships; None where it ships nothing."""
    directory = shipped_directory()
    if directory is None:
        return None
    document = json.loads(file_read(str(directory / "published_pins.json")))
    return PublishedPins(
        document["suite_id"], document["suite_version"], document["suite_hash"], document["scenarios"]
    )
