"""Sketches: bit codes of all vectors of a space, which narrow a search down to some hundred candidates.

A sketch is derived data in plain rows, appended in short transactions: it can be killed at any point, and
the next process resumes. It holds the vectors up to an id; a search compares later ones itself. Entries of
replaced or deleted vectors stay until there are too many of them: their ids are not found any more.
"""

from array import array
from collections.abc import Iterator
from dataclasses import dataclass

from mcp_memory.model import Owner
from mcp_memory.storage import queries, vector_codes
from mcp_memory.storage.database import Connection, Database
from mcp_memory.storage.sqlite.vector_cache import BoundedCache

SKETCH_FROM = 2_000
"""Vectors in a space above which a sketch is worth its cost; below, all are compared."""

BATCH = 2_000
"""Vectors per segment, and per transaction: 20 ms, for which other writers wait."""

LEAST_BATCH = 500
"""New vectors that are worth a segment; a search compares fewer."""

_SQL = queries.load("sqlite")
_SHARED = queries.load()


@dataclass(frozen=True, slots=True)
class SketchScope:
    """The vectors of one model, one kind of owner and one space."""

    model_id: int
    owner: Owner
    space_id: int

    @property
    def params(self) -> dict[str, object]:
        return {"model_id": self.model_id, "owner": self.owner, "space_id": self.space_id}


@dataclass(frozen=True, slots=True)
class Sketch:
    scope: SketchScope
    last_id: int
    entry_count: int


@dataclass(frozen=True, slots=True)
class Segments:
    """The bit codes of a sketch."""

    ids: bytes
    codes: tuple[bytes, ...]

    def candidates(self, query: bytes, count: int) -> list[int]:
        """The ids of the vectors whose bit codes are closest to the query's."""
        import numpy as np

        distances = vector_codes.distances(self.codes, query)
        found: list[int] = np.frombuffer(self.ids, np.int64)[vector_codes.smallest(distances, count)].tolist()
        return found


class SegmentCache:
    """The bit codes that searches used last. Vectors up to an id, so many of them, are always the same."""

    def __init__(self) -> None:
        self._kept: BoundedCache[tuple[Sketch, Segments]] = BoundedCache()

    def of(self, connection: Connection, sketch: Sketch) -> Segments:
        known = self._kept.get(sketch.scope)
        if known is not None and known[0] == sketch:
            return known[1]
        rows = connection.run(_SQL["sketch_segments"], sketch.scope.params)
        found = Segments(b"".join(row["ids"] for row in rows), tuple(row["codes"] for row in rows))
        self._kept.put(sketch.scope, (sketch, found), len(found.ids) + sum(map(len, found.codes)))
        return found


def find(connection: Connection, scope: SketchScope) -> Sketch | None:
    for row in connection.run(_SQL["sketch"], scope.params):
        return Sketch(scope, row["last_id"], row["entry_count"])
    return None


def maintain(database: Database, model_id: int, dimensions: int) -> Iterator[str]:
    """Create and extend sketches. Each step is one short transaction."""
    yield from _drop_stale(database)
    with database.read() as connection:
        large = connection.run(_SQL["spaces_to_sketch"], {"model_id": model_id, "least": SKETCH_FROM})
    for row in large:
        scope = SketchScope(model_id, row["owner"], row["space_id"])
        while taken := _extend(database, scope, dimensions):
            yield f"sketched {taken} vectors of {scope.owner}"


def _drop_stale(database: Database) -> Iterator[str]:
    with database.read() as connection:
        stale = connection.run(_SQL["stale_sketches"], {"spare": BATCH})
    for row in stale:
        with database.write(durable=False) as connection:
            connection.change(_SQL["remove_sketch"], row)
            connection.change(_SQL["remove_segments"], row)
        yield f"dropped the sketch of {row['owner']} in space {row['space_id']}"


def _extend(database: Database, scope: SketchScope, dimensions: int) -> int:
    """Append a segment. Returns its size; 0 when too few vectors were left."""
    with database.write(durable=False) as connection:
        # Read under the lock: another process may extend the same sketch.
        known = find(connection, scope) or Sketch(scope, 0, 0)
        batch = {**scope.params, "after": known.last_id, "batch": BATCH}
        rows = connection.run(_SQL["vectors_to_sketch"], batch)
        if len(rows) < LEAST_BATCH:
            return 0
        ids, stored = [row["id"] for row in rows], [row["embedding"] for row in rows]
        codes = vector_codes.signs(stored, dimensions)
        segment = {**scope.params, "ids": array("q", ids).tobytes(), "codes": codes}
        connection.change(_SQL["add_segment"], segment)
        state = {"last_id": ids[-1], "entry_count": known.entry_count + len(rows)}
        connection.change(_SQL["put_sketch"], {**scope.params, **state})
        return len(rows)
