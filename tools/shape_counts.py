"""Counts what a value costs in declarations: shapes, copied fields, shared class names, places of a column.

python tools/shape_counts.py [SOURCE FOLDER] [COLUMN]
"""

from __future__ import annotations

import ast
import re
import sys
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

SHAPES = {"Shape", "Body", "Page", "Paging", "Done", "Arguments", "Sized", "TypedDict", "BaseModel"}


class Declared(NamedTuple):
    module: str
    name: str
    bases: set[str]
    lines: int


def nodes(folder: Path) -> Iterator[tuple[str, ast.AST]]:
    """Every node of every module, with the module's path."""
    for file in sorted(folder.rglob("*.py")):
        module = file.relative_to(folder).as_posix()
        yield from ((module, node) for node in ast.walk(ast.parse(file.read_text("utf-8"))))


def classes(folder: Path) -> list[Declared]:
    return [
        Declared(module, node.name, {_name(base) for base in node.bases}, _lines(node))
        for module, node in nodes(folder)
        if isinstance(node, ast.ClassDef)
    ]


def shapes(declared: Sequence[Declared]) -> list[Declared]:
    """The classes of the surfaces that derive from a shape, directly or not."""
    outside = [one for one in declared if one.module.startswith(("server", "cli"))]
    names = set(SHAPES)
    while more := {one.name for one in outside if one.bases & names} - names:
        names |= more
    return [one for one in outside if one.bases & names]


def copied(folder: Path) -> int:
    """Lines of calls and dictionaries that mostly hand on attributes, three or more."""
    count = 0
    for _, node in nodes(folder):
        if not isinstance(node, ast.Call | ast.Dict):
            continue
        given = node.values if isinstance(node, ast.Dict) else [one.value for one in node.keywords if one.arg]
        values: list[ast.expr] = list(given)
        attributes = sum(isinstance(value, ast.Attribute) for value in values)
        if attributes >= 3 and attributes * 2 >= len(values):
            count += _lines(node)
    return count


def _name(base: ast.expr) -> str:
    return str(getattr(base, "id", getattr(base, "attr", "")))


def _lines(node: ast.expr | ast.stmt) -> int:
    return (node.end_lineno or node.lineno) - node.lineno + 1


def drawn(folder: Path) -> int:
    return sum(file.read_text().count("\n@drawn(") for file in folder.rglob("*.py"))


def places(folder: Path, column: str) -> Counter[str]:
    """Lines that name the column, by the part of the house."""
    word = re.compile(rf"\b{column}\b")
    counts: Counter[str] = Counter()
    for file in (*folder.rglob("*.py"), *folder.rglob("*.sql")):
        part = file.relative_to(folder).parts[0]
        counts[part] += sum(bool(word.search(line)) for line in file.read_text().splitlines())
    return +counts


def main(folder: str = "src/mcp_memory", column: str = "context") -> None:
    root = Path(folder)
    modules: defaultdict[str, set[str]] = defaultdict(set)
    declared = classes(root)
    for one in declared:
        modules[one.name].add(one.module)
    found = shapes(declared)
    lengths = [len(file.read_text("utf-8").splitlines()) for file in root.rglob("*.py")]
    print(f"files: {len(lengths)}, lines: {sum(lengths):,}")
    print(
        f"shapes: {len(found)} in {sum(one.lines for one in found):,} lines, {drawn(root)} drawn from others"
    )
    print(f"lines that hand on fields one by one: {copied(root):,}")
    print(f"class names in several modules: {sum(len(where) > 1 for where in modules.values())}")
    counts = places(root, column)
    print(f"lines that name {column}: {counts.total()} ({', '.join(f'{k} {v}' for k, v in counts.items())})")


if __name__ == "__main__":
    main(*sys.argv[1:])
