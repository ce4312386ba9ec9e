"""How servers on one PostgreSQL take notice of each other: locks by number, and a bell."""

import time
from contextlib import suppress
from typing import Final

import psycopg

from mcp_memory.storage.postgres.pool import Raw, connect

# The first of the two numbers of an advisory lock, chosen so as not to meet those of other programs.
SPACE_LOCK: Final = 0x6D656D31
MIGRATION_LOCK: Final = 0x6D656D32
LEADER_LOCK: Final = 0x6D656D33
INDEX_LOCK: Final = 0x6D656D34
CHANNEL: Final = "mcp_memory_journal"


class PostgresChangeSignal:
    """Rung after each commit that may have written to the journal."""

    def __init__(self, url: str) -> None:
        self._url = url
        self._raw: Raw | None = None

    def wait(self, timeout: float) -> bool:
        if self._raw is not None:
            try:
                return any(True for _ in self._raw.notifies(timeout=timeout, stop_after=1))
            except psycopg.Error:
                self.close()
        return self._listens() or self._paused(timeout)

    def _listens(self) -> bool:
        """Also means that something may have been written: before it listened."""
        try:
            self._raw = connect(self._url)
            self._raw.execute(f"LISTEN {CHANNEL}")
        except psycopg.Error:  # it is gone, or a replica, which takes no listeners
            self.close()
            return False
        return True

    def _paused(self, seconds: float) -> bool:
        time.sleep(seconds)
        return False

    def close(self) -> None:
        if self._raw is not None:
            self._raw.close()
            self._raw = None


class PostgresLeaderElection:
    """Holds a lock for as long as its connection lives: the server frees it when this process dies."""

    def __init__(self, url: str) -> None:
        self._url = url
        self._raw: Raw | None = None
        self._leads = False

    def leads(self) -> bool:
        # A connection that was lost is noticed only when it is used, and then replaced.
        return self._asked() or (self._raw is None and self._asked())

    def _asked(self) -> bool:
        try:
            if self._raw is None:
                self._raw = connect(self._url)
            # Asked even by the leader: the answer shows that its connection, and so its lock, is there.
            [row] = self._raw.execute(
                "SELECT true AS leads"
                if self._leads
                else f"SELECT pg_try_advisory_lock({LEADER_LOCK}, 0) AS leads"
            ).fetchall()
        except psycopg.Error:
            self.close()
            return False
        self._leads = bool(row["leads"])
        return self._leads

    def close(self) -> None:
        if self._raw is not None:
            # Given back by word: the server would find out that the connection is gone only later.
            with suppress(psycopg.Error):
                self._raw.execute("SELECT pg_advisory_unlock_all()")
            self._raw.close()
            self._raw = None
        self._leads = False
