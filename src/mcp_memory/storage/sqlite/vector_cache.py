"""Vectors kept in memory between searches, for as long as the file holds the same ones.

Ids of vectors only grow, and a vector that is replaced gets a new id. So two moments with the same largest
id and the same count have the same vectors, whichever process wrote them.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Hashable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from mcp_memory.storage import queries, vector_codes
from mcp_memory.storage.database import Connection

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

MOST_ROWS = 2_500
"""Vectors of a space that are kept whole; a larger one has a sketch."""

MOST_BYTES = 24 * 2**20
"""Memory for all that is kept."""

_SQL = queries.load("sqlite")

T = TypeVar("T")


class BoundedCache(Generic[T]):
    """The values used last, up to a number of bytes. Safe to share between threads."""

    def __init__(self, most_bytes: int = MOST_BYTES) -> None:
        self._most_bytes = most_bytes
        self._kept: OrderedDict[Hashable, tuple[T, int]] = OrderedDict()
        self._lock = threading.Lock()

    def get(self, key: Hashable) -> T | None:
        with self._lock:
            if key not in self._kept:
                return None
            self._kept.move_to_end(key)
            return self._kept[key][0]

    def put(self, key: Hashable, value: T, size: int) -> None:
        with self._lock:
            self._kept[key] = (value, size)
            self._kept.move_to_end(key)
            while sum(size for _, size in self._kept.values()) > self._most_bytes:
                self._kept.popitem(last=False)


@dataclass(frozen=True, slots=True)
class KeptVectors:
    """All vectors of a scope, in the order of their ids."""

    last_id: int
    seqs: npt.NDArray[np.int64]
    rows: vector_codes.Floats
    lengths: vector_codes.Floats

    def nearest_first(self, query: bytes) -> list[tuple[int, float]]:
        """All of them with their cosines, equal ones by their numbers."""
        import numpy as np

        similarities = vector_codes.cosines_of(self.rows, self.lengths, query)
        order = np.lexsort((self.seqs, -similarities))
        return list(zip(self.seqs[order].tolist(), similarities[order].tolist(), strict=True))


class VectorCache:
    def __init__(self) -> None:
        self._kept: BoundedCache[KeptVectors] = BoundedCache()

    def vectors(self, connection: Connection, scope: dict[str, Any], dimensions: int) -> KeptVectors | None:
        """The vectors that the transaction sees; None if they are too many to keep."""
        [stamp] = connection.run(_SQL["vector_stamp"], scope)
        if stamp["count"] > MOST_ROWS:
            return None
        key = tuple(scope.values())
        known = self._kept.get(key)
        if known and (known.last_id, len(known.seqs)) == (stamp["last_id"], stamp["count"]):
            return known
        found = _read(connection, scope, dimensions, known)
        if len(found.seqs) != stamp["count"]:  # what was known has been deleted since, or replaced
            found = _read(connection, scope, dimensions, None)
        self._kept.put(key, found, found.rows.nbytes)
        return found


def _read(
    connection: Connection, scope: dict[str, Any], dimensions: int, known: KeptVectors | None
) -> KeptVectors:
    """What was known, and what came after it."""
    import numpy as np

    after = known.last_id if known else 0
    found = connection.run(_SQL["vectors_after"], {**scope, "vector_after": after})
    rows = vector_codes.floats([row["embedding"] for row in found], dimensions)
    seqs = np.array([row["seq"] for row in found], np.int64)
    last = found[-1]["id"] if found else after
    if known is not None:
        seqs, rows = np.concatenate([known.seqs, seqs]), np.concatenate([known.rows, rows])
    return KeptVectors(last, seqs, rows, vector_codes.lengths(rows))
