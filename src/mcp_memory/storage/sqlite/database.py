"""The SQLite engine: transactions of one writer and a few readers, repair, backup and background duties."""

import logging
import os
import shutil
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext, suppress
from datetime import datetime
from pathlib import Path
from queue import Empty, LifoQueue
from typing import Any

import apsw

from mcp_memory.errors import Unavailable
from mcp_memory.storage import queries
from mcp_memory.storage.database import Duty, Script
from mcp_memory.storage.diagnostics import Finding
from mcp_memory.storage.file_lock import FileLock, TurnFileLock
from mcp_memory.storage.sqlite import online_migration, rewriting, segments, substrings
from mcp_memory.storage.sqlite.checkpoints import BUSY_TIMEOUT_MS, Checkpoints
from mcp_memory.storage.sqlite.connection import (
    APPLICATION_ID,
    COMPACT,
    LAST_OF_TEXT,
    TEXT,
    Form,
    SqliteConnection,
)
from mcp_memory.storage.sqlite.errors import translated_errors
from mcp_memory.storage.sqlite.raw_connection import (
    Synchronous,
    begin,
    begin_at_once,
    digits,
    few_pages,
    lowered,
    pragmas,
)
from mcp_memory.storage.sqlite.signals import SqliteChangeSignal, SqliteLeaderElection
from mcp_memory.storage.sqlite.vectors import SqliteVectors
from mcp_memory.storage.sqlite.words import SqliteWords
from mcp_memory.storage.turn_lock import TurnLock

READERS = 16
"""Connections that may read at once."""
IDLE_READERS = 4
"""Connections kept open for the next reader."""
CACHE_BYTES = 192 * 1024 * 1024
"""Memory for the page caches of all connections together."""
AT_ONCE_BYTES = 16_000_000
"""Size of a file up to which a migration takes a fraction of a second, for which everybody waits."""
LEFT_FREE_BYTES = 64_000_000
"""Disk that the copies of a migration leave to those who write meanwhile: the largest log there is."""
READER_PATIENCE = 30.0
"""Seconds to wait for another reader to finish."""
DIGESTS = ".digests"
"""Ending of the file that `thin.kept_digest` reads and writes."""
_DUTY_LOCKS: Mapping[Duty, str] = {"maintenance": ".leader", "import": ".import"}
_SQL = queries.load("sqlite")
_log = logging.getLogger(__name__)


