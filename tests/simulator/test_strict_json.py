"""JSON is read strictly and written in one canonical form."""

from __future__ import annotations

import contextlib
import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from simulator import EmberError, RecordFormatError, ScenarioError, canonical_json, indented_json, parse_json

JSON_VALUES: st.SearchStrategy[Any] = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(min_value=-(2**63), max_value=2**64 - 1)
    | st.floats(allow_nan=False, allow_infinity=False).map(lambda value: value + 0.0)
    | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=12,
)


@settings(max_examples=150)
@given(JSON_VALUES)
def test_decode_of_encode_is_identity(value: Any) -> None:
    assert parse_json(canonical_json(value)) == value
    assert parse_json(indented_json(value)) == value
    assert canonical_json(parse_json(indented_json(value))) == canonical_json(value)


@settings(max_examples=200)
@given(st.binary(max_size=60) | st.text(max_size=60))
def test_arbitrary_bytes_only_ever_raise_the_given_error(data: bytes | str) -> None:
    with contextlib.suppress(ScenarioError):
        value = parse_json(data, ScenarioError)
        assert parse_json(canonical_json(value)) == value


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ({"b": 1, "a": [1, 2]}, '{"a":[1,2],"b":1}'),
        ({"P2": 0, "P10": 0}, '{"P10":0,"P2":0}'),
        ("ü\u2028\U0001f525", '"\\u00fc\\u2028\\ud83d\\udd25"'),
        (0.5, "0.5"),
        (1.0, "1.0"),
        (1e-07, "1e-07"),
        (2**64 - 1, "18446744073709551615"),
        (True, "true"),
        (None, "null"),
    ],
)
def test_the_canonical_form_is_sorted_dense_ascii(value: Any, text: str) -> None:
    assert canonical_json(value) == text


def test_keys_are_sorted_by_code_point() -> None:
    keys = ["a", "B", "_", "-", "0", "é", "\U0001f525", "\uffff"]
    assert list(json.loads(canonical_json(dict.fromkeys(keys, 0)))) == sorted(keys)


def test_the_file_form_has_two_spaces_and_a_final_newline() -> None:
    assert indented_json({"b": [1], "a": {}}) == '{\n  "a": {},\n  "b": [\n    1\n  ]\n}\n'


def test_minus_zero_is_read_as_zero() -> None:
    assert str(parse_json("-0.0")) == "0.0"
    assert str(parse_json('{"a": -0e0}')["a"]) == "0.0"


