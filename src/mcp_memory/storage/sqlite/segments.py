"""Merges the segments of full-text indexes, in which the words of removed rows stay until then."""

from collections.abc import Callable
from contextlib import AbstractContextManager

from mcp_memory.storage import queries
from mcp_memory.storage.sqlite.connection import SqliteConnection

AT_ONCE = 250
"""Pages of an index that are merged in one transaction: some 15 ms, for which other writers wait."""

MERGES = 2
"""A merge that was under way may have copied what was removed since; the second one leaves it out."""

_SQL = queries.load("sqlite")

Write = Callable[[], AbstractContextManager[SqliteConnection]]


def merge(write: Write) -> None:
    """Merge all segments that the indexes have now, in short transactions."""
    with write() as connection:
        indexes = [str(name) for (name,) in connection.raw.execute(_SQL["full_text_tables"])]
    for index in indexes * MERGES:
        _merge_all(write, index)


def _merge_all(write: Write, index: str) -> None:
    """Merge all segments of one index.

    Segments that others add may keep FTS5 from going on with a merge, and it does not say so. So the merge
    begins again after them, each time with larger steps: in the end one step is enough.
    """
    pages, known = AT_ONCE, b""
    while True:
        with write() as connection:
            if not connection.run(_SQL["word_index_exists"], {"index": index}):
                return  # the space has become small meanwhile
            begins = not known
            if known and _segments(connection, index) != known:
                pages, begins = 2 * pages, True
            before = connection.raw.total_changes()
            wanted = -pages if begins else pages
            connection.raw.execute(_SQL["merge_segments"].format(index=index), {"pages": wanted})
            # The statement itself counts as one change.
            if connection.raw.total_changes() - before <= 1:
                return
            known = _segments(connection, index)


def _segments(connection: SqliteConnection, index: str) -> bytes:
    """FTS5's record of the segments, which each write to the index changes."""
    [[record]] = connection.raw.execute(_SQL["segments"].format(index=index))
    return bytes(record)
