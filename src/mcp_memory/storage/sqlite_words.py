"""Full text on SQLite: FTS5 over words that were cut before they came here.

Each space has an index of its own. How rare a word is, which is what a match is worth, then follows from
the space alone: a name that stands in every memory of a project tells little there, however rare it is in
the rest of the file. A space's index begins to exist with its first row.
"""

from collections.abc import Sequence

from mcp_memory.model import Owner
from mcp_memory.storage.database import Allowed, Connection, WordRow

EXTRA_WEIGHT = 0.5
"""What a match in tags, type or context counts beside one in the content."""


class SqliteWords:
    def put(self, connection: Connection, owner: Owner, rows: Sequence[WordRow]) -> None:
        for space_id in dict.fromkeys(row.space_id for row in rows):
            index = index_of(owner, space_id)
            connection.change(
                f"CREATE VIRTUAL TABLE IF NOT EXISTS {index}"
                " USING fts5 (body, extra, content = '', contentless_delete = 1, tokenize = 'ascii')"
            )
            connection.change_many(
                f"INSERT OR REPLACE INTO {index} (rowid, body, extra) VALUES (:seq, :body, :extra)",
                [
                    {"seq": row.seq, "body": " ".join(row.body), "extra": " ".join(row.extra)}
                    for row in rows
                    if row.space_id == space_id
                ],
            )

    def remove(self, connection: Connection, owner: Owner, space_id: int, seqs: Sequence[int]) -> None:
        if _exists(connection, index := index_of(owner, space_id)):
            connection.change_many(f"DELETE FROM {index} WHERE rowid = :seq", [{"seq": seq} for seq in seqs])

    def matching(
        self,
        connection: Connection,
        owner: Owner,
        terms: Sequence[str],
        space_id: int,
        allowed: Allowed,
        limit: int,
    ) -> list[tuple[int, float]]:
        index = index_of(owner, space_id)
        if not terms or not _exists(connection, index):
            return []
        # bm25 is negative in FTS5, the better the lower.
        found = connection.run(
            f"SELECT w.rowid AS seq, -bm25({index}, 1, {EXTRA_WEIGHT}) AS score"
            f"  FROM {index} w JOIN {owner} o ON o.seq = w.rowid"
            f" WHERE {index} MATCH :match AND {allowed.condition}"
            "  ORDER BY score DESC, w.rowid LIMIT :limit",
            {"match": _any(terms), "limit": limit, **allowed.params},
        )
        return [(row["seq"], row["score"]) for row in found]


def index_of(owner: Owner, space_id: int) -> str:
    return f"{owner}_words_{space_id:d}"


def _exists(connection: Connection, index: str) -> bool:
    return bool(connection.run("SELECT 1 FROM pragma_table_info(:index) LIMIT 1", {"index": index}))


def _any(terms: Sequence[str]) -> str:
    """Quoted, so that no word can be read as an operator."""
    return " OR ".join(f'"{term}"' for term in terms)
