"""Persistence: one store, written once, on either of two databases."""

from mcp_memory.storage.database import Database
from mcp_memory.storage.store import Store, Transaction

__all__ = ["Database", "Store", "Transaction"]
