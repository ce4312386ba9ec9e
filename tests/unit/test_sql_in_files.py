"""SQL is in `.sql` files, where every engine explains it in a test; what Python builds is listed here."""

from __future__ import annotations

import ast
import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

pytestmark = pytest.mark.unit

ROOT = Path(__file__).parents[2] / "src" / "mcp_memory"

STATEMENT = re.compile(r"\s*(SELECT|INSERT|UPDATE|DELETE|WITH|CREATE|DROP|ALTER|COPY)\s+[\w\"'{(*]")
"""Statements that read or change rows or tables. BEGIN, PRAGMA and the like have no file of their own."""

BUILT = {
    # Nothing is fixed in them but keywords: the columns of a table, or the number of rows, make the text. For
    # every table they are explained on both engines (test_the_statements_that_write_rows_are_understood).
    "storage/database.py": 1,
    "storage/rows.py": 3,
    "storage/sqlite/connection.py": 1,
    "storage/postgres/connection.py": 1,
    # Another program's file, whose tables are not known before.
    "storage/sqlite/foreign_file.py": 2,
    # A trigger that is not ours, by whatever name it has.
    "storage/sqlite/repairing.py": 1,
    # No statements of the store: whether a pooled connection lives, and what a person is told to run.
    "storage/postgres/pool.py": 2,
    "storage/postgres/schema.py": 2,
}


def texts(tree: ast.AST) -> Iterator[str]:
    """Every text of a module, with a mark for what is filled in, without those that document something."""
    documenting = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    inside = {id(part) for node in ast.walk(tree) if isinstance(node, ast.JoinedStr) for part in node.values}
    for node in ast.walk(tree):
        if id(node) in documenting | inside:
            continue
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield node.value
        elif isinstance(node, ast.JoinedStr):
            yield "".join(str(part.value) if isinstance(part, ast.Constant) else "{}" for part in node.values)


def test_sql_that_python_builds_is_what_no_file_can_hold() -> None:
    found = Counter(
        file.relative_to(ROOT).as_posix()
        for file in ROOT.joinpath("storage").rglob("*.py")
        for text in texts(ast.parse(file.read_text("utf-8")))
        if STATEMENT.match(text)
    )
    assert found == BUILT


def test_no_other_layer_has_sql() -> None:
    layers = ("engine", "embedding", "capture", "ranking", "text", "server", "cli")
    found = [
        file.relative_to(ROOT).as_posix()
        for layer in layers
        for file in ROOT.joinpath(layer).rglob("*.py")
        for text in texts(ast.parse(file.read_text("utf-8")))
        if re.match(r"\s*(SELECT .* FROM|INSERT INTO|UPDATE \w+ SET|DELETE FROM) ", text)
    ]
    assert found == []