HOSTILE: dict[str, tuple[str | bytes, str]] = {
    "repeated key": ('{"a": 1, "a": 1}', "a"),
    "repeated key deep inside": ('{"a": [{"b": {"c": 1, "c": 2}}]}', "a[0].b.c"),
    "repeated key by escape": ('{"a": 1, "\\u0061": 2}', "a"),
    "NaN": ('{"a": NaN}', "a"),
    "Infinity": ('{"a": [1, Infinity]}', "a[1]"),
    "minus Infinity": ('{"a": -Infinity}', "a"),
    "overflow": ('{"a": 1e999}', "a"),
    "minus overflow": ('{"a": -1e999}', "a"),
    "long integer": ('{"a": ' + "9" * 10_000 + "}", "a"),
    "long negative integer": ('{"a": -' + "9" * 10_000 + "}", "a"),
    "integer of 21 digits": ('{"a": 100000000000000000000}', "a"),
    "lone high surrogate": ('{"a": "\\ud800"}', "a"),
    "lone low surrogate": ('{"a": ["x", "\\udfff"]}', "a[1]"),
    "surrogates in the wrong order": ('{"a": "\\udd25\\ud83d"}', "a"),
    "deep list": ("[" * 100_000, ""),
    "deep closed list": ("[" * 100_000 + "]" * 100_000, ""),
    "deep object": ('{"a":' * 100_000 + "1" + "}" * 100_000, ""),
    "byte order mark": (b"\xef\xbb\xbf{}", ""),
    "byte order mark as text": ("\ufeff{}", ""),
    "UTF-16 little endian": ("{}".encode("utf-16-le"), ""),
    "UTF-16 with mark": ('{"a": 1}'.encode("utf-16"), ""),
    "UTF-32": ('{"a": 1}'.encode("utf-32"), ""),
    "latin-1": ('{"a": "é"}'.encode("latin-1"), ""),
    "surrogate as UTF-8": (b'{"a": "\xed\xa0\x80"}', ""),
    "overlong UTF-8": (b'{"a": "\xc0\xaf"}', ""),
    "empty": (b"", ""),
    "blank": (b" \n ", ""),
    "two documents": ("{} {}", ""),
    "trailing comma": ('{"a": 1,}', ""),
    "comment": ('{"a": 1} // yes', ""),
    "single quotes": ("{'a': 1}", ""),
    "leading zero": ('{"a": 01}', ""),
    "plus sign": ('{"a": +1}', ""),
    "hexadecimal": ('{"a": 0x1}', ""),
    "bare dot": ('{"a": .5}', ""),
    "control character": ('{"a": "\x00"}', ""),
    "raw newline in a string": ('{"a": "x\ny"}', ""),
    "cut": ('{"a": [1, 2', ""),
    "null bytes": (b"\x00" * 20, ""),
    "PNG": (b"\x89PNG\r\n\x1a\n" + bytes(range(64)), ""),
    "exotic white space": ("\u00a0{}", ""),
}


@pytest.mark.parametrize("name", HOSTILE)
@pytest.mark.parametrize("error", [ScenarioError, RecordFormatError, EmberError])
def test_a_hostile_document_is_refused_with_its_place(name: str, error: type[EmberError]) -> None:
    document, place = HOSTILE[name]
    with pytest.raises(error) as caught:
        parse_json(document, error)
    assert caught.value.place == place
    assert caught.value.message
    assert len(str(caught.value)) < 400


def test_a_paired_surrogate_escape_is_one_character() -> None:
    assert parse_json('"\\ud83d\\udd25"') == "\U0001f525"


def test_a_lone_surrogate_in_given_text_is_refused() -> None:
    with pytest.raises(ScenarioError):
        parse_json('"\ud800"', ScenarioError)


def test_an_escaped_backslash_before_a_u_is_no_surrogate() -> None:
    assert parse_json('"\\\\ud800"') == "\\ud800"


@pytest.mark.parametrize(
    ("text", "where", "what"),
    [
        ('{"a":1,}', "line 1, column 7", "Illegal trailing comma before end of object"),
        ('{"a":1 ,\n }', "line 1, column 8", "Illegal trailing comma before end of object"),
        ("[1,]", "line 1, column 3", "Illegal trailing comma before end of array"),
        ('{"a":[1,\t\r\n],}', "line 1, column 8", "Illegal trailing comma before end of array"),
        ("[1,}", "line 1, column 4", "Expecting value"),
        ('{"a":1,]', "line 1, column 8", "Expecting property name enclosed in double quotes"),
        ('{"a":1,,}', "line 1, column 8", "Expecting property name enclosed in double quotes"),
        ('{"a":\n}', "line 2, column 1", "Expecting value"),
        ("[1 2]", "line 1, column 4", "Expecting ',' delimiter"),
        ('"abc', "line 1, column 1", "Unterminated string starting at"),
        ('"a\x01"', "line 1, column 3", "Invalid control character at"),
        ("[1]]", "line 1, column 4", "Extra data"),
        ("", "line 1, column 1", "Expecting value"),
    ],
)
def test_broken_json_is_told_in_the_same_words_under_every_python(text: str, where: str, what: str) -> None:
    with pytest.raises(RecordFormatError) as caught:
        parse_json(text, RecordFormatError)
    assert str(caught.value) == f"expected JSON, got something else at {where} ({what})"
