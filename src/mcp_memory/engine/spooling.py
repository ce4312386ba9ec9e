"""Lines in a temporary file: short ones in memory, long ones on disk."""

from collections.abc import Iterable
from tempfile import SpooledTemporaryFile
from typing import IO

KEPT_IN_MEMORY = 2**20
"""Bytes; what is longer waits on disk."""


def temporary_file() -> IO[bytes]:
    """An empty file that closing removes."""
    return SpooledTemporaryFile(max_size=KEPT_IN_MEMORY)


def spool(lines: Iterable[bytes], file: IO[bytes]) -> None:
    """Write the lines into the file, to be read from its beginning."""
    # Not `writelines`, which looks at the size only after the last line: all of them stay in memory.
    for line in lines:
        file.write(line if line.endswith(b"\n") else line + b"\n")
    file.seek(0)
