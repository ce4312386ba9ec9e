"""Backups: consistent copies of the whole database, made while it is in use, verified and rotated.

A backup is an SQLite file, whichever database it was made of, so that it can be opened, copied and
searched by itself. It is written under a temporary name, verified, and only then given its own.
"""

from __future__ import annotations

import logging
import re
import shutil
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from io import BytesIO
from pathlib import Path
from typing import IO, Any

from mcp_memory.engine.context import Topic
from mcp_memory.engine.schedule import is_due
from mcp_memory.errors import Conflict, Invalid, NotFound, Unavailable
from mcp_memory.storage.backup_file import refuse_other_files, refuse_triggers, verify_backup
from mcp_memory.tuning import BackupPlan

_log = logging.getLogger(__name__)

_NAME = re.compile(r"memory-(\d{8}T\d{6})Z\.db(?:\.age)?")
_AGE = b"age-encryption.org/v1"
_LAST_BACKUP = "*backup"

UNFINISHED_FOR = timedelta(hours=1)
"""Age after which an unfinished file is presumed abandoned."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Backup:
    path: Path
    made_at: datetime
    size: int


class Backups(Topic):
    def make(self, plan: BackupPlan) -> Backup:
        """Make a backup now, verify it, and remove those beyond the plan."""
        now = self._context.clock()
        path = plan.folder / f"memory-{now.astimezone(UTC):%Y%m%dT%H%M%SZ}.db"
        _make_folder(plan.folder)
        if path.exists() or path.with_name(path.name + ".age").exists():
            raise Conflict(f"there is a backup of this second already: {path}")
        _remove_unfinished(plan.folder, now)
        unfinished = path.with_name(f".{path.name}.unfinished")
        try:
            self._context.store.database.back_up(unfinished)
            verify_backup(unfinished)
            if plan.passphrase:
                path = path.with_name(path.name + ".age")
                encrypted = unfinished.with_name(unfinished.name + ".age")
                encrypt_file(unfinished, encrypted, plan.passphrase)
                encrypted.replace(path)
            else:
                unfinished.replace(path)
        except OSError as error:
            raise Unavailable(f"the backup {path} cannot be written: {error.strerror or error}") from error
        finally:
            # Including the files that SQLite keeps beside its database.
            for left in plan.folder.glob(f"{unfinished.name}*"):
                left.unlink(missing_ok=True)
        made = _backup(path)
        assert made is not None
        for old in _beyond(plan, backups_in(plan.folder)):
            old.path.unlink(missing_ok=True)
        with self._context.noting() as tx:
            tx.settings.put(_LAST_BACKUP, now.isoformat())
        return made

    def replace_all(self, plan: BackupPlan) -> list[Backup]:
        """Make a new backup, then remove all earlier ones, which still hold purged data.

        Returns the removed ones. Encrypted ones are removed too, which needs no passphrase.
        """
        old = backups_in(plan.folder)
        same_second = f"memory-{self._context.clock().astimezone(UTC):%Y%m%dT%H%M%SZ}.db"
        for backup in old:
            if backup.path.name.startswith(same_second):
                backup.path.unlink(missing_ok=True)
        made = self.make(plan)
        for backup in old:
            if backup.path != made.path:
                backup.path.unlink(missing_ok=True)
        return old

    def make_if_due(self, plan: BackupPlan) -> Backup | None:
        """Make a backup if the plan says that one is due and the database is not empty."""
        now = self._context.clock()
        with self._context.reading() as tx:
            last = tx.settings.get(_LAST_BACKUP)
        if (
            not plan.every
            or not self._context.store.spaces()
            or not is_due(last and datetime.fromisoformat(last), now, plan.every)
        ):
            return None
        return self.make(plan)


def backups_in(folder: Path) -> list[Backup]:
    """The newest first."""
    found = [backup for path in folder.glob("memory-*") if (backup := _backup(path)) is not None]
    return sorted(found, key=lambda backup: backup.made_at, reverse=True)


def opened_backup(path: Path, folder: Path, passphrase: str = "") -> Path:
    """A verified, plain copy of a backup inside `folder`, ready to be put in a database's place."""
    if not path.is_file():
        raise NotFound(f"there is no backup {path}")
    plain = folder / f".{path.name}.restoring"
    try:
        plain.unlink(missing_ok=True)
        plain.touch(0o600, exist_ok=False)  # before anything is in it
        if path.suffix == ".age":
            decrypt_file(path, plain, passphrase)
        else:
            refuse_other_files(path)
            shutil.copyfile(path, plain)
        verify_backup(plain, shown=path)
        refuse_triggers(plain, shown=path)
    except BaseException:
        plain.unlink(missing_ok=True)
        raise
    return plain


