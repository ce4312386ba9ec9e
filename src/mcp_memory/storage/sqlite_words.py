"""Full text on SQLite: FTS5 over words that were cut before they came here."""

from collections.abc import Sequence

from mcp_memory.model import Owner
from mcp_memory.storage.database import Allowed, Connection, WordRow

EXTRA_WEIGHT = 0.5
"""What a match in tags, type or context counts beside one in the content."""


class SqliteWords:
    def put(self, connection: Connection, owner: Owner, rows: Sequence[WordRow]) -> None:
        connection.change_many(
            f"INSERT OR REPLACE INTO {owner}_words (rowid, space, body, extra)"
            " VALUES (:seq, :space, :body, :extra)",
            [
                {
                    "seq": row.seq,
                    "space": f"s{row.space_id}",
                    "body": " ".join(row.body),
                    "extra": " ".join(row.extra),
                }
                for row in rows
            ],
        )

    def remove(self, connection: Connection, owner: Owner, seqs: Sequence[int]) -> None:
        connection.change_many(
            f"DELETE FROM {owner}_words WHERE rowid = :seq", [{"seq": seq} for seq in seqs]
        )

    def matching(
        self,
        connection: Connection,
        owner: Owner,
        terms: Sequence[str],
        space_id: int,
        allowed: Allowed,
        limit: int,
    ) -> list[tuple[int, float]]:
        if not terms:
            return []
        # bm25 is negative in FTS5, the better the lower.
        found = connection.run(
            f"SELECT w.rowid AS seq, -bm25({owner}_words, 0, 1, {EXTRA_WEIGHT}) AS score"
            f"  FROM {owner}_words w JOIN {owner} o ON o.seq = w.rowid"
            f" WHERE {owner}_words MATCH :match AND {allowed.condition}"
            "  ORDER BY score DESC, w.rowid LIMIT :limit",
            {"match": _match(terms, space_id), "limit": limit, **allowed.params},
        )
        return [(row["seq"], row["score"]) for row in found]


def _match(terms: Sequence[str], space_id: int) -> str:
    """Quoted, so that no word can be read as an operator."""
    any_term = " OR ".join(f'"{term}"' for term in terms)
    return f'space : "s{space_id}" AND {{body extra}} : ({any_term})'
