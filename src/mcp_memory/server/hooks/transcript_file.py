"""Reads a client's transcript from the last position on, with a size limit."""

from __future__ import annotations

import os
import stat

MOST_BYTES = 8_000_000
"""Bytes per read. Of a larger transcript only the end is read: the latest turns matter most."""

ENDING = ".jsonl"


def read_from(path: str, cursor: int) -> tuple[bytes, int]:
    """The bytes from the cursor on, and their position; nothing if the file is not a transcript. A file that
    is shorter than the cursor was rewritten, and is read from its start.
    """
    if not path.endswith(ENDING) or not os.path.isabs(path):
        return b"", cursor
    try:
        # Opening a pipe would otherwise wait for a writer.
        with open(os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0)), "rb") as file:
            found = os.fstat(file.fileno())
            if not stat.S_ISREG(found.st_mode):
                return b"", cursor
            start = cursor if 0 <= cursor <= found.st_size else 0
            start = max(start, found.st_size - MOST_BYTES)
            file.seek(start)
            return file.read(MOST_BYTES), start
    except (OSError, ValueError):  # also a path with a NUL or half of a surrogate pair
        return b"", cursor
