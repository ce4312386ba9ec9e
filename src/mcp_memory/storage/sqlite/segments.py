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


def merge(write: Callable[[], AbstractContextManager[SqliteConnection]]) -> None:
    """Merge all segments that the indexes have now, in short transactions."""
    with write() as connection:
        indexes = [str(name) for (name,) in connection.raw.execute(_SQL["full_text_tables"])]
    for index in indexes * MERGES:
        pages = -AT_ONCE
        while _merge_some(write, index, pages):
            pages = AT_ONCE


def _merge_some(
    write: Callable[[], AbstractContextManager[SqliteConnection]], index: str, pages: int
) -> bool:
    """Whether there was something to merge."""
    with write() as connection:
        if not connection.run(_SQL["word_index_exists"], {"index": index}):
            return False  # the space has become small meanwhile
        before = connection.raw.total_changes()
        connection.raw.execute(_SQL["merge_segments"].format(index=index), {"pages": pages})
        # The statement itself counts as one change.
        return connection.raw.total_changes() - before > 1
