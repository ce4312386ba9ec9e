"""Counts what a value costs in declarations: shapes, class names in several modules, places of a column.

python tools/shape_counts.py [SOURCE FOLDER] [COLUMN]
"""

from __future__ import annotations

import ast
import re
import sys
from collections import Counter, defaultdict
from pathlib import Path

SHAPES = {"Shape", "Body", "Page", "Paging", "Done", "Arguments", "Sized", "TypedDict", "BaseModel"}


def classes(folder: Path) -> list[tuple[str, str, set[str]]]:
    """(module, class, names of its bases)."""
    found = []
    for file in sorted(folder.rglob("*.py")):
        for node in ast.walk(ast.parse(file.read_text())):
            if isinstance(node, ast.ClassDef):
                bases = {getattr(base, "id", getattr(base, "attr", "")) for base in node.bases}
                found.append((file.relative_to(folder).as_posix(), node.name, bases))
    return found


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
    for module, name, _ in classes(root):
        modules[name].add(module)
    shapes = [one for one in classes(root) if one[0].startswith(("server", "cli")) and one[2] & SHAPES]
    lines = sum(len(file.read_text().splitlines()) for file in (root / "server").rglob("*.py"))
    print(f"shapes: {len(shapes)}, of which drawn from another: {drawn(root)}")
    print(f"class names in several modules: {sum(len(where) > 1 for where in modules.values())}")
    print(f"lines in server/: {lines:,}")
    counts = places(root, column)
    print(f"lines that name {column}: {counts.total()} ({', '.join(f'{k} {v}' for k, v in counts.items())})")


if __name__ == "__main__":
    main(*sys.argv[1:])
