"""``ember hash``: the canonical hash of a scenario, a suite manifest or run records."""

from __future__ import annotations

import hashlib
import io
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from enum import StrEnum
from typing import Annotated, Any

import msgspec
import typer

from simulator.command.output import CommandError, DebugOption, JsonOption, reporting
from simulator.command.sources import file_read
from simulator.errors import EmberError
from simulator.record import RunRecord
from simulator.record_files import iter_records
from simulator.scenario import Scenario
from simulator.strict_json import canonical_json, indented_json, parse_json
from simulator.suite import check_manifest


class Kind(StrEnum):
    """What a file holds."""

    SCENARIO = "scenario"
    MANIFEST = "manifest"
    RECORD = "record"


_FORM = {
    Kind.SCENARIO: "sorted keys and lists, two-space indent, final newline",
    Kind.MANIFEST: "sorted keys, two-space indent, final newline",
    Kind.RECORD: "sorted keys, no white space, one line",
}


@dataclass(frozen=True)
class Hashed:
    """One document of a file: what it is, its hash, and whether its text has the form of files."""

    file: str
    line: int
    kind: Kind
    hash: str
    canonical_form: bool

    def to_dict(self) -> dict[str, Any]:
        return {
            "ok": True,
            "file": self.file,
            "line": self.line,
            "kind": str(self.kind),
            "hash": self.hash,
            "canonical_form": self.canonical_form,
        }


def hash_files(
    files: Annotated[
        list[str], typer.Argument(metavar="FILE", help="A scenario, a suite manifest, or run records.")
    ],
    as_json: JsonOption = False,
    debug: DebugOption = False,
) -> None:
    """Print what a file holds and its canonical hash.

    The hash is taken over the canonical form, so white space and key order do not change it. For a
    suite manifest it is the suite hash, for a run record the digest.
    """
    with reporting(as_json=as_json, debug=debug) as out:
        for file in files:
            for hashed in documents_hash(file):
                line = f":{hashed.line}" if hashed.kind is Kind.RECORD else ""
                out.line(f"{hashed.kind}  {hashed.hash}  {file}{line}")
                if not hashed.canonical_form:
                    form = _FORM[hashed.kind]
                    out.note(
                        f"  {file}{line}: not in canonical form ({form}); the hash is the same in either form"
                    )
                out.data(hashed.to_dict())


def documents_hash(file: str) -> Iterator[Hashed]:
    """
    The document of a file, or each record of a file of records.

    Raises:
        CommandError: The file cannot be read, or holds something else.
    """
    content = file_read(file)
    for line in iter_records(io.BytesIO(content), limits=None):
        if line.error is not None:
            where = None if line.error.whole_file else line.place
            raise CommandError(line.error.message, code="document_format", file=file, place=where)
        text = line.text or b""
        try:
            kind, digest, form = document_hash(text)
        except EmberError as problem:
            place = ", ".join(part for part in (line.place if line.number > 1 else "", problem.place) if part)
            raise CommandError(problem.message, code="document_format", file=file, place=place) from problem
        same = (text if kind is Kind.RECORD else content) == form.encode("ascii")
        yield Hashed(file, line.number, kind, digest, same)


def document_hash(text: bytes) -> tuple[Kind, str, str]:
    """
    Kind, hash and canonical file form of one document.

    Raises:
        EmberError: It is none of the three, or breaks the rules of its kind.
    """
    keys = _keys(text)
    if "header" in keys:
        record = RunRecord.from_json(text)
        return Kind.RECORD, record.digest, record.to_json()
    if "suite_id" in keys:
        manifest = parse_json(text)
        check_manifest(manifest)
        digest = hashlib.sha256(canonical_json(manifest).encode("ascii")).hexdigest()
        return Kind.MANIFEST, digest, indented_json(manifest)
    if "grid" in keys:
        scenario = Scenario.from_json(text)
        return Kind.SCENARIO, scenario.content_hash, scenario.to_indented_json()
    raise EmberError("this is neither a scenario, nor a suite manifest, nor a run record")


def _keys(text: bytes) -> Collection[str]:
    """The keys of an object, its values left as text: a large record must not become one tree."""
    try:
        return msgspec.json.decode(text, type=dict[str, msgspec.Raw]).keys()
    except (msgspec.MsgspecError, RecursionError, UnicodeError):
        document = parse_json(text)  # says what is wrong with it
        return document.keys() if isinstance(document, dict) else ()
