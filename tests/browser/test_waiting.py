"""The browser tests themselves: what a script may still change is waited for, not asserted at once."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

FOLDER = Path(__file__).parent
INSTANT = {
    "all_inner_texts",
    "all_text_contents",
    "count",
    "inner_text",
    "input_value",
    "is_checked",
    "is_disabled",
    "is_enabled",
    "is_hidden",
    "is_visible",
    "text_content",
}
"""Questions to a locator that are answered for this very moment; `expect` has a patient form of each."""


def instant_asserts(source: str) -> list[str]:
    """Places where an `assert` hangs on what a locator says just now."""
    return [
        f"line {node.lineno}: {call.func.attr}"
        for node in ast.walk(ast.parse(source))
        if isinstance(node, ast.Assert)
        for call in ast.walk(node.test)
        if isinstance(call, ast.Call) and isinstance(call.func, ast.Attribute) and call.func.attr in INSTANT
    ]


@pytest.mark.parametrize("path", sorted(FOLDER.glob("test_*.py")), ids=lambda path: path.name)
def test_no_test_asserts_what_it_should_wait_for(path: Path) -> None:
    assert instant_asserts(path.read_text(encoding="utf-8")) == []


def test_the_check_finds_such_an_assert() -> None:
    found = instant_asserts("def test():\n    assert page.locator('p').is_visible() == (asked != shown)\n")
    assert found == ["line 2: is_visible"]
