"""The JSONL file of Anthropic's memory server, shared with it through its lock file."""

import json
import os
import random
import secrets
import socket
import stat
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from datetime import datetime
from pathlib import Path

from mcp_memory.errors import Unavailable
from mcp_memory.text.graph_lines import GraphLines

PATIENCE = 60.0
"""Seconds to wait for the lock."""
LOCK_STALE = 30.0
"""Lease in seconds: an older lock belongs to a process that died."""
LOCK_RETRY = (0.010, 0.020)
"""Backoff between two attempts, in seconds: shortest and longest."""

_Stamp = tuple[int, int, int]


class MemoryFile:
    """The contents of the file, and the lock that guards changes.

    `<file>.lock` is created by the writer, as Anthropic's server does it, so that both
    wait for each other.
    """

    def __init__(self, path: Path, clock: Callable[[], datetime], patience: float = PATIENCE) -> None:
        self.path = path
        self.lines = GraphLines()
        """The contents when this process last read or wrote the file."""
        self._clock = clock
        self._patience = patience
        self._seen: _Stamp | None = None
        self._looked = False
        self._turn = threading.RLock()

    def has_changed(self) -> bool:
        """Since this process last read or wrote it."""
        stamp = self._stamp()
        return not self._looked or (stamp is not None and stamp != self._seen)

    def read(self) -> str | None:
        """The present contents; None when there is no file."""
        # The stamp first: a change between the two reads is then noticed next time.
        stamp = self._stamp()
        try:
            text = self.path.read_text("utf-8", "surrogateescape")
        except FileNotFoundError:
            text = None
        except OSError as error:
            raise Unavailable(f"cannot read the memory file {self.path}: {error.strerror}") from error
        self._seen, self._looked = stamp, True
        return text

    def check_writable(self) -> None:
        """Raises `Unavailable` if it is clear beforehand that writing would fail."""
        target = self.path.resolve()
        folder = target.parent
        while not folder.exists() and folder != folder.parent:
            folder = folder.parent
        if target.is_dir() or not os.access(target if target.exists() else folder, os.W_OK):
            raise Unavailable(f"cannot write the memory file {target}: it is read-only, or a folder")
        if not os.access(folder, os.W_OK):
            raise Unavailable(f"cannot write the memory file {target}: its folder is read-only")

    @contextmanager
    def replacement(self) -> Iterator[Callable[[str], None]]:
        """Yields a writer; its text replaces the file when the block succeeds."""
        # A symbolic link stays: its target is replaced.
        target = self.path.resolve()
        draft = target.with_name(f"{target.name}.{secrets.token_hex(16)}.tmp")
        try:
            yield lambda text: self._draft(draft, target, text)
            if draft.exists():
                self._publish(draft, target)
        finally:
            with suppress(OSError):
                draft.unlink()

    @contextmanager
    def turn(self, *, needed: bool = True) -> Iterator[None]:
        """Hold the lock. If `needed`, failing to lock is an error."""
        lock = self.path.resolve()
        lock = lock.with_name(lock.name + ".lock")
        with self._turn:
            try:
                token = self._take(lock)
            except OSError as error:
                if needed:
                    raise Unavailable(f"cannot lock the memory file with {lock}: {error.strerror}") from error
                token = None
            try:
                yield
            finally:
                if token and _holder(lock).get("token") == token:
                    lock.unlink(missing_ok=True)

    def _draft(self, draft: Path, target: Path, text: str) -> None:
        try:
            mode = stat.S_IMODE(target.stat().st_mode) if target.exists() else 0o600
            if target.exists() and not os.access(target, os.W_OK):
                raise PermissionError(0, "it is read-only")
            with os.fdopen(os.open(draft, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600), "wb") as file:
                file.write(text.encode("utf-8", "surrogateescape"))
                file.flush()
                os.fsync(file.fileno())
            draft.chmod(mode)
        except OSError as error:
            raise Unavailable(f"cannot write the memory file {target}: {error.strerror}") from error

    def _publish(self, draft: Path, target: Path) -> None:
        try:
            draft.replace(target)
        except OSError as error:
            raise Unavailable(f"cannot replace the memory file {target}: {error.strerror}") from error
        self._seen, self._looked = self._stamp(), True

    def _stamp(self) -> _Stamp | None:
        try:
            found = self.path.stat()
        except OSError:
            return None
        return found.st_ino, found.st_mtime_ns, found.st_size

    def _take(self, lock: Path) -> str:
        token = secrets.token_hex(16)
        holder = json.dumps({"pid": os.getpid(), "hostname": socket.gethostname(), "token": token})
        deadline = time.monotonic() + self._patience
        lock.parent.mkdir(parents=True, exist_ok=True)
        while not _make(lock, holder):
            if time.monotonic() > deadline:
                raise Unavailable(
                    f"Timed out after {self._patience:.0f} s waiting for the memory file lock {lock}. "
                    "If no other server is using the file, remove the lock."
                )
            if self._is_stale(lock):
                self._break(lock)
            time.sleep(random.uniform(*LOCK_RETRY))
        return token

    def _is_stale(self, lock: Path) -> bool:
        try:
            age = self._clock().timestamp() - lock.stat().st_mtime
        except OSError:
            return False
        return age > LOCK_STALE or _is_dead(_holder(lock))

    def _break(self, lock: Path) -> None:
        """Remove an abandoned lock. One process at a time: a second would remove the first one's new lock."""
        guard = lock.with_name(lock.name + ".break")
        if not _make(guard, ""):
            return
        try:
            if self._is_stale(lock):
                lock.unlink(missing_ok=True)
        finally:
            guard.unlink(missing_ok=True)


def _make(path: Path, text: str) -> bool:
    """Create the file. Returns whether it is new."""
    try:
        handle = os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600)
    except FileExistsError:
        return False
    with os.fdopen(handle, "w") as file:
        file.write(text)
    return True


def _holder(lock: Path) -> dict[str, object]:
    with suppress(OSError, ValueError):
        found = json.loads(lock.read_text("utf-8"))
        return found if isinstance(found, dict) else {}
    return {}


def _is_dead(holder: dict[str, object]) -> bool:
    """Whether the holder was a process of this machine that has ended."""
    pid = holder.get("pid")
    if holder.get("hostname") != socket.gethostname() or not isinstance(pid, int) or os.name == "nt":
        return False
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return True
    except OSError:
        return False
    return False
