"""Full text on PostgreSQL: BM25, as FTS5 counts it, over words that were cut before they came here."""

from collections import Counter
from collections.abc import Sequence

from mcp_memory.model import Owner
from mcp_memory.storage.database import Allowed, Connection, Row, WordRow

EXTRA_WEIGHT = 0.5
"""What a match in tags, type or context counts beside one in the content."""

MOST_POSITIONS = 255
"""How often PostgreSQL can note that a lexeme occurs."""

# FTS5's own constants.
_K1, _B, _LEAST_IDF = 1.2, 0.75, 1e-6


class PostgresWords:
    def put(self, connection: Connection, owner: Owner, rows: Sequence[WordRow]) -> None:
        gone = _removed(connection, owner, [row.seq for row in rows])
        connection.change_many(
            f"INSERT INTO {owner}_words (seq, space_id, token_count, lexemes)"
            " VALUES (:seq, :space_id, :token_count, CAST(:lexemes AS tsvector))",
            [
                {
                    "seq": row.seq,
                    "space_id": row.space_id,
                    "token_count": _token_count(row),
                    "lexemes": lexemes(row),
                }
                for row in rows
            ],
        )
        come = [{"space_id": row.space_id, "token_count": _token_count(row)} for row in rows]
        _count(connection, owner, come, gone)

    def remove(self, connection: Connection, owner: Owner, space_id: int, seqs: Sequence[int]) -> None:
        _count(connection, owner, [], _removed(connection, owner, seqs))

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
        found = connection.run(
            _MATCHING.format(owner=owner, allowed=allowed.condition),
            {
                **allowed.params,
                "words_owner": owner,
                "words_space": space_id,
                "words_terms": [_quoted(term) for term in terms],
                "words_space_lexeme": _space(space_id),
                "words_limit": limit,
            },
        )
        return [(row["seq"], row["score"]) for row in found]


# A word's frequency in a row counts what is in the body in full and the rest by its weight. How rare a
# word is follows from the rows that were matched anyway: whatever holds the word is among them. Only as
# many of the best as are wanted are held against the filter; rounding lets equal scores be equal.
_MATCHING = f"""
WITH term AS MATERIALIZED (
    SELECT given.place, CAST(given.word AS tsquery) AS word,
           CAST(:words_space_lexeme AS tsquery) && CAST(given.word AS tsquery) AS word_here
      FROM json_array_elements_text(:words_terms) WITH ORDINALITY AS given (word, place)
), posting AS MATERIALIZED (
    SELECT w.seq, w.token_count, term.place,
           {EXTRA_WEIGHT} * occurrences(ts_rank('{{{{1, 1, 1, 1}}}}', w.lexemes, term.word))
           + {1 - EXTRA_WEIGHT} * occurrences(ts_rank('{{{{0, 0, 0, 1}}}}', w.lexemes, term.word))
           AS frequency
      FROM term JOIN {{owner}}_words w ON w.lexemes @@ term.word_here
), total AS MATERIALIZED (
    SELECT row_count, CAST(token_count AS DOUBLE PRECISION) / row_count AS mean_count
      FROM words_total WHERE owner = :words_owner AND space_id = :words_space AND row_count > 0
), rarity AS MATERIALIZED (
    SELECT place, greatest({_LEAST_IDF}, ln((max(row_count) - count(*) + 0.5) / (count(*) + 0.5))) AS idf
      FROM posting CROSS JOIN total GROUP BY place
), scored AS (
    SELECT seq, sum(CAST(idf AS DOUBLE PRECISION) * frequency * {_K1 + 1}
                    / (frequency + {_K1} * ({1 - _B} + {_B} * (token_count / mean_count)))) AS score
      FROM posting JOIN rarity USING (place) CROSS JOIN total GROUP BY seq ORDER BY score DESC, seq
), best AS MATERIALIZED (
    SELECT s.seq, s.score
      FROM scored s CROSS JOIN LATERAL (SELECT 1 FROM {{owner}} o WHERE o.seq = s.seq AND {{allowed}}) passed
     ORDER BY s.score DESC, s.seq LIMIT :words_limit
)
SELECT seq, score FROM best ORDER BY round(CAST(score AS NUMERIC), 13) DESC, seq
"""


def lexemes(row: WordRow) -> str:
    """The row as a tsvector in writing: which space, and how often each word stands in body and rest."""
    body, extra = Counter(row.body), Counter(row.extra)
    return " ".join(
        [_space(row.space_id), *(_placed(word, body[word], extra[word]) for word in body | extra)]
    )


def _placed(word: str, in_body: int, in_extra: int) -> str:
    places = [f"{place + 1}A" if place < in_body else str(place + 1) for place in range(in_body + in_extra)]
    return f"{_quoted(word)}:{','.join(places[:MOST_POSITIONS])}"


def _space(space_id: int) -> str:
    """A lexeme that no word of a text can be."""
    return f"'#{space_id}'"


def _quoted(word: str) -> str:
    return "'" + word.replace("\\", "\\\\").replace("'", "''") + "'"


def _token_count(row: WordRow) -> int:
    return len(row.body) + len(row.extra)


def _removed(connection: Connection, owner: Owner, seqs: Sequence[int]) -> list[Row]:
    return connection.run(
        f"DELETE FROM {owner}_words WHERE seq IN"
        " (SELECT CAST(seq AS BIGINT) FROM json_array_elements_text(:seqs) AS given (seq))"
        " RETURNING space_id, token_count",
        {"seqs": list(seqs)},
    )


def _count(connection: Connection, owner: Owner, come: Sequence[Row], gone: Sequence[Row]) -> None:
    rows: Counter[int] = Counter()
    token_counts: Counter[int] = Counter()
    for sign, changed in ((1, come), (-1, gone)):
        for row in changed:
            rows[row["space_id"]] += sign
            token_counts[row["space_id"]] += sign * row["token_count"]
    connection.change_many(
        "INSERT INTO words_total (owner, space_id, row_count, token_count)"
        " VALUES (:owner, :space_id, :row_count, :token_count)"
        " ON CONFLICT (owner, space_id) DO UPDATE SET row_count = words_total.row_count + excluded.row_count,"
        " token_count = words_total.token_count + excluded.token_count",
        [
            {"owner": owner, "space_id": space, "row_count": rows[space], "token_count": token_counts[space]}
            for space in rows
            if rows[space] or token_counts[space]
        ],
    )
