"""Full text on PostgreSQL: BM25 as in FTS5, over words from our own tokenizer."""

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from functools import lru_cache
from typing import get_args

from mcp_memory.model import Owner
from mcp_memory.storage import term_selection
from mcp_memory.storage.database import Allowed, Connection, Database, Row, WordRow
from mcp_memory.storage.postgres import substrings
from mcp_memory.storage.postgres.statements import SQL
from mcp_memory.storage.postgres.values import Lexemes

IN_BODY, ELSEWHERE = 2, 1
"""Positions per occurrence of a lexeme: in tags, type or context it counts half."""

MOST_POSITIONS = 255
"""PostgreSQL's limit of positions per lexeme; further occurrences add nothing."""

COMMON = 0.001
"""Share of rows from which a word counts as common."""

SAMPLE = 50_000
"""Rows sampled to find the common words."""

LIST_KB = 65_536
"""Size of the GIN pending list during a bulk load."""

GROWTH = 1.25
"""Growth or shrinkage of a space after which its common words are counted again."""

# The constants of FTS5.
_K1, _B, _LEAST_IDF = 1.2, 0.75, 1e-6


class PostgresWords:
    def __init__(self, outside_transactions: Callable[[], AbstractContextManager[Connection]]) -> None:
        self._outside_transactions = outside_transactions

    def put(
        self, connection: Connection, owner: Owner, rows: Sequence[WordRow], *, new: bool = False
    ) -> None:
        removed = [] if new else _removed(connection, owner, [row.seq for row in rows])
        connection.insert_all(
            f"{owner}_words",
            {
                "seq": [row.seq for row in rows],
                "space_id": [row.space_id for row in rows],
                "token_count": list(map(_token_count, rows)),
                "lexemes": list(map(lexemes, rows)),
            },
        )
        added = [{"space_id": row.space_id, "token_count": _token_count(row)} for row in rows]
        _count(connection, owner, added, removed)

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
        required = term_selection.chosen({term: known.get(term, 0) for term in terms})
        found = connection.run(
            _matching(len(terms), owner, allowed.condition),
            {
                **allowed.params,
                "words_any": f"{_space(space_id)} & ({' | '.join(map(_quoted, required))})",
                "words_rows": total["row_count"],
                "words_mean": total["token_count"] / total["row_count"],
                "words_limit": limit,
                **{f"words_term_{place}": _quoted(term) for place, term in enumerate(terms)},
                # Counted by the query itself: it finds all rows with a required term.
                **{
                    f"words_count_{place}": None if term in required else known[term]
                    for place, term in enumerate(terms)
                },
            },
        )
        return [(row["seq"], row["score"]) for row in found]

    def containing(self, connection: Connection, owner: Owner, space_id: int, needle: str) -> Allowed:
        """All rows: the planner itself uses an index of pg_trgm, where there is one."""
        return Allowed("1 = 1", {})

    @contextmanager
    def bulk_load(self, database: Database) -> Iterator[None]:
        if not _may_change_indexes(database):
            yield
            return
        # New rows go to the pending list and are indexed in large batches; but a search reads the whole list.
        # If the process dies in between, the next bulk load or a vacuum flushes the list.
        _change_indexes(database, f"SET (fastupdate = on, gin_pending_list_limit = {LIST_KB})")
        yield
        _change_indexes(database, "RESET (gin_pending_list_limit)", "SET (fastupdate = off)")
        with database.write() as connection:
            for owner in get_args(Owner):
                connection.run(SQL["flush_pending_words"].format(owner=owner))

    def maintain(self, database: Database) -> Iterator[str]:
        """Count the common words of spaces that have grown, and index trigrams."""
        with database.read() as connection:
            bounds = {"large": term_selection.LARGE, "growth": GROWTH}
            outgrown = connection.run(SQL["spaces_to_sample"], bounds)
        for space in outgrown:
            with database.write(durable=False) as connection:
                found = _store_common_words(connection, **space)
            yield f"found {found} common words of {space['row_count']} rows ({space['owner']})"
        with self._outside_transactions() as connection:
            yield from substrings.maintain(connection)


