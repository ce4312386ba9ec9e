"""Lines in a temporary file: short ones in memory, long ones on disk."""

from collections.abc import Iterable
from tempfile import SpooledTemporaryFile
from typing import IO

KEPT_IN_MEMORY = 2**20
"""Bytes; what is longer waits on disk."""


def spooled(lines: Iterable[bytes]) -> IO[bytes]:
    """A file that holds the lines, to be read from its beginning; closing removes it."""
    file: IO[bytes] = SpooledTemporaryFile(max_size=KEPT_IN_MEMORY)  # noqa: SIM115
    try:
        # Not `writelines`, which looks at the size only after the last line: all of them stay in memory.
        for line in lines:
            file.write(line if line.endswith(b"\n") else line + b"\n")
        file.seek(0)
    except BaseException:
        file.close()
        raise
    return file
