"""PostgreSQL: one database that many servers use at once."""

from mcp_memory.storage.postgres.database import PostgresDatabase

__all__ = ["PostgresDatabase"]
