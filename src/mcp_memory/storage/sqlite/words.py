"""Full text on SQLite: FTS5 over words from our own tokenizer.

Each large space has an index of its own; small ones share a table (`shared_words`). Either way,
inverse document frequency is that of the space alone: a name in every memory of a project says little there,
however rare it is elsewhere.
"""

from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from typing import get_args

from mcp_memory.model import Owner
from mcp_memory.storage import queries, term_selection
from mcp_memory.storage.database import Allowed, Connection, Database, WordRow
from mcp_memory.storage.sqlite import shared_words, substrings
from mcp_memory.storage.sqlite.shared_words import EXTRA_WEIGHT

REACH = 4
"""How many of the best matches are checked against the filter, per requested result."""

_SQL = queries.load("sqlite")


class SqliteWords:
    def put(
        self, connection: Connection, owner: Owner, rows: Sequence[WordRow], *, new: bool = False
    ) -> None:
        for space_id in dict.fromkeys(row.space_id for row in rows):
            here = [row for row in rows if row.space_id == space_id]
            if not new:
                substrings.note_changes(connection, owner, space_id, [row.seq for row in here])
            index = index_of(owner, space_id)
            if _exists(connection, index):
                if not new:
                    _remove(connection, index, [row.seq for row in here])
                _put(connection, index, here)
            elif shared_words.has_room(connection, owner, space_id, len(here)):
                shared_words.put(connection, owner, here)
            else:
                connection.change(_SQL["create_word_index"].format(index=index))
                shared_words.move_to_own_index(connection, owner, space_id, index)
                _put(connection, index, here)

    def remove(self, connection: Connection, owner: Owner, space_id: int, seqs: Sequence[int]) -> None:
        if _exists(connection, index := index_of(owner, space_id)):
            _remove(connection, index, seqs)
        else:
            shared_words.remove(connection, owner, space_id, seqs)

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
        if not terms:
            return []
        if not _exists(connection, index):
            return shared_words.matching(connection, owner, terms, space_id, allowed, limit)
        matches = _Matches(index, terms, _required_terms(connection, index, terms))
        slots = {"scored": matches.scored, "owner": owner, "allowed": allowed.condition}
        params = {**matches.params, **allowed.params, "limit": limit, "reach": REACH * limit}
        best = connection.tuples(_SQL["matching"].format(**slots), params)
        passing = [(seq, score) for seq, score, passes in best if passes]
        if len(passing) < limit and len(best) == REACH * limit:
            passing = connection.tuples(_SQL["matching_all"].format(**slots), params)
        return passing[:limit]

    def bulk_load(self, database: Database) -> AbstractContextManager[None]:
        return nullcontext()

    def containing(self, connection: Connection, owner: Owner, space_id: int, needle: str) -> Allowed:
        found = substrings.candidates(connection, owner, space_id, needle)
        if found is None:
            return Allowed("1 = 1", {})
        return Allowed(f"o.seq IN ({found[0]})", {"trigrams": found[1], "space_id": space_id})

    def maintain(self, database: Database) -> Iterator[str]:
        yield from _share_small(database)
        yield from substrings.maintain(database)


def _share_small(database: Database) -> Iterator[str]:
    """Drop the indexes of small spaces, including those that an earlier release made."""
    for owner in get_args(Owner):
        with database.read() as connection:
            own = connection.run(_SQL["own_word_indexes"].format(owner=owner))
            small = [
                row["space_id"] for row in own if _is_small(connection, index_of(owner, row["space_id"]))
            ]
        for space_id in small:
            index = index_of(owner, space_id)
            with database.write() as connection:
                # Checked again under the lock: another process may have done it, or the space has grown.
                if not _exists(connection, index) or not _is_small(connection, index):
                    continue
                shared_words.take_in(connection, owner, space_id, index)
            yield f"moved the words of a small space: {index}"


def _is_small(connection: Connection, index: str) -> bool:
    # Half of the limit, so that a space near it does not move back and forth.
    has_row = _SQL["word_index_has_row"].format(index=index)
    return not connection.run(has_row, {"offset": shared_words.MOST_ROWS // 2})


def _put(connection: Connection, index: str, rows: Sequence[WordRow]) -> None:
    # FTS5 writes what it has gathered as a segment when the next statement of several rows begins, and each
    # segment has to be merged with others later.
    connection.insert_all(
        index,
        {
            "rowid": [row.seq for row in rows],
            "body": [row.body for row in rows],
            "extra": [row.extra for row in rows],
        },
        at_once=True,
    )


def _remove(connection: Connection, index: str, seqs: Sequence[int]) -> None:
    connection.change_many(_SQL["remove_words"].format(index=index), [{"seq": seq} for seq in seqs])


@dataclass(frozen=True, slots=True)
class _Matches:
    """Rows with any of the required terms, scored by all terms."""

    index: str
    terms: Sequence[str]
    required: Sequence[str]

    @property
    def scored(self) -> str:
        query = "score_words_and_others" if self._others else "score_words"
        return _SQL[query].format(index=self.index, extra_weight=EXTRA_WEIGHT)

    @property
    def params(self) -> dict[str, str]:
        any = _any(self.required)
        return {"any": any} | (
            {"any_with_others": f"({any}) AND ({_any(self._others)})"} if self._others else {}
        )

    @property
    def _others(self) -> list[str]:
        return [term for term in self.terms if term not in self.required]


def index_of(owner: Owner, space_id: int) -> str:
    return f"{owner}_words_{space_id:d}"


def _exists(connection: Connection, index: str) -> bool:
    return bool(connection.run(_SQL["word_index_exists"], {"index": index}))


def _required_terms(connection: Connection, index: str, terms: Sequence[str]) -> list[str]:
    is_large = _SQL["word_index_has_row"].format(index=index)
    if not connection.run(is_large, {"offset": term_selection.LARGE - 1}):
        return list(terms)
    return term_selection.chosen(_row_counts(connection, index, terms))


def _row_counts(connection: Connection, index: str, terms: Sequence[str]) -> dict[str, int]:
    """Rows that hold each term, counted only as far as needed to find the rarest."""
    most = term_selection.MOST_ROWS
    while True:
        counts = {term: _row_count(connection, index, term, most + 1) for term in terms}
        if len(terms) == 1 or min(counts.values()) <= most:
            return counts
        most *= 4


def _row_count(connection: Connection, index: str, term: str, most: int) -> int:
    count = _SQL["count_matches"].format(index=index)
    [row] = connection.run(count, {"match": _any([term]), "most": most})
    return int(row["count"])


def _any(terms: Sequence[str]) -> str:
    """Quoted, so that no term is read as an operator."""
    return " OR ".join(f'"{term}"' for term in terms)
