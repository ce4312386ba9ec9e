"""A trigram index per large space, which narrows a substring search down to candidates.

It is built in the background, so that no write waits for it. Rows that are newer than the index, or have
changed since, count as candidates; every candidate's text is then compared, so the answers are those of a
scan.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from mcp_memory.model import Owner
from mcp_memory.storage import queries
from mcp_memory.storage.database import Connection, Database, Row

INDEX_FROM = 5_000
"""Rows of a space above which an index is worth its cost: fewer are scanned in 5 ms."""

BATCH = 250
"""Rows indexed per transaction: 50 ms, for which other writers wait."""

MOST_TRIGRAMS = 12
"""Trigrams of a needle that are looked up; more would hardly narrow it further."""

TEXTS: dict[Owner, str] = {"memory": "content", "entity": "name || char(10) || type"}
"""The searched text of each owner."""

_SQL = queries.load("sqlite")


def candidates(connection: Connection, owner: Owner, space_id: int, needle: str) -> tuple[str, str] | None:
    """A query for the rows that may hold a lowered needle, and its parameter; None: any row may."""
    trigrams = _trigrams(needle)
    found = connection.run(_SQL["trigram_index"], {"owner": owner, "space_id": space_id})
    if not trigrams or not found:
        return None
    slots = {"index": _index(owner, space_id), "owner": owner, "last_seq": found[0]["last_seq"]}
    return _SQL["rows_with_trigrams"].format(**slots), " AND ".join(trigrams)


def note_changes(connection: Connection, owner: Owner, space_id: int, seqs: Sequence[int]) -> None:
    """Rows whose text may have changed are scanned until they are indexed again."""
    if owner in TEXTS:
        key = {"owner": owner, "space_id": space_id}
        connection.change_many(_SQL["add_stale_trigrams"], [{**key, "seq": seq} for seq in seqs])


def maintain(database: Database) -> Iterator[str]:
    """Extend the indexes of large spaces. Each step is one short transaction."""
    for owner in TEXTS:
        with database.read() as connection:
            query = _SQL["spaces_for_trigrams"].format(owner=owner)
            large = [row["space_id"] for row in connection.run(query, {"least": INDEX_FROM})]
            large = [space_id for space_id in large if _next(connection, owner, space_id)]
        for space_id in large:
            while taken := _extend(database, owner, space_id):
                yield f"indexed the trigrams of {taken} rows of {owner}"


def forget_removed(database: Database) -> None:
    """Take rows that are gone out of the indexes. One that is brought back counts as changed."""
    with database.read() as connection:
        indexed = connection.run(_SQL["trigram_indexes"])
    for owner, index in ((row["owner"], _index(row["owner"], row["space_id"])) for row in indexed):
        with database.read() as connection:
            gone = connection.run(_SQL["removed_rows_with_trigrams"].format(index=index, owner=owner))
        for begin in range(0, len(gone), BATCH):
            with database.write() as connection:
                connection.change_many(
                    _SQL["remove_trigrams"].format(index=index), gone[begin : begin + BATCH]
                )


def _extend(database: Database, owner: Owner, space_id: int) -> int:
    """Index the next batch. Returns its size; 0 when too few rows were left."""
    key = {"owner": owner, "space_id": space_id}
    with database.write(durable=False) as connection:
        rows = _next(connection, owner, space_id)
        if not rows:
            return 0
        index = _index(owner, space_id)
        connection.change(_SQL["create_trigrams"].format(index=index))
        texts = [_lowered(row) for row in rows if row["body"] is not None]
        connection.change_many(_SQL["put_trigrams"].format(index=index), texts)
        connection.change_many(_SQL["remove_stale_trigrams"], [{**key, "seq": row["seq"]} for row in rows])
        last_seq = max(_last_seq(connection, owner, space_id), *(row["seq"] for row in rows))
        connection.change(_SQL["put_trigram_index"], {**key, "last_seq": last_seq})
        return len(rows)


def _next(connection: Connection, owner: Owner, space_id: int) -> list[Row]:
    """Rows to index: those that have changed, and new ones if they fill a batch."""
    slots = {"owner": owner, "text": TEXTS[owner]}
    page = {"space_id": space_id, "after": _last_seq(connection, owner, space_id), "batch": BATCH}
    stale = connection.run(_SQL["stale_texts"].format(**slots), page)
    new = connection.run(_SQL["new_texts"].format(**slots), page)
    return [*stale, *(new if len(new) == BATCH else ())]


def _last_seq(connection: Connection, owner: Owner, space_id: int) -> int:
    found = connection.run(_SQL["trigram_index"], {"owner": owner, "space_id": space_id})
    return int(found[0]["last_seq"]) if found else 0


def _lowered(row: Row) -> Row:
    return {"seq": row["seq"], "body": row["body"].lower()}


def _index(owner: Owner, space_id: int) -> str:
    return f"{owner}_trigrams_{space_id:d}"


def _trigrams(needle: str) -> list[str]:
    """Quoted trigrams of a lowered needle, spread over its length."""
    found = list(dict.fromkeys(needle[start : start + 3] for start in range(len(needle) - 2)))
    step = -(-len(found) // MOST_TRIGRAMS)
    return ['"' + trigram.replace('"', '""') + '"' for trigram in found[:: step or 1]]
