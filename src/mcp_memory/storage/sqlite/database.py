"""SQLite: one file, one writer, a few readers, and any number of other processes."""

import json
import os
import random
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, nullcontext
from datetime import UTC, datetime
from functools import lru_cache
from pathlib import Path
from queue import Empty, LifoQueue
from types import NoneType
from typing import Any, Literal

import apsw

from mcp_memory.errors import Conflict, Invalid, MemoryServerError, Unavailable
from mcp_memory.storage.database import Params, Row, Script, insert_sql
from mcp_memory.storage.file_lock import FileLock
from mcp_memory.storage.sqlite.signals import SqliteChangeSignal, SqliteLeaderElection
from mcp_memory.storage.sqlite.vectors import SqliteVectors, load
from mcp_memory.storage.sqlite.words import SqliteWords

APPLICATION_ID = 0x6D656D31
""""mem1" in the file's header: a stranger's database is not touched."""

BUSY_TIMEOUT_MS = 10_000
BEGIN_ATTEMPTS = 5
READERS = 16
"""Connections that may read at once."""
IDLE_READERS = 4
"""Connections that are kept open for the next reader."""
READER_PATIENCE = 30.0
"""Seconds to wait for another reader to finish."""
CHECKPOINT_PAGES = 1000
LONGEST_LOG = 16_000
"""Pages, of 4 kB."""
CHECKPOINT_PATIENCE_MS = 250
_NOTHING: Params = {}
_AS_THEY_ARE = (str, int, float, bytes, NoneType)

Synchronous = Literal["FULL", "NORMAL"]


