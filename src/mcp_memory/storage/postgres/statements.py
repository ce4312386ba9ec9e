"""Named SQL in the notation of psycopg."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import psycopg
from psycopg.rows import DictRow

from mcp_memory.storage import queries
from mcp_memory.storage.database import Params

Raw = psycopg.Connection[DictRow]

SQL = queries.load("postgres")


def run(raw: Raw, name: str, slots: dict[str, object] | None = None, /, **params: Any) -> list[DictRow]:
    """All rows of a named query."""
    statement = translated(SQL[name].format(**slots) if slots else SQL[name])
    cursor = raw.execute(statement.sql, params)
    return cursor.fetchall() if cursor.description else []


@dataclass(frozen=True, slots=True)
class Statement:
    """SQL in the notation of the driver; each list of parameters, by prefix and length, is one array."""

    sql: str
    lists: tuple[tuple[str, int], ...]

    def bound(self, params: Params) -> Params:
        if not self.lists:
            return params
        arrays = {
            f"{prefix}_all": array_text([params[f"{prefix}{number}"] for number in range(length)])
            for prefix, length in self.lists
        }
        return {**params, **arrays}


_LIST = re.compile(r"(?<!NOT )IN \((:([a-z_]+)0(?:, :\2\d+)*)\)")
_LEXEME = re.compile(r"--[^\n]*|'(?:[^']|'')*'|::|%|:([A-Za-z_]\w*)")


@lru_cache(maxsize=2000)
def translated(sql: str) -> Statement:
    """Rewrite `:name` as `%(name)s`, except inside text and comments.

    A list of any length becomes one array: one statement to prepare and plan, not one per length.
    """
    lists = {prefix: names.count(":") for names, prefix in _LIST.findall(sql)}
    with_arrays = _LIST.sub(r"= ANY(:\2_all)", sql)
    return Statement(_LEXEME.sub(_as_psycopg, with_arrays), tuple(lists.items()))


def array_text(values: Sequence[object]) -> str:
    """A text literal of an array; the statement decides its type."""
    return "{" + ",".join(map(_element, values)) + "}"


def _element(value: object) -> str:
    if isinstance(value, str):
        return '"' + value.replace("\\", "\\\\").replace('"', '\\"') + '"'
    if isinstance(value, bytes):
        return f'"\\\\x{value.hex()}"'
    return "NULL" if value is None else str(value)


def _as_psycopg(found: re.Match[str]) -> str:
    if found[1]:
        return f"%({found[1]})s"
    return "" if found[0].startswith("--") else found[0].replace("%", "%%")
