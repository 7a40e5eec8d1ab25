"""The browser tests themselves: what a script may still change is waited for, not asserted at once."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

FOLDER = Path(__file__).parent
INSTANT = {
    "all",
    "all_inner_texts",
    "all_text_contents",
    "bounding_box",
    "content",
    "count",
    "evaluate",
    "evaluate_all",
    "get_attribute",
    "inner_html",
    "inner_text",
    "input_value",
    "is_checked",
    "is_disabled",
    "is_editable",
    "is_enabled",
    "is_hidden",
    "is_visible",
    "text_content",
    "title",
}
"""Questions to a page or a locator that are answered for this very moment.

`expect` has a patient form of most of them, `page.wait_for_function` of `evaluate`. What neither can say is
in `pages.py`: asked when the page has come to rest, or by `at_once`, where nothing changes any more.
"""


def instant_calls(node: ast.AST) -> list[str]:
    """The questions of this kind that an expression asks."""
    return [
        call.func.attr
        for call in ast.walk(node)
        if isinstance(call, ast.Call) and isinstance(call.func, ast.Attribute) and call.func.attr in INSTANT
    ]


def instant_names(function: ast.AST) -> dict[str, list[str]]:
    """The variables of a function that keep an answer of this kind, and the questions."""
    return {
        name.id: calls
        for node in ast.walk(function)
        if isinstance(node, ast.Assign | ast.AnnAssign | ast.NamedExpr) and node.value
        for target in (node.targets if isinstance(node, ast.Assign) else [node.target])
        for name in ast.walk(target)
        if isinstance(name, ast.Name) and (calls := instant_calls(node.value))
    }


def instant_asserts(source: str) -> list[str]:
    """Places where an `assert` hangs on what a page says, or said a line before, just at that moment."""
    found = []
    for function in ast.walk(ast.parse(source)):
        if not isinstance(function, ast.FunctionDef | ast.AsyncFunctionDef):
            continue
        names = instant_names(function)
        for node in ast.walk(function):
            if isinstance(node, ast.Assert):
                kept = [
                    name.id for name in ast.walk(node.test) if isinstance(name, ast.Name) and is_read(name)
                ]
                calls = instant_calls(node.test) + [call for name in kept for call in names.get(name, [])]
                found += [f"line {node.lineno}: {call}" for call in calls]
            if isinstance(node, ast.Attribute) and node.attr == "url" and asserted(function, node):
                found.append(f"line {node.lineno}: url")
    return found


def is_read(name: ast.Name) -> bool:
    return isinstance(name.ctx, ast.Load)


def asserted(function: ast.AST, wanted: ast.AST) -> bool:
    """Whether an expression stands in an `assert`."""
    return any(wanted in ast.walk(node.test) for node in ast.walk(function) if isinstance(node, ast.Assert))


def bare_conditions(source: str) -> list[str]:
    """
    Places where `wait_for_function` gets an expression.

    It has to be a function: where an expression is not true at once, Playwright asks again by `eval`, which
    the policy of the site forbids. So it fails only where the page is slow.
    """
    tree = ast.parse(source)
    texts = {
        node.targets[0].id: node.value
        for node in tree.body
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name)
    }
    return [
        f"line {call.lineno}"
        for call in ast.walk(tree)
        if isinstance(call, ast.Call)
        and isinstance(call.func, ast.Attribute)
        and call.func.attr == "wait_for_function"
        and "=>" not in ast.unparse(texts.get(getattr(call.args[0], "id", ""), call.args[0]))
    ]


@pytest.mark.parametrize("path", sorted(FOLDER.glob("*.py")), ids=lambda path: path.name)
def test_no_test_asserts_what_it_should_wait_for(path: Path) -> None:
    source = path.read_text(encoding="utf-8")
    assert instant_asserts(source) == []
    assert bare_conditions(source) == []


def test_the_check_finds_a_condition_that_is_no_function() -> None:
    source = """
WIDE = "innerWidth > 360"
DRAWN = "() => board.width > 0"
def test(page):
    page.wait_for_function(WIDE)
    page.wait_for_function(DRAWN)
    page.wait_for_function("!window.axe")
    page.wait_for_function("before => before !== innerWidth", arg=3)
"""
    assert bare_conditions(source) == ["line 5", "line 7"]


@pytest.mark.parametrize(
    ("body", "found"),
    [
        ("assert page.locator('p').is_visible() == (asked != shown)", ["line 2: is_visible"]),
        ("assert key not in page.content()", ["line 2: content"]),
        ("assert page.url.endswith('/')", ["line 2: url"]),
        ("box = board.bounding_box()\n    assert box and box['x'] > 0", ["line 3: bounding_box"] * 2),
        ("counts = (p.inner_text() for p in all_of)\n    assert sum(counts) == 3", ["line 3: inner_text"]),
        ("assert (width := page.evaluate('innerWidth')) > 3", ["line 2: evaluate"]),
        ("assert at_once(page, 'innerWidth') == 360", []),
        ("before = step.inner_text()\n    expect(step).not_to_have_text(before)", []),
    ],
)
def test_the_check_finds_such_an_assert(body: str, found: list[str]) -> None:
    assert instant_asserts(f"def test():\n    {body}\n") == found
