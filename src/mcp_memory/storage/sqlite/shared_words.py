"""The words of small spaces, which share one table.

A full-text index costs five tables, and the schema is read anew by every connection whenever a table is
added. So a space gets an index of its own only when it has grown; until then its words are plain rows, all
of which a search reads, and BM25 is computed from them as FTS5 computes it.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence

from mcp_memory.model import Owner
from mcp_memory.storage import queries
from mcp_memory.storage.database import Allowed, Connection, Row, WordRow

MOST_ROWS = 250
"""Rows of a space up to which its words are kept here; a search reads them in half a millisecond."""

EXTRA_WEIGHT = 0.5
"""Weight of a match in tags, type or context, relative to one in the content."""

_K1, _B = 1.2, 0.75
"""Constants of BM25, as FTS5 has them."""

_SQL = queries.load("sqlite")


def put(connection: Connection, owner: Owner, rows: Sequence[WordRow]) -> None:
    connection.change_many(
        _SQL["put_shared_words"],
        [
            {
                "owner": owner,
                "space_id": row.space_id,
                "seq": row.seq,
                "body": row.body,
                "extra": row.extra,
                "length": len(row.body.split()) + len(row.extra.split()),
            }
            for row in rows
        ],
    )


def remove(connection: Connection, owner: Owner, space_id: int, seqs: Sequence[int]) -> None:
    scope = {"owner": owner, "space_id": space_id}
    connection.change_many(_SQL["remove_shared_words"], [{**scope, "seq": seq} for seq in seqs])


def has_room(connection: Connection, owner: Owner, space_id: int, more: int) -> bool:
    [row] = connection.run(_SQL["shared_row_count"], {"owner": owner, "space_id": space_id})
    return bool(row["count"] + more <= MOST_ROWS)


def matching(
    connection: Connection,
    owner: Owner,
    terms: Sequence[str],
    space_id: int,
    allowed: Allowed,
    limit: int,
) -> list[tuple[int, float]]:
    """Rows with any of the terms and their scores, best first."""
    rows = connection.run(_SQL["shared_rows"], {"owner": owner, "space_id": space_id})
    scores = _scores(rows, list(dict.fromkeys(terms)))
    if not scores:
        return []
    sql = _SQL["allowed_rows"].format(owner=owner, allowed=allowed.condition)
    found = connection.run(sql, {**allowed.params, "words_found": json.dumps(list(scores))})
    best = sorted((-scores[row["seq"]], row["seq"]) for row in found)[:limit]
    return [(seq, -score) for score, seq in best]


def move_to_own_index(connection: Connection, owner: Owner, space_id: int, index: str) -> None:
    scope = {"owner": owner, "space_id": space_id}
    connection.change(_SQL["move_to_own_index"].format(index=index), scope)
    connection.change(_SQL["remove_shared_space"], scope)


def take_in(connection: Connection, owner: Owner, space_id: int, index: str) -> None:
    """Replace the full-text index of a space that is too small to need one."""
    slots = {"owner": owner, "index": index}
    connection.change(_SQL["create_term_view"].format(**slots))
    connection.change(_SQL["move_to_shared"].format(**slots), {"space_id": space_id})
    connection.change(_SQL["drop_term_view"])
    connection.change(_SQL["drop_word_index"].format(**slots))


def _scores(rows: Sequence[Row], terms: Sequence[str]) -> dict[int, float]:
    """BM25 of each row that holds a term, by its number."""
    weights = {row["seq"]: found for row in rows if (found := _weights(row, terms))}
    held_by = {term: sum(term in found for found in weights.values()) for term in terms}
    rarities = {term: _rarity(len(rows), count) for term, count in held_by.items()}
    average = sum(row["length"] for row in rows) / (len(rows) or 1)
    return {
        row["seq"]: _score(weights[row["seq"]], rarities, row["length"] / average)
        for row in rows
        if row["seq"] in weights
    }


def _weights(row: Row, terms: Sequence[str]) -> dict[str, float]:
    """How often a row holds each term that it holds."""
    body: str = row["body"]
    extra: str = row["extra"]
    # Most rows hold none of them, and need not be split.
    possible = [term for term in terms if term in body or term in extra]
    if not possible:
        return {}
    in_body, in_extra = body.split(" "), extra.split(" ")
    counts = {term: in_body.count(term) + EXTRA_WEIGHT * in_extra.count(term) for term in possible}
    return {term: count for term, count in counts.items() if count}


def _score(weights: Mapping[str, float], rarities: Mapping[str, float], relative_length: float) -> float:
    penalty = _K1 * (1 - _B + _B * relative_length)
    return sum(rarities[term] * weight * (_K1 + 1) / (weight + penalty) for term, weight in weights.items())


def _rarity(rows: int, holding: int) -> float:
    """Inverse document frequency: a term in half of the rows or more hardly counts."""
    return max(1e-6, math.log((rows - holding + 0.5) / (holding + 0.5)))