class SqliteDatabase:
    """A file that many threads and processes may use at once."""

    name = "sqlite"

    def __init__(self, path: Path, synchronous: Synchronous = "FULL") -> None:
        self._path = path
        self._synchronous = synchronous
        self._lock = FileLock(path.with_name(path.name + ".lock"))
        self._writing = threading.Lock()
        self._writer: apsw.Connection | None = None
        self._writer_synchronous = synchronous
        self._readers: LifoQueue[apsw.Connection] = LifoQueue()
        self._reader_slots = threading.BoundedSemaphore(READERS)
        self._identity: tuple[int, int] | None = None
        self._closed = False
        self.words = SqliteWords()
        self.vectors = SqliteVectors()

    @contextmanager
    def read(self, *, urgent: bool = False) -> Iterator["SqliteConnection"]:
        with nullcontext() if urgent else self._reader_slot(), _translated():
            connection = self._idle_reader()
            try:
                connection.execute("BEGIN")
                yield SqliteConnection(connection)
            finally:
                self._give_back(connection)

    @contextmanager
    def _reader_slot(self) -> Iterator[None]:
        # Bounded in time, so that no reader, however slow, can make the others wait for ever.
        if not self._reader_slots.acquire(timeout=READER_PATIENCE):
            raise Unavailable("the database is busy with other readers; try again")
        try:
            yield
        finally:
            self._reader_slots.release()

    @contextmanager
    def write(
        self, *, space: str | None = None, durable: bool = True, patience: float | None = None
    ) -> Iterator["SqliteConnection"]:
        # There is one writer in all, whatever the space.
        with self._turn(patience) as left, _translated():
            connection = self._open_writer()
            self._set_durability(connection, self._synchronous if durable else "NORMAL")
            if left is None:
                _begin(connection)
            else:
                _begin_at_once(connection, left)
            try:
                yield SqliteConnection(connection)
                connection.execute("COMMIT")
            except BaseException:
                if connection.in_transaction:
                    connection.execute("ROLLBACK")
                raise

    @contextmanager
    def _turn(self, patience: float | None) -> Iterator[float | None]:
        """Wait for the other writers; what is left of the patience."""
        # The thread lock: one connection may not be used by two threads. The file lock: SQLite's own
        # waiting is unfair among processes, and a writer could starve for seconds. It is held for
        # fairness only; BEGIN IMMEDIATE is what makes it safe.
        begun = time.monotonic()
        if not self._writing.acquire(timeout=-1 if patience is None else patience):
            raise Unavailable("the database is busy with another writer; try again")
        try:
            if patience is None:
                with self._lock.held(BUSY_TIMEOUT_MS / 1000):
                    yield None
            else:
                with self._lock.held(max(0.0, begun + patience - time.monotonic())):
                    yield max(0.0, begun + patience - time.monotonic())
        finally:
            self._writing.release()

    def migrate(self, scripts: Sequence[Script]) -> None:
        newest = scripts[-1].number
        with self.read() as connection:
            if self._version(connection) == newest:
                return
        with self.write() as connection:
            version = self._version(connection)
            if version > newest:
                raise Unavailable(
                    f"{self._path} was written by a newer mcp-memory "
                    f"(schema {version}, this one knows {newest}). "
                    "Update mcp-memory, or point DATABASE_URL at another file."
                )
            for script in scripts[version:]:
                connection.raw.execute(script.sql)
            connection.raw.execute(f"PRAGMA user_version = {newest}")
            connection.raw.execute(f"PRAGMA application_id = {APPLICATION_ID}")

    @contextmanager
    def bell(self) -> Iterator[SqliteChangeSignal]:
        with _translated():
            self._refuse_other_file()
            connection = self._connect()
            try:
                yield SqliteChangeSignal(connection)
            finally:
                connection.close()

    @contextmanager
    def candidacy(self) -> Iterator[SqliteLeaderElection]:
        lock = FileLock(self._path.with_name(self._path.name + ".leader"))
        try:
            yield SqliteLeaderElection(lock)
        finally:
            lock.close()

    def close(self) -> None:
        """What is under way is finished; what comes after is refused."""
        with self._writing:
            self._closed = True
            if self._writer is not None:
                self._writer.close()
                self._writer = None
        while True:
            try:
                self._readers.get_nowait().close()
            except Empty:
                break
        self._lock.close()

    def _version(self, connection: "SqliteConnection") -> int:
        [[version]] = connection.raw.execute("PRAGMA user_version")
        return int(version)

    def _refuse_stranger(self, connection: apsw.Connection) -> None:
        [[application]] = connection.execute("PRAGMA application_id")
        [[tables]] = connection.execute("SELECT count(*) FROM sqlite_schema")
        if application != APPLICATION_ID and tables:
            raise Unavailable(
                f"{self._path} is an SQLite file of another program. Point DATABASE_URL at another path; "
                "to bring in its contents, use `mcp-memory import`."
            )

    def _refuse_other_file(self) -> None:
        """Whoever writes on into a file that was deleted or replaced loses it, and does not notice."""
        if self._closed:
            raise Unavailable("the database is closed, for the server is stopping: start it again")
        if self._identity not in (None, _identity(self._path)):
            raise Unavailable(
                f"{self._path} was moved, deleted or replaced while it was in use: restart the server"
            )

    def _give_back(self, connection: apsw.Connection) -> None:
        """Keep the connection for the next reader, but only if its snapshot has ended."""
        try:
            if connection.in_transaction:
                connection.execute("ROLLBACK")
        except apsw.Error:
            connection.close(True)
            raise
        if self._closed or connection.in_transaction or self._readers.qsize() >= IDLE_READERS:
            connection.close(True)
        else:
            self._readers.put(connection)

    def _idle_reader(self) -> apsw.Connection:
        self._refuse_other_file()
        try:
            return self._readers.get_nowait()
        except Empty:
            connection = self._connect()
            connection.execute("PRAGMA query_only = ON")
            return connection

    def _open_writer(self) -> apsw.Connection:
        self._refuse_other_file()
        if self._writer is None:
            self._writer = self._connect()
            self._writer.set_wal_hook(Checkpoints())
        return self._writer

    def _set_durability(self, connection: apsw.Connection, synchronous: Synchronous) -> None:
        if synchronous != self._writer_synchronous:
            connection.execute(f"PRAGMA synchronous = {synchronous}")
            self._writer_synchronous = synchronous

    def _connect(self) -> apsw.Connection:
        _create_private(self._path)
        connection = apsw.Connection(str(self._path), statementcachesize=500)
        self._identity = self._identity or _identity(self._path)
        connection.set_busy_timeout(BUSY_TIMEOUT_MS)
        # First of all: the pragmas below would change the file.
        self._refuse_stranger(connection)
        for pragma in _pragmas(self._synchronous):
            connection.execute(pragma)
        connection.create_scalar_function("lowered", _lowered, 1, deterministic=True)
        load(connection)
        return connection


