"""Named SQL and migrations, read once from the `.sql` files of this package."""

import re
from collections.abc import Mapping
from functools import cache
from importlib import resources

from mcp_memory.storage.database import Script

SEAM = ("matching", "nearest", "put_vector", "remove_vectors", "remove_words", "sequences", "set_sequence")
"""Queries that each engine defines in its own SQL, under the same name."""

_BLOCK = re.compile(r"^-- (\w+) --\n(.*?)(?=^-- \w+ --\n|\Z)", re.MULTILINE | re.DOTALL)
_MIGRATION = re.compile(r"(\d{4})_(\w+)\.(sqlite|postgres)\.sql")


@cache
def load(engine: str | None = None) -> Mapping[str, str]:
    """Queries by name: those that both engines share, or those of one engine."""
    folder = _ROOT.joinpath(engine, "sql") if engine else _ROOT.joinpath("sql")
    found: dict[str, str] = {}
    for file in sorted(folder.iterdir(), key=lambda entry: entry.name):
        if not file.name.endswith(".sql"):
            continue
        for name, sql in _BLOCK.findall(file.read_text("utf-8")):
            if name in found:
                raise ValueError(f"the query {name} is defined twice")
            found[name] = sql.strip().rstrip(";")
    return found


@cache
def migrations(engine: str) -> tuple[Script, ...]:
    """The migrations of one engine, in order."""
    scripts = []
    for file in _ROOT.joinpath("migrations").iterdir():
        match = _MIGRATION.fullmatch(file.name)
        if match and match[3] == engine:
            scripts.append(Script(int(match[1]), match[2], file.read_text("utf-8")))
    ordered = tuple(sorted(scripts, key=lambda script: script.number))
    if [script.number for script in ordered] != list(range(1, len(ordered) + 1)):
        raise ValueError(f"the migrations of {engine} are not numbered 1, 2, 3, …")
    return ordered


_ROOT = resources.files("mcp_memory.storage")
