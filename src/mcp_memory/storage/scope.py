"""The shared state of one transaction: connection, space, time and named SQL."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from functools import lru_cache
from itertools import chain, islice
from types import MappingProxyType
from typing import Any, TypeVar

from mcp_memory.model import Owner
from mcp_memory.storage import queries
from mcp_memory.storage.database import Connection, Database, Params, Row
from mcp_memory.storage.rows import Rows

R = TypeVar("R")

CHUNK = 512
"""Keys per statement: far below every engine's limit."""
_STEP = 64
"""Lists are as long as a power of two up to here, and a multiple of it beyond: each key is looked up."""


class Scope:
    def __init__(
        self,
        connection: Connection,
        database: Database,
        space_id: int,
        rows: Rows,
        at: datetime,
        provenance: Mapping[str, str] = MappingProxyType({}),
    ) -> None:
        self.connection = connection
        self.database = database
        self.space_id = space_id
        self.rows = rows
        self.at = at
        self.provenance = provenance
        """Stamped on every memory that this transaction adds."""
        self.vectors_at_hand: dict[tuple[Owner, int], tuple[int, bytes]] = {}
        """By owner and number: the model and vector of a text that this transaction writes."""
        self._queries = queries.load()

    def run(self, query: str, /, *, slots: dict[str, str] | None = None, **params: Any) -> list[Row]:
        return self.connection.run(self._sql(query, slots), {"space_id": self.space_id, **params})

    def run_tuples(
        self, query: str, /, *, slots: dict[str, str] | None = None, **params: Any
    ) -> list[tuple[Any, ...]]:
        """The same rows as plain tuples."""
        return self.connection.tuples(self._sql(query, slots), {"space_id": self.space_id, **params})

    def tuples(self, query: str, /, **params: Any) -> list[tuple[Any, ...]]:
        """The same rows as plain tuples, for hundreds of short ones."""
        return self.connection.tuples(self._sql(query, None), {"space_id": self.space_id, **params})

    def first(self, query: str, /, *, slots: dict[str, str] | None = None, **params: Any) -> Row | None:
        found = self.run(query, slots=slots, **params)
        return found[0] if found else None

    def count(self, query: str, /, *, slots: dict[str, str] | None = None, **params: Any) -> int:
        return int(self.run(query, slots=slots, **params)[0]["count"])

    def change(self, query: str, /, **params: Any) -> int:
        return self.connection.change(self._sql(query, None), {"space_id": self.space_id, **params})

    def change_many(self, query: str, rows: Iterable[dict[str, Any]]) -> None:
        given = [{"space_id": self.space_id, **row} for row in rows]
        if given:
            self.connection.change_many(self._sql(query, None), given)

    def fetch(
        self, query: str, keys: Iterable[Any], /, *, slots: dict[str, str] | None = None, **params: Any
    ) -> list[Row]:
        """Rows of a query with a `{keys}` slot, for any number of keys."""
        return list(chain.from_iterable(self._in_chunks(self.connection.run, query, keys, slots, params)))

    def fetch_tuples(
        self, query: str, keys: Iterable[Any], /, *, slots: dict[str, str] | None = None, **params: Any
    ) -> list[tuple[Any, ...]]:
        """The same rows as plain tuples."""
        return list(chain.from_iterable(self._in_chunks(self.connection.tuples, query, keys, slots, params)))

    def change_each(
        self, query: str, keys: Iterable[Any], /, *, slots: dict[str, str] | None = None, **params: Any
    ) -> None:
        """Run a statement with a `{keys}` slot, for any number of keys."""
        for chunk in _chunks(keys):
            names, bound = self.connection.listed(chunk)
            sql = self._sql(query, {**(slots or {}), "keys": names})
            self.connection.change_many(sql, [{"space_id": self.space_id, **bound, **params}])

    def _in_chunks(
        self,
        run: Callable[[str, Params], list[R]],
        query: str,
        keys: Iterable[Any],
        slots: dict[str, str] | None,
        params: Params,
    ) -> Iterator[list[R]]:
        for chunk in _chunks(keys):
            names, bound = self.connection.listed(chunk)
            sql = self._sql(query, {**(slots or {}), "keys": names})
            yield run(sql, {"space_id": self.space_id, **bound, **params})

    def _sql(self, query: str, slots: dict[str, str] | None) -> str:
        sql = self._queries[query]
        return _filled(sql, *slots.items()) if slots else sql


@lru_cache(maxsize=500)
def _filled(sql: str, *slots: tuple[str, str]) -> str:
    """The same object each time: what is kept about a statement is found by it, without reading its text."""
    return sql.format(**dict(slots))


def in_list(values: Sequence[Any], prefix: str = "k") -> tuple[str, dict[str, Any]]:
    """`:k0, :k1, …` and their values.

    The list is padded to one of a few lengths by repeating its last value, so that the number of
    different statements, and with it the engines' statement caches, stays small.
    """
    size = 1
    while size < min(len(values), _STEP):
        size *= 2
    if len(values) > _STEP:
        size = -(-len(values) // _STEP) * _STEP
    padded = [*values, *([values[-1]] * (size - len(values)))]
    listed, names = _places(prefix, size)
    return listed, dict(zip(names, padded, strict=True))


@lru_cache(maxsize=256)
def _places(prefix: str, size: int) -> tuple[str, tuple[str, ...]]:
    names = tuple(f"{prefix}{index}" for index in range(size))
    return ", ".join(f":{name}" for name in names), names


def _chunks(keys: Iterable[Any]) -> Iterator[list[Any]]:
    rest = iter(dict.fromkeys(keys))
    while chunk := list(islice(rest, CHUNK)):
        yield chunk
