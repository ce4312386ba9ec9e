"""Change signal, leader election and advisory locks among servers on one PostgreSQL."""

import time
from collections.abc import Mapping
from contextlib import suppress
from typing import Final

import psycopg

from mcp_memory.storage.database import Duty
from mcp_memory.storage.postgres.pool import connect
from mcp_memory.storage.postgres.statements import Raw, run

# First key of our advisory locks, chosen not to collide with other programs.
SPACE_LOCK: Final = 0x6D656D31
MIGRATION_LOCK: Final = 0x6D656D32
LEADER_LOCK: Final = 0x6D656D33
INDEX_LOCK: Final = 0x6D656D34
IMPORT_LOCK: Final = 0x6D656D35
CHANNEL: Final = "mcp_memory_journal"

_DUTY_LOCKS: Mapping[Duty, int] = {"maintenance": LEADER_LOCK, "import": IMPORT_LOCK}


class PostgresChangeSignal:
    """LISTEN for the NOTIFY that follows each durable commit."""

    def __init__(self, url: str) -> None:
        self._url = url
        self._raw: Raw | None = None

    def wait(self, timeout: float) -> bool:
        if self._raw is not None:
            try:
                return any(True for _ in self._raw.notifies(timeout=timeout, stop_after=1))
            except psycopg.Error:
                self.close()
        return self._listen() or self._pause(timeout)

    def _listen(self) -> bool:
        """Start listening. True also means: there may have been changes before."""
        try:
            self._raw = connect(self._url)
            self._raw.execute(f"LISTEN {CHANNEL}")
        except psycopg.Error:  # unreachable, or a replica, which allows no LISTEN
            self.close()
            return False
        return True

    def _pause(self, seconds: float) -> bool:
        time.sleep(seconds)
        return False

    def close(self) -> None:
        if self._raw is not None:
            self._raw.close()
            self._raw = None


class PostgresLeaderElection:
    """Leader by advisory lock, held as long as the connection lives."""

    def __init__(self, url: str, duty: Duty = "maintenance") -> None:
        self._url = url
        self._lock = _DUTY_LOCKS[duty]
        self._raw: Raw | None = None
        self._leads = False

    def leads(self) -> bool:
        # A lost connection is noticed only when it is used, and then replaced.
        return self._try() or (self._raw is None and self._try())

    def _try(self) -> bool:
        try:
            if self._raw is None:
                self._raw = connect(self._url)
            # The leader asks too: the answer shows that its connection, and so its lock, is alive.
            query = "still_leads" if self._leads else "try_lead"
            [row] = run(self._raw, query, {"lock": self._lock})
        except psycopg.Error:
            self.close()
            return False
        self._leads = bool(row["leads"])
        return self._leads

    def close(self) -> None:
        if self._raw is not None:
            # Released explicitly: the server would notice the closed connection only later.
            with suppress(psycopg.Error):
                run(self._raw, "release_locks")
            self._raw.close()
            self._raw = None
        self._leads = False