def encrypt_file(source: Path, target: Path, passphrase: str) -> None:
    """Encrypt a file in the age format."""
    target.touch(0o600)
    target.write_bytes(_age().passphrase.encrypt(source.read_bytes(), passphrase))


def is_encrypted(path: Path) -> bool:
    """Whether a file is in the age format, whatever its name."""
    if not path.is_file():
        return False
    with path.open("rb") as file:
        return file.read(len(_AGE)) == _AGE


@contextmanager
def encrypting(out: IO[bytes], passphrase: str) -> Iterator[IO[bytes]]:
    """A file to write to; when it is complete, `out` receives it encrypted.

    The plain text is kept in memory, not on a disk.
    """
    plain = BytesIO()
    age = _age()
    yield plain
    out.write(age.passphrase.encrypt(plain.getvalue(), passphrase))


def decrypt_file(source: Path, target: Path, passphrase: str) -> None:
    target.touch(0o600)
    target.write_bytes(decrypted(source.read_bytes(), passphrase))


def decrypted(data: bytes, passphrase: str) -> bytes:
    age = _age()
    if not passphrase:
        raise Invalid("the file is encrypted: set MCP_MEMORY_PASSPHRASE, or give --passphrase-file")
    try:
        plain: bytes = age.passphrase.decrypt(data, passphrase)
    except age.DecryptError as error:
        raise Invalid(f"the file cannot be decrypted ({error}): is the passphrase right?") from error
    return plain


def _age() -> Any:
    try:
        import pyrage
    except ImportError as error:
        raise Unavailable(
            "encryption needs a package that is not installed: run pip install 'mcp-one-memory[encryption]'"
        ) from error
    return pyrage


def _make_folder(folder: Path) -> None:
    try:
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    except OSError as error:
        raise Unavailable(f"the folder {folder} for backups cannot be made: {error.strerror}") from error


def _remove_unfinished(folder: Path, now: datetime) -> None:
    """Temporary files of killed processes. One younger than an hour may still be in use."""
    for path in folder.glob(".memory-*.unfinished*"):
        begun_at = _moment(_NAME.match(path.name.removeprefix(".")))
        if begun_at is not None and now - begun_at > UNFINISHED_FOR and not path.is_dir():
            path.unlink(missing_ok=True)


def _moment(match: re.Match[str] | None) -> datetime | None:
    """The time in a file's name; None if it is no name of ours."""
    if match is None:
        return None
    try:
        return datetime.strptime(match[1], "%Y%m%dT%H%M%S").replace(tzinfo=UTC)
    except ValueError:  # the 99th of a month
        return None


def _backup(path: Path) -> Backup | None:
    made_at = _moment(_NAME.fullmatch(path.name))
    if made_at is None or path.is_symlink() or not path.is_file():
        return None
    return Backup(path=path, made_at=made_at, size=path.stat().st_size)


def _beyond(plan: BackupPlan, newest_first: Sequence[Backup]) -> list[Backup]:
    """Backups that the retention plan drops. The newest is always kept."""
    total, beyond = 0, []
    for place, backup in enumerate(newest_first):
        total += backup.size
        if place and (place >= plan.keep or total > plan.limit):
            beyond.append(backup)
    return beyond
