"""One transaction on an apsw connection, and how values are stored."""

import json
import re
from array import array
from collections.abc import Callable, Hashable, Sequence
from datetime import UTC, datetime, timedelta
from functools import lru_cache
from itertools import chain
from types import NoneType
from typing import Any, NamedTuple

import apsw

from mcp_memory.storage import queries
from mcp_memory.storage.database import Columns, Params, Row
from mcp_memory.storage.json_text import JsonText, compact_encoder
from mcp_memory.storage.schema import is_binary, is_time
from mcp_memory.storage.scope import in_list
from mcp_memory.text.fingerprint import ContentHash

_SQL = queries.load("sqlite")
_LISTED = _SQL["listed_keys"]

APPLICATION_ID = 0x6D656D31
""""mem1" in the file header: other programs' databases are refused."""

_NO_PARAMS: Params = {}
_Values = tuple[tuple[Any, ...], ...]
_STORED_AS_IS = frozenset({str, JsonText, int, float, bytes, NoneType, apsw.carray})
_AS_JSON = frozenset({dict, list, tuple})
_PLAIN = (str, int, float, bytes)
_LONGEST_KEPT = 200  # characters of JSON that is parsed once
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND = timedelta(microseconds=1)
_to_json = compact_encoder()
_ROWS_AT_ONCE = 192
"""Rows of one INSERT, at most: of all columns of the widest table, it is short enough to be kept prepared.

The interpreter is let go and taken back for every statement, and between two of them another thread may
keep it for milliseconds: one statement for many rows is quicker, and much more so beside other work.
"""
_MOST_AT_ONCE = 1024
"""The same for tables to which each statement is work, which have few columns."""
_STEP = 64
"""Statements have room for a power of two of rows up to here, and for a multiple of it beyond: so few
different ones are prepared.
"""


_IDS = frozenset({"act", "subject"})
"""Columns whose ids are stored as bytes, where they are UUIDs."""
_UUIDS = re.compile(r"(?:[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}(?:\n(?!\Z)|\Z))+")
_UUID_LENGTH = 37  # with a line break
_WHOLE_HASH = re.compile(r"[0-9a-f]{64}")
_COMPARED = re.compile(r"\b(?:act|subject) (?:=|<>|IN) \(?(:\w+(?:, :\w+)*)|(?<=[(,] )(:act|:subject)\b")


class Form(NamedTuple):
    """How values are stored."""

    as_is: frozenset[object]
    """Types whose values SQLite stores as they are."""
    stored: Callable[[Any], Any]
    """A value of any other type."""
    ids: Callable[[Sequence[Any]], Sequence[Any]]
    """Acts or subjects of events."""


