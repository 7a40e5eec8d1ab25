"""
Row locks leave foreign keys alone.

A plain `select_for_update` holds up whoever inserts a row that refers to the locked one: a notice to an
account, a line of an upload to a run. Two such transactions wait for each other, and PostgreSQL kills one.
"""

import ast
from collections.abc import Iterator
from pathlib import Path

SITE = Path(__file__).parents[3] / "ember_site"
CHANGES_KEYS = {"runs/services/erasure.py", "accounts/services.py:account_erase"}
"""Who changes a unique column of the row and so takes the stronger lock in any case."""


def locks(path: Path) -> Iterator[tuple[str, ast.Call]]:
    name = path.relative_to(SITE).as_posix()
    for function in ast.walk(ast.parse(path.read_text())):
        if isinstance(function, ast.FunctionDef | ast.AsyncFunctionDef):
            for node in ast.walk(function):
                called = node.func if isinstance(node, ast.Call) else None
                if isinstance(called, ast.Attribute) and called.attr == "select_for_update":
                    yield f"{name}:{function.name}", node


def test_a_row_lock_holds_up_nobody_who_only_refers_to_the_row() -> None:
    found = [
        lock for app in ("runs", "accounts") for path in (SITE / app).rglob("*.py") for lock in locks(path)
    ]
    assert len(found) > 8
    for where, call in found:
        if where in CHANGES_KEYS or where.split(":")[0] in CHANGES_KEYS:
            continue
        assert any(keyword.arg == "no_key" for keyword in call.keywords), f"{where}, line {call.lineno}"
