"""Writes rows and keeps their earlier states, so that any act can be undone."""

import json
from base64 import b64encode
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import UTC, datetime
from functools import lru_cache
from hashlib import blake2b
from itertools import repeat
from json.encoder import encode_basestring_ascii
from math import isfinite
from types import MappingProxyType
from typing import Any

from mcp_memory.storage import undo_checks
from mcp_memory.storage.database import Columns, Connection, Row
from mcp_memory.storage.json_text import JsonText
from mcp_memory.storage.schema import COLUMNS, TABLE, is_binary, is_time
from mcp_memory.text.fingerprint import ContentHash, long_fingerprints
from mcp_memory.text.preview import shortened

_DIGEST_BYTES = 8
_FORMER_LENGTH = 16
"""Characters of a digest that an earlier release has made, which also covers the content's hash."""

_NOTHING: Mapping[str, Any] = MappingProxyType({})

Image = dict[str, Any]
"""One row: `table`, `key`, `before` (the earlier state; None: it did not exist), `after` (a digest of the new
state), and `own`: the volatile columns that the act itself changed."""


class Rows:
    """The only writer of the tables in `COLUMNS`."""

    def __init__(self, connection: Connection, space_id: int) -> None:
        self._connection = connection
        self._space_id = space_id
        self.images: list[Image] = []
        self.added: list[tuple[str, Sequence[Row]]] = []
        """Rows created in this transaction, with their table."""
        self.changes: list[tuple[str, Row | None, Row | None]] = []
        """Every other change, in order: the table, and the row before and after; None: it does not exist."""
        self.new: defaultdict[str, set[int]] = defaultdict(set)
        """By table: rows created in this transaction. They skip the cleanup of stale derived data."""

    def insert(self, table: str, values: Mapping[str, Any]) -> int:
        [row] = self.insert_all(table, {column: [value] for column, value in values.items()})
        return int(row["seq"])

    def insert_all(self, table: str, columns: Columns, shared: Mapping[str, Any] = _NOTHING) -> list[Row]:
        """Insert rows; columns that are not given are empty, and the `shared` ones the same in all.

        Returns them with all columns and their numbers, in order.
        """
        if not any(columns.values()):
            return []
        same = {"space_id": self._space_id, **shared}
        if unknown := {*same, *columns} - set(COLUMNS[table]):
            raise TypeError(f"{table} has no {', '.join(sorted(unknown))}")
        if twice := same.keys() & columns.keys():
            raise TypeError(f"{', '.join(sorted(twice))} cannot be both of each row and the same in all")
        seqs = self._connection.insert_numbered(table, columns, same)
        numbered = {**columns, "seq": seqs}
        blank = {**dict.fromkeys(COLUMNS[table]), **same}
        # Filled column by column: a bulk write has hundreds of rows.
        new = [blank.copy() for _ in seqs]
        for column, values in numbered.items():
            for row, value in zip(new, values, strict=True):
                row[column] = value
        self.new[table].update(seqs)
        self.images += [
            {"table": table, "key": seq, "before": None, "after": after}
            for seq, after in zip(seqs, digests(table, numbered, blank), strict=True)
        ]
        self.added.append((table, new))
        return new

    def update(self, table: str, seq: int, changes: Mapping[str, Any]) -> bool:
        """Returns whether the row exists and was changed."""
        before = self.find(table, seq)
        return before is not None and self._change(table, before, changes) is not before

    def changed(self, table: str, seq: int, changes: Mapping[str, Any]) -> Row:
        """Change a row and return its new state."""
        before = self.find(table, seq)
        if before is None:
            raise AssertionError(f"{table} {seq} cannot be changed: it does not exist")
        return self._change(table, before, changes)

    def delete(self, table: str, seq: int) -> bool:
        before = self.find(table, seq)
        if before is None:
            return False
        self._connection.change_many(delete_sql(table), [{"seq": seq}])
        self._note(table, seq, before, None)
        return True

    def find(self, table: str, seq: int) -> Row | None:
        found = self._connection.run(find_sql(table), {"seq": seq})
        return found[0] if found else None

    def restore(self, image: Image) -> str | None:
        """Restore the row to its earlier state, or return the reason why that is impossible."""
        table, seq = image["table"], image["key"]
        current, before = self.find(table, seq), restored(image["before"])
        if not has_state(table, current, image["after"]):
            return f"{named(table, seq, current or before)} has changed since"
        obstacle = undo_checks.to_losing if before is None else undo_checks.to_having
        found = obstacle(self._connection, table, before or current or {})
        if found:
            return f"{named(table, seq, before or current)} {found}"
        if before is None:
            self.delete(table, seq)
        elif current is None:
            self._bring_back(table, before)
        else:
            used = TABLE[table].volatile - set(image.get("own", ()))
            self.update(table, seq, {**before, **{column: current[column] for column in used}})
        return None

    def _change(self, table: str, before: Row, changes: Mapping[str, Any]) -> Row:
        real = {column: value for column, value in changes.items() if before[column] != value}
        if not real:
            return before
        self._connection.change_many(update_sql(table, tuple(real)), [{**real, "seq": before["seq"]}])
        after = {**before, **real}
        self._note(table, before["seq"], before, after)
        return after

    def _bring_back(self, table: str, row: Row) -> None:
        """Insert the row under its earlier number."""
        self._connection.insert_all(table, {column: [row[column]] for column in COLUMNS[table]})
        self._note(table, row["seq"], None, row)

    def _note(self, table: str, seq: int, before: Row | None, after: Row | None) -> None:
        image = {"table": table, "key": seq, "before": plain(before), "after": digest(table, after)}
        if before and after:
            own = [column for column in sorted(TABLE[table].volatile) if before[column] != after[column]]
            image |= {"own": own} if own else {}
        self.images.append(image)
        self.changes.append((table, before, after))