@lru_cache(maxsize=100)
def _matching(terms: int, owner: Owner, allowed: str) -> str:
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
    slots = {"weights": weights, "counts": counts, "rarities": rarities, "worth": worth}
    constants = {"k1": _K1, "b": _B, "one_minus_b": 1 - _B}
    return SQL["matching"].format(**slots, **constants, owner=owner, allowed=allowed)


def lexemes(row: WordRow) -> Lexemes:
    """The space of the row, and the weight of each word in it."""
    weights: Counter[str] = Counter()
    for words, positions in ((row.body, IN_BODY), (row.extra, ELSEWHERE)):
        for word in words.split():
            weights[word] += positions
    return Lexemes(
        {_space_lexeme(row.space_id): 0}
        | {word: min(weight, MOST_POSITIONS) for word, weight in weights.items()}
    )


def _space_lexeme(space_id: int) -> str:
    """A lexeme that no word of a text can equal."""
    return f"#{space_id}"


def _space(space_id: int) -> str:
    return _quoted(_space_lexeme(space_id))


def _quoted(word: str) -> str:
    return "'" + word.replace("\\", "\\\\").replace("'", "''") + "'"


def _may_change_indexes(database: Database) -> bool:
    with database.read() as connection:
        [row] = connection.run(SQL["owns_word_tables"])
    return bool(row["owned"])


def _change_indexes(database: Database, *changes: str) -> None:
    with database.write() as connection:
        for owner in get_args(Owner):
            for change in changes:
                connection.change(SQL["alter_word_index"].format(owner=owner, change=change))


def _token_count(row: WordRow) -> int:
    return len(row.body.split()) + len(row.extra.split())


def _removed(connection: Connection, owner: Owner, seqs: Sequence[int]) -> list[Row]:
    return connection.run(SQL["remove_words"].format(owner=owner), {"seqs": list(seqs)})


def _count(connection: Connection, owner: Owner, added: Sequence[Row], removed: Sequence[Row]) -> None:
    rows: Counter[int] = Counter()
    token_counts: Counter[int] = Counter()
    for sign, changed in ((1, added), (-1, removed)):
        for row in changed:
            rows[row["space_id"]] += sign
            token_counts[row["space_id"]] += sign * row["token_count"]
    connection.change_many(
        SQL["add_to_words_total"],
        [
            {"owner": owner, "space_id": space, "row_count": rows[space], "token_count": token_counts[space]}
            for space in rows
            if rows[space] or token_counts[space]
        ],
    )


def _total(connection: Connection, owner: Owner, space_id: int) -> Row | None:
    found = connection.run(SQL["words_total"], {"owner": owner, "space_id": space_id})
    return found[0] if found else None


def _known_counts(
    connection: Connection, owner: Owner, space_id: int, terms: Sequence[str], row_count: int
) -> dict[str, int]:
    """Rows that hold each term, for the terms known to be common."""
    if row_count < term_selection.LARGE:
        return {}
    found = connection.run(SQL["common_words"], {"owner": owner, "space_id": space_id, "terms": list(terms)})
    return {row["word"]: round(row["share"] * row_count) for row in found}


def _store_common_words(connection: Connection, owner: Owner, space_id: int, row_count: int) -> int:
    key = {"owner": owner, "space_id": space_id}
    sample = SQL["sampled_words"].format(**key, part=max(1, row_count // SAMPLE))
    connection.change(SQL["remove_common_words"], key)
    found = connection.change(
        SQL["add_common_words"].format(sample=sample),
        {**key, "sample": sample, "common": COMMON, "space_lexeme": _space_lexeme(space_id)},
    )
    # Last: from here on, other writers in the space have to wait.
    connection.change(SQL["mark_sampled"], key)
    return found