def _pragmas(synchronous: Synchronous) -> tuple[str, ...]:
    return (
        # Readers never wait for the writer, nor the writer for them.
        "PRAGMA journal_mode = WAL",
        # FULL: a commit that was acknowledged survives a power cut. NORMAL syncs only at a checkpoint,
        # and loses what came after the last one.
        f"PRAGMA synchronous = {synchronous}",
        # 64 MB at most per connection, used only as far as pages are touched.
        "PRAGMA cache_size = -64000",
        # Sorts and temporary tables need no disk.
        "PRAGMA temp_store = MEMORY",
        # SQLite does not check references unless asked.
        "PRAGMA foreign_keys = ON",
    )


class Checkpoints:
    """Moves the log of one writer into the database as it grows.

    Readers that never all pause keep the log from starting over, and it could grow without end. Past a
    limit the writer waits for them a moment; where one of them stays long, it tries again only when the
    log has grown further.
    """

    def __init__(self) -> None:
        self._next = LONGEST_LOG

    def __call__(self, connection: apsw.Connection, schema: str, pages: int) -> int:
        """After each commit, with the pages that the log has."""
        if pages < CHECKPOINT_PAGES:
            self._next = LONGEST_LOG
        elif pages < self._next:
            _checkpoint(connection, schema, apsw.SQLITE_CHECKPOINT_PASSIVE)
        else:
            connection.set_busy_timeout(CHECKPOINT_PATIENCE_MS)
            done = _checkpoint(connection, schema, apsw.SQLITE_CHECKPOINT_TRUNCATE)
            connection.set_busy_timeout(BUSY_TIMEOUT_MS)
            self._next = LONGEST_LOG if done else pages + LONGEST_LOG // 4
        return apsw.SQLITE_OK


def _checkpoint(connection: apsw.Connection, schema: str, mode: int) -> bool:
    """Whether it was done; the commit is safe in the log either way."""
    try:
        connection.wal_checkpoint(schema, mode)
    except (apsw.BusyError, apsw.LockedError):
        return False
    return True


def _identity(path: Path) -> tuple[int, int] | None:
    """Which file is at the path; another one in its place has another."""
    try:
        found = path.stat()
    except FileNotFoundError:
        return None
    return found.st_dev, found.st_ino


def _create_private(path: Path) -> None:
    """A memory is nobody else's business: the file is the owner's alone from its first byte."""
    if path.exists():
        return
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        os.close(os.open(path, os.O_CREAT | os.O_RDWR, 0o600))
    except OSError as error:
        raise Unavailable(
            f"cannot create the database {path}: {error.strerror}. Set DATABASE_URL."
        ) from error


def _begin(connection: apsw.Connection) -> None:
    # IMMEDIATE takes the write lock at once: a transaction that reads first and writes later
    # could otherwise fail half way with SQLITE_BUSY.
    for attempt in range(BEGIN_ATTEMPTS):
        try:
            connection.execute("BEGIN IMMEDIATE")
        except apsw.BusyError:
            if attempt == BEGIN_ATTEMPTS - 1:
                raise
            time.sleep(min(0.1 * 2**attempt, 2.0) * (1 + random.random() / 10))
        else:
            return


