"""Full text on PostgreSQL: BM25, as FTS5 counts it, over words that were cut before they came here."""

from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import lru_cache
from typing import get_args

from mcp_memory.model import Owner
from mcp_memory.storage import term_selection
from mcp_memory.storage.database import Allowed, Connection, Database, Row, WordRow
from mcp_memory.storage.postgres.values import Lexemes

IN_BODY, ELSEWHERE = 2, 1
"""How many positions a lexeme gets each time it occurs: in tags, type or context it counts half."""

MOST_POSITIONS = 255
"""As many as PostgreSQL can note. What occurs that often is not worth more for occurring once more."""

COMMON = 0.001
"""Words that a smaller part of the rows hold are not worth counting before they are looked for."""

SAMPLE = 50_000
"""Rows from which it is told which words are common."""

LIST_KB = 65_536
"""How long the list of rows not filed yet may get while very many are put."""

GROWTH = 1.25
"""How much a space may grow, or shrink, before its common words are counted again."""

# FTS5's own constants.
_K1, _B, _LEAST_IDF = 1.2, 0.75, 1e-6


class PostgresWords:
    def put(
        self, connection: Connection, owner: Owner, rows: Sequence[WordRow], *, new: bool = False
    ) -> None:
        gone = [] if new else _removed(connection, owner, [row.seq for row in rows])
        connection.insert_all(
            f"{owner}_words",
            ("seq", "space_id", "token_count", "lexemes"),
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
        total = _total(connection, owner, space_id)
        if not terms or total is None:
            return []
        known = _known_counts(connection, owner, space_id, terms, total["row_count"])
        looked_for = term_selection.chosen({term: known.get(term, 0) for term in terms})
        found = connection.run(
            _matching(len(terms)).format(owner=owner, allowed=allowed.condition),
            {
                **allowed.params,
                "words_any": f"{_space(space_id)} & ({' | '.join(map(_quoted, looked_for))})",
                "words_rows": total["row_count"],
                "words_mean": total["token_count"] / total["row_count"],
                "words_limit": limit,
                **{f"words_term_{place}": _quoted(term) for place, term in enumerate(terms)},
                # All rows that hold a word looked for are found, and so need no counting before.
                **{
                    f"words_count_{place}": None if term in looked_for else known[term]
                    for place, term in enumerate(terms)
                },
            },
        )
        return [(row["seq"], row["score"]) for row in found]

    @contextmanager
    def loading(self, database: Database) -> Iterator[None]:
        if not _may_change_indexes(database):
            yield
            return
        # New rows go to a list, from which they are filed in large lots; but a search reads all of the list.
        # If the process dies in between, the next one to load, or a vacuum, files what is left of it.
        _change_indexes(database, f"SET (fastupdate = on, gin_pending_list_limit = {LIST_KB})")
        yield
        _change_indexes(database, "RESET (gin_pending_list_limit)", "SET (fastupdate = off)")
        with database.write() as connection:
            for owner in get_args(Owner):
                connection.run(f"SELECT gin_clean_pending_list('{owner}_words_lexemes')")

    def tend(self, database: Database) -> Iterator[str]:
        with database.read() as connection:
            outgrown = connection.run(
                "SELECT owner, space_id, row_count FROM words_total"
                " WHERE greatest(row_count, sampled_count) >= :large"
                " AND NOT row_count BETWEEN sampled_count / :growth AND sampled_count * :growth",
                {"large": term_selection.LARGE, "growth": GROWTH},
            )
        for space in outgrown:
            with database.write(durable=False) as connection:
                found = _note_common_words(connection, **space)
            yield f"found {found} common words of {space['row_count']} rows ({space['owner']})"


@lru_cache(maxsize=100)
def _matching(terms: int) -> str:
    """Rows that hold any of the words looked for, by what all terms are worth in them.

    Only as many of the best as are wanted are held against the filter; rounding lets equal scores be equal.
    """
    places = range(terms)
    weights = ", ".join(
        f"occurrences(ts_rank(lexemes, CAST(:words_term_{n} AS tsquery))) / {IN_BODY} AS weight_{n}"
        for n in places
    )
    counts = ", ".join(
        f"COALESCE(CAST(:words_count_{n} AS BIGINT), count(*) FILTER (WHERE weight_{n} > 0)) AS count_{n}"
        for n in places
    )
    rarities = ", ".join(
        f"greatest({_LEAST_IDF}, ln(CAST((:words_rows - count_{n} + 0.5) / (count_{n} + 0.5)"
        f" AS DOUBLE PRECISION))) AS rarity_{n}"
        for n in places
    )
    worth = " + ".join(f"rarity_{n} * weight_{n} * {_K1 + 1} / (weight_{n} + length_part)" for n in places)
    return f"""
WITH hit AS MATERIALIZED (
    SELECT seq, {weights},
           {_K1} * ({1 - _B} + {_B} * (token_count / CAST(:words_mean AS DOUBLE PRECISION))) AS length_part
      FROM {{owner}}_words WHERE lexemes @@ CAST(:words_any AS tsquery)
), counted AS (
    SELECT {counts} FROM hit
), rarity AS MATERIALIZED (
    SELECT {rarities} FROM counted
), scored AS (
    SELECT seq, {worth} AS score FROM hit CROSS JOIN rarity ORDER BY score DESC, seq
), best AS MATERIALIZED (
    SELECT s.seq, s.score
      FROM scored s CROSS JOIN LATERAL (SELECT 1 FROM {{owner}} o WHERE o.seq = s.seq AND {{allowed}}) passed
     ORDER BY s.score DESC, s.seq LIMIT :words_limit
)
SELECT seq, score FROM best ORDER BY round(CAST(score AS NUMERIC), 13) DESC, seq
"""


def lexemes(row: WordRow) -> Lexemes:
    """Which space the row is in, and how much each word weighs in it."""
    weights: Counter[str] = Counter()
    for words, positions in ((row.body, IN_BODY), (row.extra, ELSEWHERE)):
        for word in words:
            weights[word] += positions
    return Lexemes(
        {_space_lexeme(row.space_id): 0}
        | {word: min(weight, MOST_POSITIONS) for word, weight in weights.items()}
    )


def _space_lexeme(space_id: int) -> str:
    """One that no word of a text can be."""
    return f"#{space_id}"


def _space(space_id: int) -> str:
    return _quoted(_space_lexeme(space_id))


def _quoted(word: str) -> str:
    return "'" + word.replace("\\", "\\\\").replace("'", "''") + "'"


def _may_change_indexes(database: Database) -> bool:
    with database.read() as connection:
        [row] = connection.run(
            "SELECT bool_and(pg_has_role(relowner, 'USAGE')) AS owned FROM pg_class"
            " WHERE oid IN (to_regclass('memory_words'), to_regclass('entity_words'),"
            " to_regclass('reflection_words'))"
        )
    return bool(row["owned"])


def _change_indexes(database: Database, *changes: str) -> None:
    with database.write() as connection:
        for owner in get_args(Owner):
            for change in changes:
                connection.change(f"ALTER INDEX {owner}_words_lexemes {change}")


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


def _total(connection: Connection, owner: Owner, space_id: int) -> Row | None:
    found = connection.run(
        "SELECT row_count, token_count FROM words_total"
        " WHERE owner = :owner AND space_id = :space_id AND row_count > 0",
        {"owner": owner, "space_id": space_id},
    )
    return found[0] if found else None


def _known_counts(
    connection: Connection, owner: Owner, space_id: int, terms: Sequence[str], row_count: int
) -> dict[str, int]:
    """How many rows hold each of the terms that are known to be common."""
    if row_count < term_selection.LARGE:
        return {}
    found = connection.run(
        "SELECT word, share FROM common_word WHERE owner = :owner AND space_id = :space_id"
        " AND word IN (SELECT word FROM json_array_elements_text(:terms) AS given (word))",
        {"owner": owner, "space_id": space_id, "terms": list(terms)},
    )
    return {row["word"]: round(row["share"] * row_count) for row in found}


def _note_common_words(connection: Connection, owner: Owner, space_id: int, row_count: int) -> int:
    part = {"owner": owner, "space_id": space_id}
    # By a hash of the number: what is numbered evenly need not be filled evenly.
    sample = (
        f"SELECT lexemes FROM {owner}_words WHERE space_id = {space_id:d}"
        f" AND hashint8(seq) % {max(1, row_count // SAMPLE):d} = 0"
    )
    connection.change("DELETE FROM common_word WHERE owner = :owner AND space_id = :space_id", part)
    found = connection.change(
        "INSERT INTO common_word (owner, space_id, word, share)"
        f" WITH sampled AS (SELECT count(*) AS rows FROM ({sample}) AS drawn)"
        " SELECT :owner, :space_id, word, CAST(ndoc AS DOUBLE PRECISION) / rows"
        "   FROM ts_stat(:sample) CROSS JOIN sampled"
        "  WHERE ndoc >= :common * rows AND word <> :space_lexeme"
        " ON CONFLICT (owner, space_id, word) DO UPDATE SET share = excluded.share",
        {**part, "sample": sample, "common": COMMON, "space_lexeme": _space_lexeme(space_id)},
    )
    # Last, for whoever writes to the space has to wait from here on.
    connection.change(
        "UPDATE words_total SET sampled_count = row_count WHERE owner = :owner AND space_id = :space_id", part
    )
    return found
