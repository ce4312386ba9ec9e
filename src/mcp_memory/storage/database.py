"""The seam between the store and a database engine, cut at the connection."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any, Literal, NamedTuple, Protocol

from mcp_memory.model import EmbeddingModel, Owner
from mcp_memory.ranking.unit_vectors import NeighbourRows, NeighbourVectors
from mcp_memory.storage.diagnostics import Finding

Row = dict[str, Any]
Params = Mapping[str, Any]
Columns = Mapping[str, Sequence[Any]]
"""The values of rows, column by column."""


@dataclass(frozen=True, slots=True)
class Allowed:
    """Filter of a search: a condition over the owner's table, whose alias is `o`."""

    condition: str
    params: Params
    whole_space: bool = field(default=False, kw_only=True)
    """Whether all rows of the space pass."""


@dataclass(frozen=True, slots=True)
class Script:
    """One migration of one engine."""

    number: int
    name: str
    sql: str


class Connection(Protocol):
    """A transaction in progress.

    SQL comes with `:name` parameters. Datetimes and JSON go in and come out as Python
    values for columns declared TIMESTAMPTZ and JSONB; the type of an expression depends on the engine.
    Driver errors are raised as `Conflict`, `Invalid` or `Unavailable`; wrong SQL stays the driver's error,
    because it is a bug.
    """

    def run(self, sql: str, params: Params = ...) -> list[Row]:
        """All rows of a statement."""

    def tuples(self, sql: str, params: Params = ...) -> list[tuple[Any, ...]]:
        """The same rows as plain tuples, for statements with hundreds of short rows."""

    def listed(self, keys: Sequence[Any]) -> tuple[str, Params]:
        """What stands for these keys in `IN (…)`, and its parameters."""

    def change(self, sql: str, params: Params = ...) -> int:
        """Returns the number of changed rows."""

    def change_many(self, sql: str, rows: Sequence[Params]) -> None:
        """Run the same statement for each row.

        Errors may be deferred until the next read or commit.
        """

    def insert_all(
        self, table: str, columns: Columns, shared: Params = ..., *, at_once: bool = False
    ) -> None:
        """Bulk insert. All rows have the `shared` values beside their own.

        `at_once`: in as few statements as possible, for a table to which each of them is work.
        """

    def insert_numbered(self, table: str, columns: Columns, shared: Params = ...) -> list[int]:
        """Bulk insert into a table with generated numbers. Returns them (`seq`), in order."""


class Words(Protocol):
    """Full-text index of an engine. Words arrive tokenized, folded and stemmed."""

    def put(
        self, connection: Connection, owner: Owner, rows: Sequence["WordRow"], *, new: bool = False
    ) -> None:
        """Index rows, replacing their earlier entries; `new` rows have none."""

    def remove(self, connection: Connection, owner: Owner, space_id: int, seqs: Sequence[int]) -> None: ...

    def matching(
        self,
        connection: Connection,
        owner: Owner,
        terms: Sequence[str],
        space_id: int,
        allowed: Allowed,
        limit: int,
    ) -> list[tuple[int, float]]:
        """Rows with any of the terms and their BM25 scores (higher is better), best first.

        In a large space, rows that hold only common terms may be left out.
        """

    def containing(self, connection: Connection, owner: Owner, space_id: int, needle: str) -> Allowed:
        """Rows whose text may hold a lowered substring: all that do, and possibly others."""

    def bulk_load(self, database: "Database") -> AbstractContextManager[None]:
        """Defers index work while very many rows are added and nobody searches."""

    def maintain(self, database: "Database") -> Iterator[str]:
        """Update statistics of spaces that have grown, in small steps. Yields what each step did."""


class WordRow(NamedTuple):
    """The words of a row. A tuple: a bulk write makes hundreds."""

    seq: int
    space_id: int
    body: str
    """With spaces between them."""
    extra: str
    """Those that count half."""


class Vectors(Protocol):
    """Nearest-neighbour search of an engine. Vectors are unit length, float32, little endian."""

    def put(
        self, connection: Connection, model_id: int, owner: Owner, rows: Sequence[tuple[int, int, bytes]]
    ) -> None:
        """Store (seq, space_id, vector), replacing earlier ones."""

    def remove(self, connection: Connection, model_id: int, owner: Owner, seqs: Sequence[int]) -> None: ...

    def nearest(
        self,
        connection: Connection,
        model_id: int,
        owner: Owner,
        query: bytes,
        space_id: int,
        allowed: Allowed,
        limit: int,
    ) -> list[tuple[int, float]]:
        """The nearest rows with their cosine similarity, best first."""

    def any_near(
        self,
        connection: Connection,
        model: EmbeddingModel,
        owner: Owner,
        query: bytes,
        space_id: int,
        least_cosine: float,
    ) -> bool:
        """False if no vector of the space is so close; True if one is, or if finding out takes a search."""

    def at_hand(
        self, connection: Connection, model: EmbeddingModel, owner: Owner, space_id: int
    ) -> "VectorsAtHand | None":
        """All vectors of a space as the transaction sees them; None if they have to be read."""

    def maintain(self, database: "Database", model_id: int, dimensions: int) -> Iterator[str]:
        """Build and fill indexes as their size requires, in small steps. Yields what each step did."""