def packed(images: Iterable[Image]) -> list[Any]:
    """Images in the journal's format. New rows, which are most, have a short form: the table, the number of
    the first, and a digest for each that follows it.
    """
    kept: list[Any] = []
    new: list[Any] = []
    for image in images:
        if image["before"] is not None or "own" in image:
            kept.append(image)
            new = []
        elif new and new[0] == image["table"] and new[1] + len(new) - 2 == image["key"]:
            new.append(image["after"])
        else:
            new = [image["table"], image["key"], image["after"]]
            kept.append(new)
    return kept


def packed_text(images: Sequence[Image]) -> JsonText | list[Any]:
    """The same as JSON where it is one new row: of a bulk write, nearly all events have that."""
    if len(images) == 1:
        [image] = images
        if image["before"] is None and "own" not in image:
            return JsonText(f'[["{image["table"]}",{image["key"]},"{image["after"]}"]]')
    return packed(images)


def unpacked(kept: Iterable[Any]) -> list[Image]:
    """The inverse of `packed`."""
    images: list[Image] = []
    for image in kept:
        if isinstance(image, dict):
            images.append(image)
        else:
            table, first, *digests = image
            images += [
                {"table": table, "key": key, "before": None, "after": after}
                for key, after in enumerate(digests, first)
            ]
    return images


def update_sql(table: str, columns: tuple[str, ...]) -> str:
    return f"UPDATE {table} SET {', '.join(f'{column} = :{column}' for column in columns)} WHERE seq = :seq"


def delete_sql(table: str) -> str:
    return f"DELETE FROM {table} WHERE seq = :seq"


def find_sql(table: str) -> str:
    return f"SELECT {', '.join(COLUMNS[table])} FROM {table} WHERE seq = :seq"


def plain(row: Row | None) -> Row | None:
    """The row as JSON values."""
    if row is None:
        return None
    return {key: _PLAIN[type(value)](value) if type(value) in _PLAIN else value for key, value in row.items()}


def restored(row: Row | None) -> Row | None:
    """The inverse of `plain`."""
    if row is None:
        return None
    return {key: _restored(key, value) if isinstance(value, str) else value for key, value in row.items()}


def _restored(column: str, value: str) -> Any:
    if is_time(column):
        return datetime.fromisoformat(value)
    # Earlier releases kept the whole of it.
    return ContentHash(bytes.fromhex(value)) if is_binary(column) else value


def has_state(table: str, row: Row | None, wanted: str | None) -> bool:
    """Whether a row is in the state that a digest identifies; None: it does not exist."""
    if row is None or wanted is None:
        return row is None and wanted is None
    if len(wanted) != _FORMER_LENGTH:
        return digest(table, row) == wanted
    # Of an earlier release.
    rows = [row]
    if table == "memory":
        rows = [{**row, "content_hash": whole} for whole in long_fingerprints(row["content"])]
    texts = [_texts(table, _columns_of(one), {}, former=True)[0].encode() for one in rows]
    return wanted in [blake2b(text, digest_size=_DIGEST_BYTES).hexdigest() for text in texts]


def digest(table: str, row: Row | None) -> str | None:
    """Identifies the state of a row, without volatile columns and those that follow from others."""
    return None if row is None else digests(table, _columns_of(row))[0]


