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

REACH = 4
"""How many of the best matches are held against the filter, per result that is wanted."""

MANY = 10_000
"""Rows from which on it pays to count how many of them hold a word before asking each."""


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
        terms = _telling(connection, index, terms)
        params = {"match": _any(terms), "limit": limit, **allowed.params}
        best = connection.run(_best(index, owner, allowed), {**params, "reach": REACH * limit})
        passing = [row for row in best if row["passes"]]
        if len(passing) < limit and len(best) == REACH * limit:
            passing = connection.run(_all(index, owner, allowed), params)
        return [(row["seq"], row["score"]) for row in passing[:limit]]


def _best(index: str, owner: Owner, allowed: Allowed) -> str:
    """The best matches, and which of them the filter lets through: most filters let most through, and
    looking up every row that holds a common word costs more than ranking it."""
    return (
        f"WITH best AS MATERIALIZED ({_scored(index)} ORDER BY score DESC, seq LIMIT :reach)"
        f" SELECT b.seq, b.score, CASE WHEN {allowed.condition} THEN 1 ELSE 0 END AS passes"
        f" FROM best b CROSS JOIN {owner} o WHERE o.seq = b.seq ORDER BY b.score DESC, b.seq"
    )


def _all(index: str, owner: Owner, allowed: Allowed) -> str:
    return (
        f"SELECT s.seq, s.score FROM ({_scored(index)}) s JOIN {owner} o ON o.seq = s.seq"
        f" WHERE {allowed.condition} ORDER BY s.score DESC, s.seq LIMIT :limit"
    )


def _scored(index: str) -> str:
    # bm25 is negative in FTS5, the better the lower.
    return (
        f"SELECT rowid AS seq, -bm25({index}, 1, {EXTRA_WEIGHT}) AS score FROM {index}"
        f" WHERE {index} MATCH :match"
    )


def index_of(owner: Owner, space_id: int) -> str:
    return f"{owner}_words_{space_id:d}"


def _exists(connection: Connection, index: str) -> bool:
    return bool(connection.run("SELECT 1 FROM pragma_table_info(:index) LIMIT 1", {"index": index}))


def _telling(connection: Connection, index: str, terms: Sequence[str]) -> Sequence[str]:
    """The terms without those that most rows hold, unless there are no others.

    BM25 gives nothing for a word that more than half of the rows hold, but asks each of them.
    """
    [row] = connection.run(f"SELECT count(*) AS count FROM {index}_docsize")
    if row["count"] < MANY or len(terms) == 1:
        return terms
    half = row["count"] // 2
    return [term for term in terms if _row_count(connection, index, term, half + 1) <= half] or terms


def _row_count(connection: Connection, index: str, term: str, most: int) -> int:
    [row] = connection.run(
        f"SELECT count(*) AS count FROM (SELECT 1 FROM {index} WHERE {index} MATCH :match LIMIT :most)",
        {"match": _any([term]), "most": most},
    )
    return int(row["count"])


def _any(terms: Sequence[str]) -> str:
    """Quoted, so that no word can be read as an operator."""
    return " OR ".join(f'"{term}"' for term in terms)
