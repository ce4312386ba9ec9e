"""Vectors kept in memory between searches, for as long as the file holds the same ones.

Ids of vectors only grow, and a vector that is replaced gets a new id. So two moments with the same largest
id and the same count have the same vectors, whichever process wrote them.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from mcp_memory.ranking.unit_vectors import NeighbourRows, NeighbourVectors
from mcp_memory.storage import queries, vector_codes

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    from mcp_memory.storage.sqlite.connection import SqliteConnection

MOST_ROWS = 12_000
"""Vectors of a space that are kept whole: comparing them takes a fifth of reading a sketch's candidates."""

MOST_PLACED = 1_000
"""Vectors that a search reads with their neighbours: those of a small space, or of some hundred memories."""

SPARE = 1.25
"""Room for so many times the vectors, so that one more does not copy all of them."""

MOST_BYTES = 64 * 2**20
"""Memory for all that is kept: room for the entities and the memories of one such space."""

HEADS = 3
"""The part of its dimensions, a third, by which a vector is first compared with a close one."""
ROUNDING = 1e-4

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


class _Buffer:
    """An append-only array of vectors with spare capacity."""

    def __init__(self, room: int, dimensions: int) -> None:
        import numpy as np

        self.seqs = np.empty(room, np.int64)
        self.rows = np.empty((room, dimensions), np.float32)
        self.lengths = np.empty(room, np.float32)
        self.heads = np.empty((room, -(-dimensions // HEADS)), np.float32)
        """The first dimensions of each at length one."""
        self.tails = np.empty(room, np.float32)
        """The length of the rest of each."""
        self.places: dict[int, int] = {}
        """The row of each number: searches look up hundreds of them."""
        self.used = 0

    def has_room(self, count: int) -> bool:
        return self.used + count <= len(self.seqs)

    def add(
        self, seqs: npt.NDArray[np.int64], rows: vector_codes.Floats, lengths: vector_codes.Floats
    ) -> None:

        end = self.used + len(seqs)
        self.seqs[self.used : end] = seqs
        self.rows[self.used : end] = rows
        self.lengths[self.used : end] = lengths
        heads = rows[:, : self.heads.shape[1]] / lengths[:, None]
        self.heads[self.used : end] = heads
        self.tails[self.used : end] = vector_codes.rest_of_unit(heads)
        self.places.update(zip(seqs.tolist(), range(self.used, end), strict=True))
        self.used = end


@dataclass(frozen=True, slots=True)
class KeptVectors:
    """All vectors of a scope, in the order of their ids."""

    last_id: int
    count: int
    buffer: _Buffer
    asked: list[tuple[bytes, vector_codes.Floats]] = field(default_factory=list, compare=False)
    """The last query, and how similar each is to it: the same search asks for some of them again."""

    placed: list[tuple[npt.NDArray[np.int64], NeighbourVectors]] = field(default_factory=list, compare=False)
    """Those that a search has read last with their neighbours."""

    @property
    def stamp(self) -> tuple[int, int]:
        return self.last_id, self.count

    @property
    def seqs(self) -> npt.NDArray[np.int64]:
        return self.buffer.seqs[: self.count]

    @property
    def nbytes(self) -> int:
        rows = self.buffer.rows
        return rows.nbytes + self.buffer.heads.nbytes + min(self.count, MOST_PLACED) * rows.shape[1] * 8

    def similarities(self, query: bytes) -> vector_codes.Floats:
        """The cosine of each, in order."""
        rows, lengths = self.buffer.rows[: self.count], self.buffer.lengths[: self.count]
        found = vector_codes.cosines_of(rows, lengths, query)
        self.asked[:] = [(query, found)]
        return found

    def any_near(self, query: bytes, least: float) -> bool:
        """Whether one is so close.

        A third of the dimensions rules nearly all out, for the rest of two vectors can add no more to their
        cosine than the product of its lengths. Reading all of them from memory would take longest.
        """
        import numpy as np

        buffer, count = self.buffer, self.count
        head = np.frombuffer(query, "<f4")[: buffer.heads.shape[1]]
        most = vector_codes.products_of(buffer.heads[:count], head)
        most += buffer.tails[:count] * vector_codes.rest_of_unit(head[None, :])
        near = np.flatnonzero(most >= least - ROUNDING)
        return bool((vector_codes.cosines_of(buffer.rows[near], buffer.lengths[near], query) >= least).any())

    def nearest_first(self, query: bytes, least: int) -> list[tuple[int, float]]:
        """The nearest with their cosines, equal ones by their numbers: at least so many, else all."""
        import numpy as np

        seqs, similarities = self.seqs, self.similarities(query)
        if least < self.count:
            farthest = np.partition(similarities, self.count - least)[self.count - least]
            near = np.flatnonzero(similarities >= farthest)
            seqs, similarities = seqs[near], similarities[near]
        order = np.lexsort((seqs, -similarities))
        return list(zip(seqs[order].tolist(), similarities[order].tolist(), strict=True))

    def units(self, wanted: Iterable[int]) -> dict[int, bytes]:
        places = self._places(wanted)
        units = vector_codes.unit(self.buffer.rows[places])
        return dict(zip(self.seqs[places].tolist(), (row.tobytes() for row in units), strict=True))

    def in_a_row(self, seqs: Sequence[int], turns: NeighbourRows) -> NeighbourVectors:
        import numpy as np

        order = np.array(seqs, np.int64)
        # These never change, and the turns of a conversation seldom do.
        for known_order, known in self.placed:
            if np.array_equal(known_order, order) and all(map(np.array_equal, known.turns, turns)):
                return known
        places, count = self.buffer.places, self.count
        wanted = np.array([places.get(seq, count) for seq in seqs], np.intp)
        present = np.flatnonzero(wanted < count)
        found = wanted[present]
        rows = np.zeros((len(seqs) + 1, self.buffer.rows.shape[1]))
        rows[present] = self.buffer.rows[found] / self.buffer.lengths[found].astype(np.float64)[:, None]
        known = NeighbourVectors.of(rows, present, turns)
        self.placed[:] = [(order, known)]
        return known

    def cosines(self, query: bytes, wanted: Iterable[int]) -> dict[int, float]:
        places, buffer = self._places(wanted), self.buffer
        known = next((similarities for asked, similarities in self.asked if asked == query), None)
        if known is not None:
            found = known[places]
        else:
            found = vector_codes.cosines_of(buffer.rows[places], buffer.lengths[places], query)
        return dict(zip(self.seqs[places].tolist(), found.tolist(), strict=True))

    def _places(self, wanted: Iterable[int]) -> npt.NDArray[np.intp]:
        import numpy as np

        known, count = self.buffer.places, self.count  # others may add to the buffer meanwhile
        return np.array(sorted({known[seq] for seq in wanted if known.get(seq, count) < count}), np.intp)


class VectorCache:
    def __init__(self) -> None:
        self._kept: BoundedCache[KeptVectors] = BoundedCache()
        self._adding = threading.Lock()

    def vectors(
        self, connection: SqliteConnection, scope: dict[str, Any], dimensions: int
    ) -> KeptVectors | None:
        """The vectors that the transaction sees; None if they are too many to keep.

        Also None if it has written: what it sees may be taken back, and its ids be given out again.
        """
        if connection.has_written:
            return None
        key = tuple(scope.values())
        if key not in connection.seen:
            connection.seen[key] = self._current(connection, scope, dimensions, key)
        found: KeptVectors | None = connection.seen[key]
        return found

    def at_least(
        self, connection: SqliteConnection, scope: dict[str, Any], dimensions: int
    ) -> KeptVectors | None:
        """All vectors that a writer sees, and possibly some that were deleted; None if that is not known.

        For a writer what is kept is never newer than the file. So only new ids have to be read, and not all
        be counted, as to find out whether some were deleted.
        """
        key = tuple(scope.values())
        known = self._kept.get(key)
        if known is None or connection.has_written or not connection.is_writing:
            return None
        found = self._read(connection, scope, dimensions, known)
        if found.count > MOST_ROWS:
            return None
        self._kept.put(key, found, found.nbytes)
        return found

    def _current(
        self, connection: SqliteConnection, scope: dict[str, Any], dimensions: int, key: Hashable
    ) -> KeptVectors | None:
        [stamp] = connection.run(_SQL["vector_stamp"], scope)
        if stamp["count"] > MOST_ROWS:
            return None
        known, wanted = self._kept.get(key), (stamp["last_id"] or 0, stamp["count"])
        if known and known.stamp == wanted:
            return known
        found = self._read(connection, scope, dimensions, known)
        if found.stamp != wanted:  # some were deleted, or the snapshot is older than what is known
            found = self._read(connection, scope, dimensions, None)
        self._kept.put(key, found, found.nbytes)
        return found

    def _read(
        self, connection: SqliteConnection, scope: dict[str, Any], dimensions: int, known: KeptVectors | None
    ) -> KeptVectors:
        """The known vectors, extended by those written since."""
        import numpy as np

        known = known or KeptVectors(0, 0, _Buffer(0, dimensions))
        # One more than can be kept tells that there are too many. Some may replace what is known.
        page = {"vector_after": known.last_id, "vector_most": MOST_ROWS + 1}
        found = connection.run(_SQL["vectors_after"], {**scope, **page})
        if not found:
            return known
        rows = vector_codes.floats([row["embedding"] for row in found], dimensions)
        seqs = np.array([row["seq"] for row in found], np.int64)
        last_id = found[-1]["id"] if found else known.last_id
        with self._adding:
            buffer = _extended(known, seqs, rows)
            return KeptVectors(last_id, buffer.used, buffer)


def _extended(known: KeptVectors, seqs: npt.NDArray[np.int64], rows: vector_codes.Floats) -> _Buffer:
    """A buffer with what is known and not replaced, and what came after it.

    It is the known one if that has room, nothing else follows there, and nothing was replaced.
    """
    import numpy as np

    buffer, count = known.buffer, known.count
    # Mostly they belong to newer rows than any that is known, and replace nothing.
    are_new = not count or int(seqs.min()) > int(known.seqs.max())
    current = np.ones(count, bool) if are_new else np.isin(known.seqs, seqs, invert=True)
    if buffer.used != count or not buffer.has_room(len(seqs)) or not current.all():
        whole = int(current.sum()) + len(seqs)
        buffer = _Buffer(int(SPARE * whole) + 1, rows.shape[1])
        kept = known.buffer
        buffer.add(known.seqs[current], kept.rows[:count][current], kept.lengths[:count][current])
    buffer.add(seqs, rows, vector_codes.lengths(rows))
    return buffer
