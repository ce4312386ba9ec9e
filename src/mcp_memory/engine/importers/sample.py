"""A file or folder to be imported, read only as far as format detection needs."""

import json
import lzma
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from functools import cached_property
from pathlib import Path
from typing import Any

from mcp_memory.errors import Invalid

HEAD = 65_536
LARGEST = 512 * 1024 * 1024
"""Largest JSON document in bytes: it is held in memory as a whole."""

MOST_VALUES = 10_000_000
"""Values of a JSON document: each takes some hundred bytes of memory, and two characters of the file."""

BOMB = 200
"""Compression from which a large file in an archive is not taken for text; that of exports is about ten."""

HARMLESS = 16 * 1024 * 1024
"""Size in bytes up to which any compression is accepted."""

_DAMAGED = (zipfile.BadZipFile, zlib.error, lzma.LZMAError, EOFError, NotImplementedError, RuntimeError)
"""What `zipfile` raises for archives that are damaged, encrypted, or compressed in ways it does not know."""


class Sample:
    def __init__(self, path: Path) -> None:
        self.path = path
        self.is_folder = path.is_dir()

    @cached_property
    def head(self) -> bytes:
        if self.is_folder:
            return b""
        with _readable(self.path), self.path.open("rb") as file:
            return file.read(HEAD)

    @cached_property
    def changed_at(self) -> datetime:
        return datetime.fromtimestamp(self.path.stat().st_mtime, UTC)

    @cached_property
    def is_zip(self) -> bool:
        return self.head.startswith(b"PK\x03\x04")

    @cached_property
    def first_line(self) -> bytes:
        return self.head.partition(b"\n")[0]

    @cached_property
    def is_lines(self) -> bool:
        """Whether the file is lines of JSON, as we and Anthropic's memory server write them."""
        try:
            value = json.loads(self.first_line)
        except (ValueError, RecursionError):
            return False
        return isinstance(value, dict) and ("record" in value or value.get("type") in ("entity", "relation"))

    def documents(self, *names: str) -> Iterator[Any]:
        """JSON documents with these names in the folder or archive; for a single file, its content."""
        if self.is_folder:
            found = sorted(file for name in names for file in self.path.rglob(name))
            yield from (_parsed(file.read_bytes(), file.name) for file in found if _small(file))
        elif self.is_zip:
            yield from self._zipped(names)
        elif self.head.lstrip()[:1] in (b"[", b"{") and _small(self.path):
            yield self.document

    @cached_property
    def document(self) -> Any:
        """The whole file as JSON; None if it is something else."""
        try:
            content = self.path.read_bytes()
        except OSError:
            return None
        _check_values(content, self.path.name)
        try:
            return json.loads(content)
        except (ValueError, RecursionError):
            return None

    def names(self) -> set[str]:
        """Names of the files in the folder or archive."""
        if self.is_folder:
            return {file.name for file in self.path.rglob("*") if file.is_file()}
        if self.is_zip:
            with _readable(self.path), zipfile.ZipFile(self.path) as archive:
                return {Path(name).name for name in archive.namelist()}
        return {self.path.name}

    def _zipped(self, names: tuple[str, ...]) -> Iterator[Any]:
        with _readable(self.path), zipfile.ZipFile(self.path) as archive:
            for entry in archive.infolist():
                if not any(Path(entry.filename).match(name) for name in names):
                    continue
                _check_entry(entry, self.path.name)
                yield _parsed(archive.read(entry), entry.filename)


def _check_entry(entry: zipfile.ZipInfo, archive: str) -> None:
    if entry.file_size > LARGEST:
        raise Invalid(f"{entry.filename} in {archive} is larger than {LARGEST:,} bytes")
    if entry.file_size > max(HARMLESS, BOMB * entry.compress_size):
        raise Invalid(
            f"{entry.filename} in {archive} is compressed too well to be an export; unpack it first"
        )


def _check_values(content: bytes, name: str) -> None:
    if sum(map(content.count, (b",", b"[", b"{"))) > MOST_VALUES:
        raise Invalid(f"{name} has more than {MOST_VALUES:,} values: split it, and import the parts")


def _small(file: Path) -> bool:
    if file.stat().st_size > LARGEST:
        raise Invalid(f"{file} is larger than {LARGEST:,} bytes, the most that can be read as one document")
    return True


def _parsed(content: bytes, name: str) -> Any:
    _check_values(content, name)
    try:
        return json.loads(content)
    except (ValueError, RecursionError) as error:
        raise Invalid(f"{name} is not JSON: {error}") from error


@contextmanager
def _readable(path: Path) -> Iterator[None]:
    """Turns read errors into messages for the user."""
    try:
        yield
    except OSError as error:
        raise Invalid(f"{path} cannot be read: {error.strerror}") from error
    except _DAMAGED as error:
        raise Invalid(f"{path.name} is a zip file that cannot be read: {error}") from error
