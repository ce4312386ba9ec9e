"""Full text on SQLite: FTS5 over words that were cut before they came here.

Each space has an index of its own. How rare a word is, which is what a match is worth, then follows from
the space alone: a name that stands in every memory of a project tells little there, however rare it is in
the rest of the file. A space's index begins to exist with its first row.
"""

from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass

from mcp_memory.model import Owner
from mcp_memory.storage import term_selection
from mcp_memory.storage.database import Allowed, Connection, Database, WordRow

EXTRA_WEIGHT = 0.5
"""What a match in tags, type or context counts beside one in the content."""

REACH = 4
"""How many of the best matches are held against the filter, per result that is wanted."""


class SqliteWords:
    def put(
        self, connection: Connection, owner: Owner, rows: Sequence[WordRow], *, new: bool = False
    ) -> None:
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
        matches = _Matches(index, terms, _looked_for(connection, index, terms))
        params = {**matches.params, **allowed.params, "limit": limit, "reach": REACH * limit}
        best = connection.run(_best(matches, owner, allowed), params)
        passing = [row for row in best if row["passes"]]
        if len(passing) < limit and len(best) == REACH * limit:
            passing = connection.run(_all(matches, owner, allowed), params)
        return [(row["seq"], row["score"]) for row in passing[:limit]]

    def loading(self, database: Database) -> AbstractContextManager[None]:
        return nullcontext()

    def tend(self, database: Database) -> Iterator[str]:
        """Nothing to learn: FTS5 counts the rows that hold a word without reading them."""
        yield from ()


@dataclass(frozen=True, slots=True)
class _Matches:
    """The rows that hold any of the words looked for, by what all terms are worth in them."""

    index: str
    terms: Sequence[str]
    looked_for: Sequence[str]

    @property
    def scored(self) -> str:
        # bm25 is negative in FTS5, the better the lower.
        found = (
            f"SELECT rowid AS seq, -bm25({self.index}, 1, {EXTRA_WEIGHT}) AS score FROM {self.index}"
            f" WHERE {self.index} MATCH "
        )
        if not self._others:
            return f"{found} :any"
        # FTS5 has no word that may be there and need not. So once without the others, and once with at
        # least one of them: a row that is found both ways is worth more the second time.
        both = f"{found} :any UNION ALL {found} :any_with_others"
        return f"SELECT seq, max(score) AS score FROM ({both}) GROUP BY seq"

    @property
    def params(self) -> dict[str, str]:
        any = _any(self.looked_for)
        return {"any": any} | (
            {"any_with_others": f"({any}) AND ({_any(self._others)})"} if self._others else {}
        )

    @property
    def _others(self) -> list[str]:
        return [term for term in self.terms if term not in self.looked_for]


def _best(matches: _Matches, owner: Owner, allowed: Allowed) -> str:
    """The best matches, and which of them the filter lets through: most filters let most through, and
    looking up every row that holds a common word costs more than ranking it."""
    return (
        f"WITH best AS MATERIALIZED ({matches.scored} ORDER BY score DESC, seq LIMIT :reach)"
        f" SELECT b.seq, b.score, CASE WHEN {allowed.condition} THEN 1 ELSE 0 END AS passes"
        f" FROM best b CROSS JOIN {owner} o WHERE o.seq = b.seq ORDER BY b.score DESC, b.seq"
    )


def _all(matches: _Matches, owner: Owner, allowed: Allowed) -> str:
    return (
        f"SELECT s.seq, s.score FROM ({matches.scored}) s JOIN {owner} o ON o.seq = s.seq"
        f" WHERE {allowed.condition} ORDER BY s.score DESC, s.seq LIMIT :limit"
    )


def index_of(owner: Owner, space_id: int) -> str:
    return f"{owner}_words_{space_id:d}"


def _exists(connection: Connection, index: str) -> bool:
    return bool(connection.run("SELECT 1 FROM pragma_table_info(:index) LIMIT 1", {"index": index}))


def _looked_for(connection: Connection, index: str, terms: Sequence[str]) -> list[str]:
    if not connection.run(f"SELECT 1 FROM {index}_docsize LIMIT 1 OFFSET {term_selection.LARGE - 1}"):
        return list(terms)
    return term_selection.chosen(_row_counts(connection, index, terms))


def _row_counts(connection: Connection, index: str, terms: Sequence[str]) -> dict[str, int]:
    """How many rows hold each term; counted no further than it takes to tell the rarest."""
    most = term_selection.MOST_ROWS
    while True:
        counts = {term: _row_count(connection, index, term, most + 1) for term in terms}
        if len(terms) == 1 or min(counts.values()) <= most:
            return counts
        most *= 4


def _row_count(connection: Connection, index: str, term: str, most: int) -> int:
    [row] = connection.run(
        f"SELECT count(*) AS count FROM (SELECT 1 FROM {index} WHERE {index} MATCH :match LIMIT :most)",
        {"match": _any([term]), "most": most},
    )
    return int(row["count"])


def _any(terms: Sequence[str]) -> str:
    """Quoted, so that no word can be read as an operator."""
    return " OR ".join(f'"{term}"' for term in terms)
