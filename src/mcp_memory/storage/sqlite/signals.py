"""Change signal and leader election among processes on one SQLite file."""

import time

import apsw

from mcp_memory.storage.file_lock import FileLock

POLLING_SECONDS = 0.1


class SqliteChangeSignal:
    """Polls `data_version`, which SQLite increments when another connection commits."""

    def __init__(self, connection: apsw.Connection) -> None:
        self._connection = connection
        self._seen: int | None = None

    def wait(self, timeout: float) -> bool:
        deadline = time.monotonic() + timeout
        while (version := self._version()) == self._seen:
            left = deadline - time.monotonic()
            if left <= 0:
                return False
            time.sleep(min(left, POLLING_SECONDS))
        self._seen = version
        return True

    def _version(self) -> int:
        [[version]] = self._connection.execute("PRAGMA data_version")
        return int(version)


class SqliteLeaderElection:
    """Leader by lock file; the system releases it when the process dies."""

    def __init__(self, lock: FileLock) -> None:
        self._lock = lock
        self._leads = False

    def leads(self) -> bool:
        self._leads = self._leads or self._lock.take()
        return self._leads
