"""The messages of the socket as `docs/api-episodes.md` lists them are those of the code."""

from __future__ import annotations

import inspect
import json
import re
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Any, get_args

import pytest

from ember_site.core.codes import ERROR_SENTENCES
from ember_site.episodes import protocol, room
from ember_site.episodes.limits import episode_limits
from ember_site.episodes.protocol import ClientMessage, CloseCode, message_read

TEXT = (Path(__file__).resolve().parents[3] / "docs" / "api-episodes.md").read_text(encoding="utf-8")
SECTION = TEXT.split("## Listen: the socket")[1].split("\n## ")[0]
CLIENT = SECTION.split("```json\n")[1].split("\n```")[0].splitlines()
CLIENT_KINDS = re.findall(r"^\| `(\w+)` \| [^|]* \|$", SECTION, re.MULTILINE)
SERVER = {
    kind: set(re.findall(r"`(\w+)`", keys))
    for kind, keys in re.findall(r"^\| `(\w+)` \| ([^|]*) \| [^|]* \|$", SECTION, re.MULTILINE)
}
DELTA = dict.fromkeys(("step", "moved", "evacuated", "casualties", "ignitions"))
VALUES: dict[str, Any] = {
    "str": "word",
    "int": 3,
    "float": 2.0,
    "CloseCode": CloseCode.RESTART,
    "dict[str, Any]": DELTA,
    "dict[str, int]": {},
    "dict[str, float]": {},
}


def frames() -> Iterator[dict[str, Any]]:
    """One frame from each function that makes one, with everything that can stand in it."""
    for name, make in inspect.getmembers(protocol, inspect.isfunction):
        if name.startswith("frame_"):
            wanted = inspect.signature(make).parameters.values()
            given = {one.name: VALUES[str(one.annotation).split(" | ")[0]] for one in wanted}
            yield json.loads(make(**given))


def test_every_message_of_a_client_is_in_the_document_and_is_understood() -> None:
    read = [message_read(text, max_bytes=episode_limits().message_bytes) for text in CLIENT]
    assert {type(message) for message in read} == set(get_args(ClientMessage))
    assert [json.loads(text)["t"] for text in CLIENT] == CLIENT_KINDS
    for message, text in zip(read, CLIENT, strict=True):
        assert set(json.loads(text)) == set(message.__struct_fields__) - {"assist"} | {"t"}
    assert message_read('{"t":"hello","v":1,"have":{"step": 7}}', max_bytes=99)
    assert '`{"step": 7}`' in SECTION


def test_every_frame_of_the_server_is_in_the_document_with_its_keys() -> None:
    made: dict[str, set[str]] = defaultdict(set)
    for frame in frames():
        made[frame.pop("t")] |= set(frame)
    made["notice"] -= {"step", "steps_per_second"}  # what only some notices carry is said with their codes
    assert made == SERVER


def test_the_notices_that_are_named_are_all_there_are() -> None:
    row = next(line for line in SECTION.splitlines() if line.startswith("| `notice`"))
    sources = inspect.getsource(protocol) + inspect.getsource(room)
    sent = set(re.findall(r'frame_notice\(\s*"(\w+)"', sources))
    sent |= set(re.findall(r'frame\("notice", code="(\w+)"', sources))
    assert set(re.findall(r"\[`(\w+)`\]", row)) == sent
    assert sent <= set(ERROR_SENTENCES)


@pytest.mark.parametrize(
    ("limit", "sentence"), [("message_bytes", "at most {} bytes"), ("messages_per_s", "at most {} a second")]
)
def test_the_limits_in_the_section_are_those_in_force(limit: str, sentence: str) -> None:
    assert sentence.format(getattr(episode_limits(), limit)) in " ".join(SECTION.split())
