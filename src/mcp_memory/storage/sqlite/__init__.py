"""SQLite: one file, one writer, a few readers, and any number of other processes."""

from mcp_memory.storage.sqlite.database import SqliteDatabase

__all__ = ["SqliteDatabase"]
