"""The seam between the store and a database engine, cut at the connection."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Any, Protocol

from mcp_memory.model import Owner

Row = dict[str, Any]
Params = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Allowed:
    """The rows a search may return: a condition over the owner's table, whose alias is `o`."""

    condition: str
    params: Params


@dataclass(frozen=True, slots=True)
class Script:
    """One migration of one engine."""

    number: int
    name: str
    sql: str


class Connection(Protocol):
    """One transaction's way to the database.

    SQL comes with `:name` parameters. Datetimes and JSON go in and come out as Python
    values for columns declared TIMESTAMPTZ and JSONB; an expression comes out as the engine has it.
    A driver's error leaves as `Conflict` or `Unavailable`, never as itself; wrong SQL passes
    through as the bug it is.
    """

    def run(self, sql: str, params: Params = ...) -> list[Row]:
        """All rows of a statement."""

    def change(self, sql: str, params: Params = ...) -> int:
        """How many rows the statement changed."""

    def change_many(self, sql: str, rows: Sequence[Params]) -> None:
        """The same statement for each of the rows.

        What is wrong with it may come out later, but in the same transaction.
        """

    def insert_all(self, table: str, columns: Sequence[str], rows: Sequence[Params]) -> None:
        """New rows, as fast as the engine can take them."""

    def insert_numbered(self, table: str, columns: Sequence[str], rows: Sequence[Params]) -> list[int]:
        """New rows of a table that numbers them, and their numbers (`seq`), in order."""


class Words(Protocol):
    """Full text in an engine's own way. Words arrive already cut, folded and stemmed."""

    def put(
        self, connection: Connection, owner: Owner, rows: Sequence["WordRow"], *, new: bool = False
    ) -> None:
        """Index these, in place of whatever was indexed for them before; if they are `new`, nothing was."""

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
        """Those that hold any of the terms, with their BM25 score (more is better), best first.

        In a large space, those that hold only common ones among the terms may be left out.
        """

    def loading(self, database: "Database") -> AbstractContextManager[None]:
        """Around the putting of very many rows, while nobody searches: what can be done at the end, is."""

    def tend(self, database: "Database") -> Iterator[str]:
        """Learn what makes searches fast in spaces that have grown, in small steps, saying what each did."""


@dataclass(frozen=True, slots=True)
class WordRow:
    seq: int
    space_id: int
    body: Sequence[str]
    extra: Sequence[str]


class Vectors(Protocol):
    """Nearest neighbours in an engine's own way. Vectors are unit length, float32, little endian."""

    def put(
        self, connection: Connection, model_id: int, owner: Owner, rows: Sequence[tuple[int, int, bytes]]
    ) -> None:
        """Keep these (seq, space_id, vector), in place of earlier ones."""

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
        """The closest, with their cosine similarity, best first."""

    def tend(self, database: "Database", model_id: int, dimensions: int) -> Iterator[str]:
        """Bring the index up to what its size asks for, in small steps, saying what each did."""


class Database(Protocol):
    """One engine."""

    name: str

    @property
    def words(self) -> Words: ...

    @property
    def vectors(self) -> Vectors: ...

    def read(self, *, urgent: bool = False) -> AbstractContextManager[Connection]:
        """A transaction that only reads, at one moment. `urgent`: without waiting for other readers."""

    def write(
        self, *, space: str | None = None, durable: bool = True, patience: float | None = None
    ) -> AbstractContextManager[Connection]:
        """A transaction that is kept whole, or not at all; if `durable`, also through a power cut.

        In a `space` there is one writer at a time. Two things rest on it: an act may look first and write
        then, and the numbers of a space's events follow the order of commits. Whoever has waited for the
        others for `patience` seconds gets `Unavailable`; without it, as long as is usual.
        """

    def migrate(self, scripts: Sequence[Script]) -> None:
        """Apply the scripts newer than the database, while no other process does."""

    def bell(self) -> AbstractContextManager["ChangeSignal"]:
        """Hear of what is written, by whatever process. Only a hint to look: the journal is the truth."""

    def candidacy(self) -> AbstractContextManager["LeaderElection"]:
        """Stand for being the one process that does the background work."""

    def close(self) -> None: ...


class ChangeSignal(Protocol):
    def wait(self, timeout: float) -> bool:
        """Whether something may have been written since the last call; after `timeout` seconds at most."""


class LeaderElection(Protocol):
    def leads(self) -> bool:
        """Whether this process leads now. Ask before each piece of work: it may be taken over, or lost.

        Two may lead for a moment while a connection is being lost, so the work must bear that.
        """


def insert_sql(table: str, columns: Sequence[str]) -> str:
    """A new row, as every engine takes it."""
    values = ", ".join(f":{column}" for column in columns)
    return f"INSERT INTO {table} ({', '.join(columns)}) VALUES ({values})"
