"""What clients send is read strictly, and every refusal has a code."""

from __future__ import annotations

import json
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ember_site.core.codes import ERROR_SENTENCES
from ember_site.episodes.protocol import Act, Hello, MessageError, Sync, _unique_keys, message_read

FRAMES = json.loads(Path(__file__).with_name("socket_frames.json").read_text())
LIMIT = 64 * 1024


@pytest.mark.parametrize("text", FRAMES["client"])
def test_every_sample_of_the_client_is_understood(text: str) -> None:
    message_read(text, max_bytes=LIMIT)


def test_messages_become_what_they_say() -> None:
    assert message_read('{"t":"hello","v":1,"have":null}', max_bytes=LIMIT) == Hello(v=1)
    assert message_read('{"t":"sync"}', max_bytes=LIMIT) == Sync()
    act = message_read('{"t":"act","step":3,"actions":{"A":"east"}}', max_bytes=LIMIT)
    assert act == Act(step=3, actions={"A": "east"})


BAD: list[Any] = [
    "{oops",
    "",
    "[]",
    '"x"',
    "null",
    "41",
    "[" * 50_000,
    '{"t":"dance"}',
    '{"step":1,"actions":{}}',
    '{"t":"act","step":-1,"actions":{}}',
    '{"t":"act","step":0,"actions":{}}',
    '{"t":"act","step":9223372036854775808,"actions":{}}',
    '{"t":"act","step":' + "9" * 5000 + ',"actions":{}}',
    '{"t":"act","step":"41","actions":{}}',
    '{"t":"act","step":1.0,"actions":{}}',
    '{"t":"act","step":true,"actions":{}}',
    '{"t":"act","step":NaN,"actions":{}}',
    '{"t":"act","step":1,"actions":{"A":NaN}}',
    '{"t":"act","step":1,"actions":{"A":1}}',
    '{"t":"act","step":1,"actions":[]}',
    '{"t":"act","step":1}',
    '{"t":"act","step":1,"actions":{},"extra":1}',
    '{"t":"act","step":1,"step":2,"actions":{}}',
    '{"t":"act","step":1,"actions":{"A":"east","A":"west"}}',
    '{"t":"act","step":1,"actions":{},"assist":3}',
    '{"t":"hello","v":2}',
    '{"t":"hello","v":1,"have":{"step":-1}}',
    '{"t":"got","step":null}',
    '{"t":"ping"} {"t":"ping"}',
    '﻿{"t":"ping"}',
]


@pytest.mark.parametrize("text", BAD)
def test_a_bad_message_is_refused_with_a_code_and_a_sentence(text: str) -> None:
    with pytest.raises(MessageError) as refused:
        message_read(text, max_bytes=LIMIT)
    assert refused.value.code == "message_invalid"
    assert refused.value.message
    assert refused.value.code in ERROR_SENTENCES


def test_binary_and_oversized_messages_have_codes_of_their_own() -> None:
    for text, code in ((None, "message_binary"), ("x" * (LIMIT + 1), "message_too_large")):
        with pytest.raises(MessageError) as refused:
            message_read(text, max_bytes=LIMIT)
        assert refused.value.code == code
    wide = '{"t":"ping"}' + "é" * LIMIT  # few characters, many bytes
    with pytest.raises(MessageError, match="at most"):
        message_read(wide[:LIMIT], max_bytes=LIMIT)


class CountedKey(str):
    """A key that counts how often it is compared with another."""

    compared = 0

    def __eq__(self, other: object) -> bool:
        CountedKey.compared += 1
        return str.__eq__(self, other)

    __hash__ = str.__hash__


def test_a_repeated_key_is_found_by_looking_at_each_key_once() -> None:
    # The event loop reads messages: keys compared with all others would hold everybody for seconds.
    keys = [CountedKey(number) for number in range(8_000)]
    with pytest.raises(ValueError, match="'7999' is repeated"):
        _unique_keys([(key, "") for key in [*keys, CountedKey(7_999)]])
    assert CountedKey.compared < len(keys) / 10


@given(st.text(max_size=200) | st.from_regex(r'\{"t":"(act|hello|got)".{0,80}', fullmatch=True))
def test_nothing_but_the_message_error_is_ever_raised(text: str) -> None:
    with suppress(MessageError):
        message_read(text, max_bytes=LIMIT)