class VectorsAtHand(Protocol):
    """The vectors of a space in memory."""

    @property
    def count(self) -> int: ...

    def units(self, wanted: Iterable[int]) -> dict[int, bytes]:
        """Those of these rows that have one, at length one."""

    def in_a_row(self, seqs: Sequence[int], turns: NeighbourRows) -> NeighbourVectors:
        """Those of memories that stand in this order, with their neighbours among them."""

    def cosines(self, query: bytes, wanted: Iterable[int]) -> dict[int, float]:
        """Their cosines with a vector."""

    def nearest_first(self, query: bytes, least: int) -> list[tuple[int, float]]:
        """The nearest with their cosines, equal ones by their numbers: at least so many, else all."""


class Database(Protocol):
    """One engine."""

    name: str

    @property
    def words(self) -> Words: ...

    @property
    def vectors(self) -> Vectors: ...

    def read(self, *, urgent: bool = False, whole: bool = False) -> AbstractContextManager[Connection]:
        """A read transaction on one snapshot.

        `urgent`: without waiting for other readers. `whole`: a scan that reads much data once, so that
        caching it would be useless.
        """

    def write(
        self, *, space: str | None = None, durable: bool = True, patience: float | None = None
    ) -> AbstractContextManager[Connection]:
        """An atomic write transaction; `durable` ones survive a power cut.

        A `space` has one writer at a time. Two guarantees depend on that: an act may read before it writes,
        and the numbers of a space's events follow the order of commits. Waiting for other writers for more
        than `patience` seconds (default: the engine's own) raises `Unavailable`.
        """

    def migrate(self, scripts: Sequence[Script]) -> None:
        """Apply the scripts newer than the database, in one process at a time.

        Afterwards the database can be used, even if not all of them are applied: see `migrate_further`.
        """

    def migrate_further(self) -> Iterator[str]:
        """What `migrate` has left to be done while the database is used, in short steps that may be
        interrupted. Yields what each step did.
        """

    def change_signal(self) -> AbstractContextManager["ChangeSignal"]:
        """Wakes on writes of any process. Only a hint: the journal is the source of truth."""

    def leader_election(self, duty: "Duty" = "maintenance") -> AbstractContextManager["LeaderElection"]:
        """Elects the one process that does the background work, or that imports."""

    def exists(self) -> bool:
        """Whether our tables exist; creates nothing."""

    def size(self) -> int:
        """Bytes on disk."""

    def cache_bytes(self) -> int:
        """Memory in this process for pages of the database and all else that the engine keeps."""

    def examine(self, *, quick: bool = False, now: datetime | None = None) -> Iterator[Finding]:
        """Read-only diagnostics, also of a database that cannot be opened.

        `quick` skips full scans; with `now`, dates in the future are found.
        """

    def repair(self) -> int:
        """Repair unreadable values, references and indexes. Returns the number of repairs. Memories whose
        text or values can no longer be trusted are quarantined.
        """

    def scrub(self) -> bool:
        """Erase all traces of deleted rows from the database files. Slow; writers may wait.

        False if somebody else read for so long that it has to be done again.
        """

    def back_up(self, path: Path) -> None:
        """Write a consistent copy of everything as an SQLite file, while others read and write."""

    def set_sequences(self, connection: Any, last: Sequence[dict[str, Any]]) -> None:
        """Set the `last` number given out by each table, by `name`, so that none is given out twice."""

    def close(self) -> None: ...


Duty = Literal["maintenance", "import"]
"""Work that only one process does at a time."""


class ChangeSignal(Protocol):
    def wait(self, timeout: float) -> bool:
        """Whether there may be new writes since the last call; waits at most `timeout` seconds."""


class LeaderElection(Protocol):
    def leads(self) -> bool:
        """Whether this process leads now. Check before each piece of work: leadership can be lost.

        Two processes may lead briefly while a connection breaks, so the work must tolerate that.
        """


def insert_sql(table: str, columns: Sequence[str]) -> str:
    values = ", ".join(f":{column}" for column in columns)
    return f"INSERT INTO {table} ({', '.join(columns)}) VALUES ({values})"