class SqliteConnection:
    def __init__(self, raw: apsw.Connection, form: "Form | None" = None) -> None:
        self.raw = raw
        self._form = form or COMPACT
        self.seen: dict[Hashable, Any] = {}
        """Derived from the snapshot by what searches it; valid until the transaction writes."""
        self._changes_before = raw.total_changes()

    @property
    def is_writing(self) -> bool:
        """Whether no other connection can write meanwhile."""
        return self.raw.txn_state("main") == apsw.SQLITE_TXN_WRITE

    @property
    def has_written(self) -> bool:
        """Whether the transaction has changes that nobody else sees, and that may be taken back."""
        return self.raw.total_changes() != self._changes_before

    def run(self, sql: str, params: Params = _NO_PARAMS) -> list[Row]:
        cursor = self.raw.execute(sql, self._bound(sql, params))
        first = next(cursor, None)
        if first is None:
            return []
        return _row_reader(cursor.get_description())((first, *cursor))

    def tuples(self, sql: str, params: Params = _NO_PARAMS) -> list[tuple[Any, ...]]:
        cursor = self.raw.execute(sql, self._bound(sql, params))
        first = next(cursor, None)
        if first is None:
            return []
        return _tuple_reader(cursor.get_description())((first, *cursor))

    def listed(self, keys: Sequence[Any]) -> tuple[str, Params]:
        # One parameter: hundreds with names take longer to bind than their rows to read.
        kinds = {*map(type, keys)}
        if kinds == {int}:
            return _LISTED, {"keys": apsw.carray(array("q", keys))}
        if kinds <= {bytes, ContentHash} and self._form is COMPACT:
            return _LISTED, {"keys": apsw.carray(tuple(map(bytes, keys)))}
        return in_list(keys)

    def change(self, sql: str, params: Params = _NO_PARAMS) -> int:
        before = self.raw.total_changes()
        self.raw.execute(sql, self._bound(sql, params))
        made = self.raw.total_changes() - before
        # The triggers of a running migration double each change (see `online_migration`).
        return self.raw.changes() if made and self._form is TEXT else made

    def change_many(self, sql: str, rows: Sequence[Params]) -> None:
        self.raw.executemany(sql, (self._bound(sql, row) for row in rows))

    def insert_all(
        self, table: str, columns: Columns, shared: Params = _NO_PARAMS, *, at_once: bool = False
    ) -> None:
        same = self._stored_values(shared)
        own = self._stored_columns(columns)
        values = list(chain.from_iterable(zip(*own.values(), strict=True)))
        width = len(own)
        most = (_MOST_AT_ONCE if at_once else _ROWS_AT_ONCE) * width
        for begin in range(0, len(values), most):
            some = values[begin : begin + most]
            count = len(some) // width
            room = _room_for(count)
            sql = _insert_sql(table, tuple(shared), tuple(own), room)
            rest = [*[None] * ((room - count) * width), count] if room > 1 else []
            # Longer ones are rare, and take much memory where they are kept prepared.
            self.raw.execute(sql, [*same, *some, *rest], can_cache=room <= _ROWS_AT_ONCE)

    def insert_numbered(self, table: str, columns: Columns, shared: Params = _NO_PARAMS) -> list[int]:
        count = len(next(iter(columns.values())))
        if count == 1:
            numbering = f"{_insert_sql(table, tuple(shared), tuple(columns), 1)} RETURNING seq"
            values = [*self._stored_values(shared), *chain(*self._stored_columns(columns).values())]
            return [seq for (seq,) in self.raw.execute(numbering, values)]
        last = self._last_number(table)
        numbers = list(range(last + 1, last + 1 + count))
        self.insert_all(table, {"seq": numbers, **columns}, shared)
        return numbers

    def _last_number(self, table: str) -> int:
        """The largest number that a row of this table has or had. Nobody else writes during a write."""
        [[last]] = self.raw.execute(_SQL["last_number"].format(table=table), {"table": table})
        return int(last)

    def _stored_columns(self, columns: Columns) -> Columns:
        return {
            name: self._form.ids(values) if name in _IDS else _stored_column(values, self._form)
            for name, values in columns.items()
        }

    def _stored_values(self, params: Params) -> list[Any]:
        return list(chain(*self._stored_columns({name: [value] for name, value in params.items()}).values()))

    def _bound(self, sql: str, params: Params) -> dict[str, Any]:
        # Hot path: every written value passes here, and most need no conversion.
        as_is, stored, ids = self._form
        bound = {name: value if type(value) in as_is else stored(value) for name, value in params.items()}
        for name in _id_parameters(sql):
            [bound[name]] = ids([bound[name]])
        return bound


