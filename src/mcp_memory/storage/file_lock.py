"""An advisory lock between processes, on a file."""

import os
import random
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path

if sys.platform == "win32":
    import msvcrt

    def _try_lock(handle: int) -> bool:
        try:
            msvcrt.locking(handle, msvcrt.LK_NBLCK, 1)
        except OSError:
            return False
        return True

    def _unlock(handle: int) -> None:
        os.lseek(handle, 0, os.SEEK_SET)
        msvcrt.locking(handle, msvcrt.LK_UNLCK, 1)

else:
    import fcntl

    def _try_lock(handle: int) -> bool:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        except OSError:
            pass  # a file system without locks: there is nothing to wait for
        return True

    def _unlock(handle: int) -> None:
        with suppress(OSError):
            fcntl.flock(handle, fcntl.LOCK_UN)


_SHORTEST_WAIT = 0.0003
_LONGEST_WAIT = 0.005


class TurnFileLock:
    """A lock that processes get by turns.

    A waiting process polls, while one that writes piece after piece takes the lock again at once: with a
    single lock the other could wait for a second. So a process first takes a second lock, the turn, and keeps
    it while waiting; the process that just had the lock queues behind it.
    """

    def __init__(self, lock: Path, turn: Path) -> None:
        self._lock = FileLock(lock)
        self._turn = FileLock(turn)

    @contextmanager
    def held(self, timeout: float) -> Iterator[None]:
        """`timeout` in seconds."""
        deadline = time.monotonic() + timeout
        with ExitStack() as holding:
            with self._turn.held(timeout):
                holding.enter_context(self._lock.held(max(0.0, deadline - time.monotonic())))
            yield

    def is_awaited(self) -> bool:
        """Whether another process waits for it. Asked by the thread that holds it."""
        return self._turn.is_taken()

    def close(self) -> None:
        self._lock.close()
        self._turn.close()


class FileLock:
    """Held by one process at a time; the system releases it when its holder dies.

    It is for fairness, not for safety: a caller that cannot get it in time, or cannot create
    the file at all, proceeds without it.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._handle: int | None = None

    @contextmanager
    def held(self, timeout: float) -> Iterator[None]:
        """`timeout` in seconds."""
        taken = self._take(timeout)
        try:
            yield
        finally:
            if taken and self._handle is not None:
                _unlock(self._handle)

    def take(self, timeout: float = 0) -> bool:
        """Try to acquire the lock within a time limit; held until `close`. Returns whether it is held."""
        return self._take(timeout)

    def is_taken(self) -> bool:
        """Whether another process holds it; as far as is known, if this one has never had it."""
        if self._handle is None:
            return False
        if not _try_lock(self._handle):
            return True
        _unlock(self._handle)
        return False

    def close(self) -> None:
        if self._handle is not None:
            os.close(self._handle)
            self._handle = None

    def _take(self, timeout: float) -> bool:
        if self._handle is None:
            try:
                self._handle = os.open(self._path, os.O_CREAT | os.O_RDWR, 0o600)
            except OSError:
                return False
        deadline = time.monotonic() + timeout
        wait = _SHORTEST_WAIT
        while not _try_lock(self._handle):
            if time.monotonic() > deadline:
                return False
            time.sleep(wait * (0.5 + random.random()))
            wait = min(wait * 1.5, _LONGEST_WAIT)
        return True