def digests(table: str, columns: Columns, shared: Mapping[str, Any] = _NOTHING) -> list[str]:
    """The digest of each row. Values of `columns` go before those that all rows share."""
    texts = map(str.encode, _texts(table, columns, shared))
    hashes = b"\0".join([blake2b(text, digest_size=_DIGEST_BYTES).digest() for text in texts])
    # Nine bytes are twelve characters, of which the last is that of the zero.
    encoded = b64encode(hashes + b"\0").decode()
    return [encoded[place : place + 11] for place in range(0, len(encoded), 12)]


def _columns_of(row: Row) -> Columns:
    return {column: [value] for column, value in row.items()}


def _texts(table: str, columns: Columns, shared: Mapping[str, Any], *, former: bool = False) -> list[str]:
    """What a digest covers of each row."""
    # The same text as `json.dumps(…, sort_keys=True)`, put together from columns: a bulk of fifty entities
    # has hundreds of rows, and all but a few values are the same in each.
    parts: list[Iterable[str]] = []
    same = "{"
    for column in _steady(table, tuple({**shared, **columns}), former):
        same += f'"{column}": '
        values = columns.get(column) or (shared[column],)
        # Where the first and the last are one object, mostly all are.
        if values[0] is not values[-1] or len({*map(id, values)}) > 1:
            write, ending = _writer_of(values)
            parts += repeat(same), map(write, values)
            same = f"{ending}, "
        else:
            same += f"{_value_text(values[0])}, "
    end = same.removesuffix(", ") + "}"
    if not parts:
        return [end] * len(next(iter(columns.values())))
    return list(map("".join, zip(*parts, repeat(end))))


def _writer_of(values: Sequence[Any]) -> tuple[Callable[[Any], str], str]:
    """What writes these values as `_value_text` does, quickly, and what follows each of them."""
    kinds = {*map(type, values)}
    if kinds == {str}:
        return encode_basestring_ascii, ""
    if kinds == {int} and min(values) > -_EXACT and max(values) < _EXACT:
        return int.__repr__, ".0"
    return _value_text, ""


@lru_cache(maxsize=256)
def _steady(table: str, columns: tuple[str, ...], former: bool) -> tuple[str, ...]:
    """The columns that a digest covers."""
    others = (column for column in columns if former or not is_binary(column))
    return tuple(sorted(set(others) - TABLE[table].volatile))


_EXACT = 2**53
"""Whole numbers below it are the same as floating-point numbers."""
_EMPTY: dict[type, str] = {dict: "{}", list: "[]", tuple: "[]"}


def _value_text(value: Any) -> str:
    kind = type(value)
    if value is None:
        return "null"
    if kind is str:
        return encode_basestring_ascii(value)
    if kind is int and -_EXACT < value < _EXACT:
        return f"{value}.0"
    if kind is datetime:
        return f'"{_iso(value)}"'
    if kind is float and isfinite(value):
        return float.__repr__(value)
    if not value and kind in _EMPTY:
        return _EMPTY[kind]
    return _sorted_json(_levelled(value))


def named(table: str, seq: int, row: Row | None) -> str:
    """A description of the row for people."""
    row = row or {}
    if table == "memory":
        return f"the memory {shortened(row.get('content', ''), 60)!r}"
    if table == "entity":
        return f"the entity {row.get('name', seq)!r}"
    what = {
        "entity_memory": "a link between an entity and a memory",
        "memory_version": "a version of a memory",
    }
    return what.get(table, f"{table} {seq}")


_sorted_json = json.JSONEncoder(sort_keys=True).encode


@lru_cache(maxsize=256)
def _iso(value: datetime) -> str:
    """Cached: rows of one transaction share their times."""
    return value.astimezone(UTC).isoformat()


def _whole_hash(value: ContentHash) -> str:
    return value.whole.hex()


_PLAIN: Mapping[type, Callable[[Any], str]] = {datetime: _iso, bytes: bytes.hex, ContentHash: _whole_hash}


def _levelled(value: Any) -> Any:
    if value is None or isinstance(value, str):
        return value
    # Databases return 1.0 for 1, or 10000000000000000 for 1e16.
    if isinstance(value, (int, float)):
        return float(value) if abs(value) < 2**1023 else value
    if isinstance(value, datetime):
        return _iso(value)
    if isinstance(value, dict):
        return {key: _levelled(inner) for key, inner in value.items()}
    if isinstance(value, list | tuple):
        return [_levelled(inner) for inner in value]
    return value