def _room_for(count: int) -> int:
    """The rows of the statement that inserts so many."""
    if count > _STEP:
        return -(-count // _STEP) * _STEP
    return 1 << (count - 1).bit_length()


@lru_cache(maxsize=500)
def _insert_sql(table: str, shared: tuple[str, ...], own: tuple[str, ...], room: int) -> str:
    """Inserts rows; the first parameters are the values that all of them share.

    If there is room for several, the last parameter is how many of them are given.
    """
    into = f"INSERT INTO {table} ({', '.join((*shared, *own))})"
    same = [f"?{place}" for place in range(1, len(shared) + 1)]
    if room == 1:
        return f"{into} VALUES ({', '.join([*same, *('?' for _ in own)])})"
    row = f"({','.join('?' for _ in own)})"
    each = [f"column{place}" for place in range(1, len(own) + 1)]
    return f"{into} SELECT {', '.join([*same, *each])} FROM (VALUES {','.join([row] * room)}) LIMIT ?"


def _stored_column(values: Sequence[Any], form: Form) -> Sequence[Any]:
    """The values of one column, which is often the same value in every row."""
    kinds = {*map(type, values)}
    if kinds <= form.as_is:
        return values
    if len({*map(id, values)}) == 1:
        return [form.stored(values[0])] * len(values)
    if kinds <= _AS_JSON and all(values):
        return list(map(_to_json, values))
    return [value if type(value) in form.as_is else form.stored(value) for value in values]


@lru_cache(maxsize=2000)
def _id_parameters(sql: str) -> tuple[str, ...]:
    """The parameters of a statement that are stored in, or compared with, a column of ids."""
    found = (listed or single for listed, single in _COMPARED.findall(sql))
    return tuple({name for names in found for name in names.replace(":", "").split(", ")})


def _id_bytes(ids: Sequence[Any]) -> Sequence[Any]:
    # Mostly all are UUIDs, and read as one text: a bulk write has hundreds.
    text = "\n".join(ids) if {*map(type, ids)} == {str} else ""
    if _UUIDS.fullmatch(text) and len(text) == _UUID_LENGTH * len(ids) - 1:
        digits = bytes.fromhex(text.replace("-", ""))
        return [digits[place : place + 16] for place in range(0, len(digits), 16)]
    return [_id_bytes([id])[0] for id in ids] if len(ids) > 1 else ids


@lru_cache(maxsize=1000)
def _id_text(stored: bytes | str) -> str:
    if isinstance(stored, str):
        return stored
    digits = stored.hex()
    return f"{digits[:8]}-{digits[8:12]}-{digits[12:16]}-{digits[16:20]}-{digits[20:]}"


def _stored(value: Any) -> Any:
    if isinstance(value, datetime):
        return microseconds(value)
    # A subclass, such as an enumeration. Not asked of plain values: a bulk write stores hundreds of them.
    if type(value) not in _AS_JSON and isinstance(value, _PLAIN):
        return value
    if not value:
        return "[]" if isinstance(value, list | tuple) else "{}"
    return _to_json(value)


def _stored_as_text(value: Any) -> Any:
    """As the releases before schema 14 have done it."""
    if isinstance(value, datetime):
        return _time_text(value)
    return value.whole.hex() if isinstance(value, ContentHash) else _stored(value)


@lru_cache(maxsize=256)
def _time_text(value: datetime) -> str:
    """Fixed width, so that text order is time order."""
    return value.astimezone(UTC).isoformat(timespec="microseconds")


@lru_cache(maxsize=256)
def microseconds(value: datetime) -> int:
    """Since 1970. Cached: rows of one transaction share their times."""
    return (value.astimezone(UTC) - _EPOCH) // _MICROSECOND


@lru_cache(maxsize=1000)
def _row_reader(description: tuple[tuple[str, str | None], ...]) -> Callable[[_Values], list[Row]]:
    """Converts rows with these columns, by their declared types."""
    names = tuple(name for name, _ in description)
    found = ((name, _converter(name, declared)) for name, declared in description)
    converters = tuple((name, convert) for name, convert in found if convert is not None)

    def read(rows: _Values) -> list[Row]:
        # Hot path: every value that is read passes here. Hence no `strict`, and all rows at once.
        found = [dict(zip(names, values)) for values in rows]  # noqa: B905
        for name, convert in converters:
            for row in found:
                if (value := row[name]) is not None:
                    row[name] = convert(value)
        return found

    return read


@lru_cache(maxsize=1000)
def _tuple_reader(description: tuple[tuple[str, str | None], ...]) -> Callable[[_Values], list[Any]]:
    """The same for rows that stay tuples."""
    found = ((place, _converter(*column)) for place, column in enumerate(description))
    converters = tuple((place, convert) for place, convert in found if convert is not None)

    def read(rows: _Values) -> list[Any]:
        if not converters:
            return list(rows)
        columns: list[Sequence[Any]] = list(zip(*rows))  # noqa: B905 (hot path)
        for place, convert in converters:
            columns[place] = [value if value is None else convert(value) for value in columns[place]]
        return list(zip(*columns))  # noqa: B905

    return read


def _from_json(text: str) -> Any:
    # Fast path: most are empty.
    if text == "{}":
        return {}
    if text == "[]":
        return []
    known = _flat_object(text) if len(text) <= _LONGEST_KEPT else None
    return json.loads(text) if known is None else dict(known)


@lru_cache(maxsize=1000)
def _flat_object(text: str) -> dict[str, Any] | None:
    """An object of plain values, which may be copied; None for anything else.

    Cached: the memories that a client wrote have the same provenance.
    """
    found = json.loads(text)
    is_flat = isinstance(found, dict) and not any(isinstance(one, dict | list) for one in found.values())
    return found if is_flat else None


@lru_cache(maxsize=1000)
def time_of(stored: int | str) -> datetime:
    """Cached: rows of one transaction share their times."""
    if isinstance(stored, str):  # of a file that is not migrated yet, or by an earlier program
        return datetime.fromisoformat(stored)
    return _EPOCH + timedelta(microseconds=stored)


def _converter(name: str, declared: str | None) -> Callable[[Any], Any] | None:
    if declared == "TIMESTAMPTZ" or (declared is None and is_time(name)):  # an expression has no type
        return time_of
    return _hash_of if is_binary(name) else _BY_TYPE.get(declared)


def _hash_of(stored: bytes | str) -> bytes | str:
    """Text: of a file that is not migrated yet."""
    if isinstance(stored, bytes) or not _WHOLE_HASH.fullmatch(stored):
        return stored
    return ContentHash(bytes.fromhex(stored))


_BY_TYPE: dict[str | None, Callable[[Any], Any]] = {"JSONB": _from_json, "UUID_BLOB": _id_text}

COMPACT = Form(as_is=_STORED_AS_IS | {ContentHash}, stored=_stored, ids=_id_bytes)
TEXT = Form(as_is=_STORED_AS_IS, stored=_stored_as_text, ids=lambda ids: ids)
"""That of schema 13 and before, whose tables are served until they are migrated."""
LAST_OF_TEXT = 13
