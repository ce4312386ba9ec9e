"""Opens the source of an import: a path or lines, in a given or detected format."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import datetime
from itertools import chain
from pathlib import Path
from typing import BinaryIO

from mcp_memory.engine.archiving import is_archive
from mcp_memory.engine.importers import FOREIGN, archive_lines, detect, named
from mcp_memory.engine.importers.graph_database import DEFAULT_PLACE
from mcp_memory.errors import Forbidden, Invalid
from mcp_memory.model import Caller

Source = str | Path | Iterable[bytes]
"""A file or folder by its path, or the lines of a file."""

LONGEST_LINE = 2**24

OURS = {"full": "a full export", "anthropic": "the JSONL of Anthropic's memory server"}
FORMATS = (*OURS, *(importer.name for importer in FOREIGN))


@dataclass(frozen=True, slots=True)
class OpenedImport:
    format: str
    title: str
    lines: Iterator[bytes]

    @property
    def is_archive(self) -> bool:
        """Foreign formats are converted to the lines of an archive."""
        return self.format != "anthropic"


def default_source() -> Path:
    """The file of another memory server at its default location. Raises `Invalid` if there is none."""
    place = DEFAULT_PLACE.expanduser()
    if not place.is_file():
        raise Invalid(
            f"say which file or folder to import: the MCP Memory v2 server has left none at {DEFAULT_PLACE}"
        )
    return place


def open_import(source: Source, format: str | None, now: datetime) -> OpenedImport:
    if format is not None and format not in FORMATS:
        raise Invalid(f"there is no format {format!r}: choose from {', '.join(FORMATS)}")
    importer = named(format)
    if isinstance(source, str | Path):
        path = _expanded(source)
        importer = detect(path) if format is None else importer
        if importer is not None:
            return OpenedImport(importer.name, importer.title, archive_lines(importer, path, now))
    elif importer is not None:
        raise Invalid(f"{importer.title} can only be read from a file or folder: give its path")
    lines = lines_of(source)
    first = next(lines, b"")
    found = format or ("full" if is_archive(first) else "anthropic")
    return OpenedImport(found, OURS[found], chain([first], lines))


def allowed(source: Source, caller: Caller, folder: Path | None) -> Source:
    """The source, if the caller may import it. Reveals nothing about other files."""
    if not caller.remote or not isinstance(source, str | Path):
        return source
    path = _resolved(source)
    if folder is None or not path.is_relative_to(folder.expanduser().resolve()):
        raise Forbidden(
            "over HTTP only files in the folder IMPORT_DIR can be imported by path: send the file itself to "
            "/api/import, or import it on the server's machine"
        )
    return path


def lines_of(source: Source) -> Iterator[bytes]:
    """The lines of a file, one at a time."""
    if not isinstance(source, str | Path):
        return iter(source)
    file = _expanded(source)
    try:
        if file.is_dir():
            raise Invalid(
                f"{file} is a folder that holds nothing that can be imported, such as Markdown notes"
            )
        if file.exists() and not file.is_file():
            raise Invalid(f"{file} is a device or pipe that may never end: give the path of a file")
        opened = file.open("rb")
    except FileNotFoundError:
        raise Invalid(f"there is no file {file}") from None
    except OSError as error:
        raise Invalid(f"{source} cannot be read: {error.strerror}") from error
    except ValueError as error:
        raise Invalid(f"{str(source)!r} is not the path of a file: {error}") from error
    return _each(opened)


def _expanded(source: str | Path) -> Path:
    try:
        return Path(source).expanduser()
    except RuntimeError as error:  # `~name` of a user who does not exist
        raise Invalid(f"{str(source)!r} is not the path of a file: {error}") from error


def _resolved(source: str | Path) -> Path:
    try:
        return _expanded(source).resolve()
    except (OSError, RuntimeError, ValueError) as error:  # a circle of links, or a NUL
        raise Invalid(f"{str(source)!r} is not the path of a file") from error


def _each(opened: BinaryIO) -> Iterator[bytes]:
    with opened:
        while line := _line(opened):
            if len(line) == LONGEST_LINE:
                raise Invalid(f"a line has more than {LONGEST_LINE:,} bytes: this is no file of memories")
            yield line


def _line(opened: BinaryIO) -> bytes:
    try:
        return opened.readline(LONGEST_LINE)
    except OSError as error:
        raise Invalid(f"{opened.name} cannot be read: {error.strerror}") from error
