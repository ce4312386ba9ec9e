"""Named SQL, kept in files beside this one and read once."""

import re
from functools import cache
from importlib import resources

from mcp_memory.storage.database import Script

_BLOCK = re.compile(r"^-- (\w+) --\n(.*?)(?=^-- \w+ --\n|\Z)", re.MULTILINE | re.DOTALL)
_MIGRATION = re.compile(r"(\d{4})_(\w+)\.(sqlite|postgres)\.sql")


@cache
def load() -> dict[str, str]:
    """Every shared query by its name."""
    found: dict[str, str] = {}
    for file in sorted(_folder("sql").iterdir(), key=lambda entry: entry.name):
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
    for file in _folder("migrations").iterdir():
        match = _MIGRATION.fullmatch(file.name)
        if match and match[3] == engine:
            scripts.append(Script(int(match[1]), match[2], file.read_text("utf-8")))
    return tuple(sorted(scripts, key=lambda script: script.number))


def _folder(name: str) -> resources.abc.Traversable:
    return resources.files("mcp_memory.storage").joinpath(name)