class SqliteDatabase:
    """A file that many threads and processes may use at once."""

    name = "sqlite"

    def __init__(
        self, path: Path, synchronous: Synchronous = "FULL", *, at_once_bytes: int = AT_ONCE_BYTES
    ) -> None:
        """A file of more than `at_once_bytes` is migrated while it is used: see `migrate_further`."""
        self._path = path
        self._at_once_bytes = at_once_bytes
        self._is_compact = False
        self._had_room = True
        self._scripts: Sequence[Script] = ()
        self._log_path = path.with_name(path.name + "-wal")
        self._shared_path = path.with_name(path.name + "-shm")
        self._synchronous = synchronous
        self._lock = TurnFileLock(path.with_name(path.name + ".lock"), path.with_name(path.name + ".turn"))
        self._writing = TurnLock()
        self._writer: apsw.Connection | None = None
        self._writer_synchronous = synchronous
        self._readers: LifoQueue[apsw.Connection] = LifoQueue()
        self._reader_slots = threading.BoundedSemaphore(READERS)
        self._identity: tuple[int, int] | None = None
        self._log_identity: tuple[int, int] | None = None
        self._shared_identity: tuple[int, int] | None = None
        self._closed = False
        self._checkpoints = Checkpoints(self._connect_again)
        self.words = SqliteWords()
        self.vectors = SqliteVectors()

    @contextmanager
    def read(self, *, urgent: bool = False, whole: bool = False) -> Iterator[SqliteConnection]:
        with nullcontext() if urgent else self._reader_slot(), translated_errors():
            connection = self._idle_reader()
            try:
                connection.execute("BEGIN")
                self._note_log()
                with few_pages(connection) if whole else nullcontext():
                    yield SqliteConnection(connection, self._form(connection))
            finally:
                self._give_back(connection)

    @contextmanager
    def _reader_slot(self) -> Iterator[None]:
        # With a time limit, so that a slow reader cannot block the others forever.
        if not self._reader_slots.acquire(timeout=READER_PATIENCE):
            raise Unavailable("the database is busy with other readers; try again")
        try:
            yield
        finally:
            self._reader_slots.release()

    @contextmanager
    def write(
        self, *, space: str | None = None, durable: bool = True, patience: float | None = None
    ) -> Iterator[SqliteConnection]:
        # One writer for the whole file, whatever the space.
        with self._write_turn(patience) as patience_left, translated_errors():
            connection = self._open_writer()
            self._set_durability(connection, self._synchronous if durable else "NORMAL")
            with self._transaction(connection, patience_left) as transaction:
                yield transaction

    @contextmanager
    def _transaction(
        self, connection: apsw.Connection, patience: float | None = None
    ) -> Iterator[SqliteConnection]:
        if patience is None:
            begin(connection)
        else:
            begin_at_once(connection, patience)
        self._remove_digests()
        try:
            yield SqliteConnection(connection, self._form(connection))
            connection.execute("COMMIT")
            self._note_log()
        except BaseException:
            if connection.in_transaction:
                connection.execute("ROLLBACK")
            raise

    def _form(self, connection: apsw.Connection) -> Form:
        """How values are stored, which another process may change between two transactions."""
        if self._is_compact:
            return COMPACT
        is_compact = self._version(connection) > LAST_OF_TEXT
        if is_compact:
            # Never taken back: a thread with an older snapshot may be here too.
            self._is_compact = True
        return COMPACT if is_compact else TEXT

    def _remove_digests(self) -> None:
        """Delete the digest kept beside the database: it must not outlive a change, least of all a purge."""
        with suppress(OSError):
            os.unlink(f"{self._path}{DIGESTS}")

    @contextmanager
    def _write_turn(self, patience: float | None) -> Iterator[float | None]:
        """Wait for other writers. Yields the remaining patience."""
        # The thread lock: a connection may not be used by two threads at once. The file lock: SQLite's own
        # waiting is unfair among processes, and a writer could starve for seconds. The file lock is for
        # fairness only; BEGIN IMMEDIATE makes it safe.
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
        self._scripts = scripts
        newest = scripts[-1].number
        with self.read() as connection:
            if self._version(connection.raw) == newest or self._serves_meanwhile(connection.raw):
                return
        with self._write_turn(None), translated_errors(), self._changing_schema() as connection:
            version = self._version(connection.raw)
            if version > newest:
                raise Unavailable(
                    f"{self._path} was written by a newer mcp-memory "
                    f"(schema {version}, this one knows {newest}). "
                    "Update mcp-memory, or point DATABASE_URL at another file."
                )
            self._apply(connection.raw, LAST_OF_TEXT if self._is_large() else newest)
            if not self._serves_meanwhile(connection.raw):
                self._apply(connection.raw, newest)

    def _apply(self, raw: apsw.Connection, number: int) -> None:
        """Run the scripts up to a number that have not run yet."""
        version = self._version(raw)
        if LAST_OF_TEXT <= version < number:
            # A program of schema 14 or 15, which knows of no copies, may have come in between.
            online_migration.abandon(raw)
        with _without_views(raw):
            for script in self._scripts[version:number]:
                raw.execute(script.sql)
        raw.execute(f"PRAGMA user_version = {max(version, number)}")
        raw.execute(f"PRAGMA application_id = {APPLICATION_ID}")

    def _is_large(self) -> bool:
        return self.size() > self._at_once_bytes

    def _serves_meanwhile(self, raw: apsw.Connection) -> bool:
        """Whether the file is used as it is, and migrated further in the background."""
        return (
            self._version(raw) == LAST_OF_TEXT
            and self._is_large()
            and online_migration.can_serve(raw, self._scripts)
        )

    def migrate_further(self) -> Iterator[str]:
        pace = online_migration.PieceSizes()
        while (phase := self._migration_phase()) is not None:
            had_room, self._had_room = self._had_room, self._has_room(phase)
            if not self._had_room:
                if had_room:
                    _log.warning("%s is used as it is: migrating it needs more room on the disk", self._path)
                return
            if phase in ("begin", "end"):
                self._begin_or_end_migration()
                yield f"{phase} the migration"
                continue
            work = online_migration.copy_piece if phase == "copy" else online_migration.remove_piece
            with self.write(durable=False) as connection:
                begun = time.monotonic()
                table = work(connection.raw, pace)
            if table is not None:
                pace.learn(table, time.monotonic() - begun)
                yield f"{phase} rows of {table}"

    def _migration_phase(self) -> online_migration.Phase | None:
        with self.read() as connection:
            return online_migration.phase(connection.raw)

    def _has_room(self, phase: online_migration.Phase) -> bool:
        """Whether the next step leaves enough of the disk for other writes."""
        wanted = {"begin": self.size() + LEFT_FREE_BYTES, "copy": LEFT_FREE_BYTES}.get(phase, 0)
        return shutil.disk_usage(self._path.parent).free >= wanted

    def _begin_or_end_migration(self) -> None:
        with self._write_turn(None), translated_errors(), self._changing_schema() as connection:
            raw = connection.raw
            # Another process may have been here meanwhile.
            phase = online_migration.phase(raw)
            if phase in ("begin", "end") and not online_migration.can_serve(raw, self._scripts):
                # Another program has added something to our tables since the start.
                self._apply(raw, self._scripts[-1].number)
            elif phase == "begin":
                online_migration.begin(raw)
            elif phase == "end":
                online_migration.put_in_place(raw)

    @contextmanager
    def _changing_schema(self) -> Iterator[SqliteConnection]:
        """A write transaction that rows with broken references and others' views do not stop."""
        writer = self._open_writer()
        self._set_durability(writer, self._synchronous)
        # Both have no effect within a transaction.
        writer.execute("PRAGMA foreign_keys = OFF")
        writer.execute("PRAGMA legacy_alter_table = ON")
        try:
            with self._transaction(writer) as connection:
                yield connection
        finally:
            writer.execute("PRAGMA legacy_alter_table = OFF")
            writer.execute("PRAGMA foreign_keys = ON")

    @contextmanager
    def change_signal(self) -> Iterator[SqliteChangeSignal]:
        with translated_errors():
            self._refuse_other_file()
            connection = self._connect()
            try:
                yield SqliteChangeSignal(connection)
            finally:
                connection.close()

    @contextmanager
    def leader_election(self, duty: Duty = "maintenance") -> Iterator[SqliteLeaderElection]:
        lock = FileLock(self._path.with_name(self._path.name + _DUTY_LOCKS[duty]))
        try:
            yield SqliteLeaderElection(lock)
        finally:
            lock.close()

    def exists(self) -> bool:
        return self._path.exists()

    def size(self) -> int:
        files = [self._path, self._path.with_name(self._path.name + "-wal")]
        return sum(file.stat().st_size for file in files if file.exists())

    def cache_bytes(self) -> int:
        return int(apsw.memory_used())

    def examine(self, *, quick: bool = False, now: datetime | None = None) -> Iterator[Finding]:
        from mcp_memory.storage.sqlite.diagnostics import examine

        return examine(self._path, quick=quick, now=now)

    def repair(self) -> int:
        from mcp_memory.storage.sqlite.repairing import is_sound, rebuild_indexes, repair

        count = 0
        with self._writer_in_turn() as writer:
            if not is_sound(writer):
                count = rebuild_indexes(writer)
        with self.write() as connection:
            return count + repair(connection)

    def scrub(self) -> bool:
        with self.write() as connection:
            online_migration.drop_replaced(connection.raw)
        substrings.forget_removed(self)
        segments.merge(self.write)
        rewriting.rewrite(self._writer_in_turn, self._is_writing_awaited)
        # Until it is moved into the file, the log holds what was there before.
        return self._checkpoints.empty(self._writer_in_turn)

    def _is_writing_awaited(self) -> bool:
        """Whether somebody waits for the present turn to end, here or in another process."""
        return self._writing.is_awaited() or self._lock.is_awaited()

    @contextmanager
    def _writer_in_turn(self) -> Iterator[apsw.Connection]:
        """The writing connection, outside any transaction, while nobody else writes."""
        with self._write_turn(None), translated_errors():
            yield self._open_writer()

    def back_up(self, path: Path) -> None:
        _create_private(path)
        with translated_errors():
            connection = self._connect()
            try:
                # One read transaction, whatever is written meanwhile; the copy has no free pages.
                connection.execute("VACUUM INTO ?", (str(path),))
            finally:
                connection.close()

    def set_sequences(self, connection: SqliteConnection, last: Sequence[dict[str, Any]]) -> None:
        for statement in ("set_sequence", "add_sequence"):
            connection.change_many(_SQL[statement], last)

    def close(self) -> None:
        """Finish running transactions, and refuse new ones."""
        with self._writing:
            self._closed = True
            self._checkpoints.close()
            if self._writer is not None:
                self._writer.close()
                self._writer = None
        while True:
            try:
                self._readers.get_nowait().close()
            except Empty:
                break
        self._lock.close()

    def _version(self, raw: apsw.Connection) -> int:
        [[version]] = raw.execute("PRAGMA user_version")
        return int(version)

    def _refuse_foreign_file(self, connection: apsw.Connection) -> None:
        [[application]] = connection.execute("PRAGMA application_id")
        [[objects]] = connection.execute(_SQL["count_schema_objects"])
        if application != APPLICATION_ID and objects:
            raise Unavailable(
                f"{self._path} is an SQLite file of another program. Point DATABASE_URL at another path; "
                "to bring in its contents, use `mcp-memory import`."
            )

    def _refuse_other_file(self) -> None:
        """Writes to a deleted or replaced file would be lost without notice."""
        if self._closed:
            raise Unavailable("the database is closed, for the server is stopping: start it again")
        if self._identity not in (None, _file_identity(self._path)):
            raise Unavailable(
                f"{self._path} was moved, deleted or replaced while it was in use: restart the server"
            )
        if self._log_identity not in (None, _file_identity(self._log_path)):
            self._rescue_log()
            raise Unavailable(
                f"{self._log_path.name}, which holds the newest writes, was deleted or replaced while it was "
                "in use: restart the server, and leave the files beside the database alone"
            )

        if self._shared_identity not in (None, _file_identity(self._shared_path)):
            # Its locks are what keeps two processes from writing to the log at once.
            raise Unavailable(
                f"{self._shared_path.name}, by which processes take turns, was deleted or replaced: "
                "restart the server, and leave the files beside the database alone"
            )

    def _note_log(self) -> None:
        """Remember which write-ahead log is in use; it and its index stay as long as a connection is open."""
        if self._log_identity is None:
            self._log_identity = _file_identity(self._log_path)
        if self._shared_identity is None:
            self._shared_identity = _file_identity(self._shared_path)

    def _rescue_log(self) -> None:
        """Move the newest writes from a deleted log, which is still open here, into the database file."""
        if self._writer is None or self._log_path.exists():
            return  # another log is in its place: mixing the two would damage the file
        with suppress(apsw.Error):
            self._writer.wal_checkpoint("main", apsw.SQLITE_CHECKPOINT_PASSIVE)

    def _give_back(self, connection: apsw.Connection) -> None:
        """Keep the connection for the next reader, but only if its snapshot has ended."""
        try:
            if connection.in_transaction:
                connection.execute("ROLLBACK")
        except apsw.Error:
            connection.close(True)
            # It may have been the last connection, whose closing deletes these files.
            self._log_identity = self._shared_identity = None
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
            self._writer.set_wal_hook(self._checkpoints)
        return self._writer

    def _connect_again(self) -> apsw.Connection:
        """A further connection to the file that is in use."""
        self._refuse_other_file()
        return self._connect()

    def _set_durability(self, connection: apsw.Connection, synchronous: Synchronous) -> None:
        if synchronous != self._writer_synchronous:
            connection.execute(f"PRAGMA synchronous = {synchronous}")
            self._writer_synchronous = synchronous

    def _connect(self) -> apsw.Connection:
        _create_private(self._path)
        # Beyond the limit a connection reuses its pages: without one, many readers of a large database took
        # over 600 MB.
        apsw.soft_heap_limit(CACHE_BYTES)
        connection = apsw.Connection(str(self._path), statementcachesize=500)
        self._identity = self._identity or _file_identity(self._path)
        connection.set_busy_timeout(BUSY_TIMEOUT_MS)
        # Otherwise a statement is planned anew for other values than before, as their frequencies may call
        # for another plan. None are gathered here, and planning takes longer than most statements.
        connection.config(apsw.SQLITE_DBCONFIG_ENABLE_QPSG, 1)
        # Checked first: the pragmas below would change the file.
        self._refuse_foreign_file(connection)
        for pragma in pragmas(self._synchronous):
            connection.execute(pragma)
        connection.create_scalar_function("lowered", lowered, 1, deterministic=True)
        connection.create_scalar_function("digits", digits, 1, deterministic=True)
        return connection


@contextmanager
def _without_views(raw: apsw.Connection) -> Iterator[None]:
    """Views and triggers, which are never ours, would keep a column that they name from being changed."""
    others = raw.execute(_SQL["views_and_triggers"]).fetchall()
    for kind, name, _ in reversed(others):
        raw.execute(_SQL["drop_view"].format(kind=kind, name=str(name).replace('"', '""')))
    yield
    for _, _, sql in others:
        raw.execute(str(sql))


def _file_identity(path: Path) -> tuple[int, int] | None:
    """Device and inode; changes when the file is replaced."""
    try:
        found = os.stat(path)
    except FileNotFoundError:
        return None
    return found.st_dev, found.st_ino


def _create_private(path: Path) -> None:
    """Create the file readable by its owner alone, from the first byte."""
    if path.exists():
        return
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        os.close(os.open(path, os.O_CREAT | os.O_RDWR, 0o600))
    except OSError as error:
        raise Unavailable(
            f"cannot create the database {path}: {error.strerror}. Set DATABASE_URL."
        ) from error