def _begin_at_once(connection: apsw.Connection, patience: float) -> None:
    connection.set_busy_timeout(int(patience * 1000))
    try:
        connection.execute("BEGIN IMMEDIATE")
    finally:
        connection.set_busy_timeout(BUSY_TIMEOUT_MS)


class SqliteConnection:
    """A transaction on one apsw connection."""

    def __init__(self, raw: apsw.Connection) -> None:
        self.raw = raw

    def run(self, sql: str, params: Params = _NOTHING) -> list[Row]:
        cursor = self.raw.execute(sql, _bound(params))
        first = next(cursor, None)
        if first is None:
            return []
        read = _reader(cursor.get_description())
        return [read(first), *map(read, cursor)]

    def change(self, sql: str, params: Params = _NOTHING) -> int:
        before = self.raw.total_changes()
        self.raw.execute(sql, _bound(params))
        return self.raw.total_changes() - before

    def change_many(self, sql: str, rows: Sequence[Params]) -> None:
        self.raw.executemany(sql, map(_bound, rows))

    def insert_all(self, table: str, columns: Sequence[str], rows: Sequence[Params]) -> None:
        self.change_many(insert_sql(table, columns), rows)

    def insert_numbered(self, table: str, columns: Sequence[str], rows: Sequence[Params]) -> list[int]:
        numbering = f"{insert_sql(table, columns)} RETURNING seq"
        return [seq for (seq,) in self.raw.executemany(numbering, map(_bound, rows))]


def _bound(params: Params) -> dict[str, Any]:
    return {name: _stored(value) for name, value in params.items()}


def _stored(value: Any) -> Any:
    if isinstance(value, _AS_THEY_ARE):
        return value
    if isinstance(value, datetime):
        return stored_time(value)
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def stored_time(value: datetime) -> str:
    """Fixed width, so that text order is time order."""
    return value.astimezone(UTC).isoformat(timespec="microseconds")


@lru_cache(maxsize=1000)
def _reader(description: tuple[tuple[str, str | None], ...]) -> Callable[[tuple[Any, ...]], Row]:
    """How to read a row with these columns."""
    names = tuple(name for name, _ in description)
    converters = tuple(
        (index, name, _CONVERTERS[declared])
        for index, (name, declared) in enumerate(description)
        if declared in _CONVERTERS
    )

    def read(values: tuple[Any, ...]) -> Row:
        row = dict(zip(names, values, strict=True))
        for index, name, convert in converters:
            if values[index] is not None:
                row[name] = convert(values[index])
        return row

    return read


def _from_json(text: str) -> Any:
    # Most are empty, and this is on the way of every row.
    if text == "{}":
        return {}
    return [] if text == "[]" else json.loads(text)


_CONVERTERS: dict[str | None, Callable[[Any], Any]] = {
    "TIMESTAMPTZ": datetime.fromisoformat,
    "JSONB": _from_json,
}


def _lowered(*texts: Any) -> str | None:
    [text] = texts
    return None if text is None else str(text).lower()


@contextmanager
def _translated() -> Iterator[None]:
    """A driver's error becomes one of ours; wrong SQL stays what it is, a bug."""
    try:
        yield
    except MemoryServerError:
        raise
    except UnicodeEncodeError as error:
        raise Invalid("a text holds half of a surrogate pair, which is not text: remove it") from error
    except OverflowError as error:
        raise Invalid("a number is larger than the database can hold: give a smaller one") from error
    except apsw.ConstraintError as error:
        raise Conflict(f"the database refused a row: {error}") from error
    except (apsw.BusyError, apsw.LockedError) as error:
        raise Unavailable("the database is busy with another process; try again") from error
    except (
        apsw.CantOpenError,
        apsw.IOError,
        apsw.FullError,
        apsw.ReadOnlyError,
        apsw.PermissionsError,
    ) as error:
        raise Unavailable(f"the database cannot be used: {error}") from error
    except (apsw.CorruptError, apsw.NotADBError) as error:
        raise Unavailable(f"the database file is damaged: {error}. Run `mcp-memory doctor`.") from error
