"""Every act of persistence, written once for both databases."""

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime

from mcp_memory.model import Caller
from mcp_memory.storage import queries
from mcp_memory.storage.access import Access
from mcp_memory.storage.analytics import Analytics
from mcp_memory.storage.archive import Archive
from mcp_memory.storage.associations import Associations
from mcp_memory.storage.consolidation import Consolidation
from mcp_memory.storage.curation import Curation
from mcp_memory.storage.database import Connection, Database
from mcp_memory.storage.derived_data import DerivedData
from mcp_memory.storage.entities import Entities
from mcp_memory.storage.graph_walk import GraphWalk
from mcp_memory.storage.indexes import Indexes
from mcp_memory.storage.journal import Journal
from mcp_memory.storage.memories import Memories
from mcp_memory.storage.purging import Purging
from mcp_memory.storage.reflections import Reflections
from mcp_memory.storage.relations import Relations
from mcp_memory.storage.rows import Rows
from mcp_memory.storage.scope import Scope
from mcp_memory.storage.search_log import SearchLog
from mcp_memory.storage.settings import Settings
from mcp_memory.storage.usage import Usage

NO_SPACE = 0
"""The number of a space that nobody has written to: nothing is in it."""


class Transaction:
    """All that can be done in one go, in one space. Nothing is kept unless all of it is."""

    def __init__(
        self,
        connection: Connection,
        database: Database,
        space_id: int,
        at: datetime,
        act: str = "",
        client: str = "",
    ) -> None:
        rows = Rows(connection, space_id, self._see)
        scope = Scope(connection, database, space_id, rows, at)
        self.scope = scope
        self.at = at
        self.act = act
        self.memories = Memories(scope)
        self.entities = Entities(scope)
        self.relations = Relations(scope)
        self.associations = Associations(scope)
        self.reflections = Reflections(scope)
        self.usage = Usage(scope)
        self.curation = Curation(scope)
        self.access = Access(scope)
        self.search_log = SearchLog(scope, client)
        self.indexes = Indexes(scope)
        self.settings = Settings(scope)
        self.archive = Archive(scope)
        self.journal = Journal(scope, act, client)
        self.analytics = Analytics(scope)
        self.walk = GraphWalk(scope)
        self.consolidation = Consolidation(scope, self.memories, self.associations)
        self.purging = Purging(scope, self.memories, self.entities, self.journal)
        self._derived = DerivedData(scope)

    def finish(self) -> None:
        """The last acts before the commit."""
        self._derived.flush()
        self.journal.write()

    def _see(self, table: str, before: dict[str, object] | None, after: dict[str, object] | None) -> None:
        self._derived.see(table, before, after)


class Store:
    """Where memories live. Open it, then `read` or `write`."""

    def __init__(self, database: Database) -> None:
        self.database = database
        self._spaces: dict[str, int] = {}

    def open(self) -> "Store":
        """Bring the database to this program's schema."""
        self.database.migrate(queries.migrations(self.database.name))
        return self

    def close(self) -> None:
        self.database.close()

    @contextmanager
    def read(self, space: str, at: datetime) -> Iterator[Transaction]:
        """Look at one moment of a space. A space that was never written to is empty."""
        with self.database.read() as connection:
            yield Transaction(connection, self.database, self._space_id(connection, space), at)

    @contextmanager
    def write(
        self,
        caller: Caller,
        at: datetime,
        act: str,
        *,
        durable: bool = True,
        patience: float | None = None,
    ) -> Iterator[Transaction]:
        """Change a space; a new one begins to exist with its first change.

        Not `durable`: what is written need not survive a power cut, and costs no wait for the disk.
        `patience`: seconds to wait for other writers, if fewer than usual.
        """
        with self.database.write(space=caller.space, durable=durable, patience=patience) as connection:
            space_id = self._space_id(connection, caller.space)
            if space_id == NO_SPACE:
                connection.change(queries.load()["add_space"], {"name": caller.space, "at": at})
                space_id = int(
                    connection.run(queries.load()["space_by_name"], {"name": caller.space})[0]["seq"]
                )
            transaction = Transaction(connection, self.database, space_id, at, act, caller.client)
            yield transaction
            transaction.finish()

    def spaces(self) -> list[str]:
        with self.database.read() as connection:
            return [row["name"] for row in connection.run(queries.load()["spaces"])]

    def _space_id(self, connection: Connection, space: str) -> int:
        # Only committed spaces are remembered: one made in a transaction that fails never was.
        if space not in self._spaces:
            found = connection.run(queries.load()["space_by_name"], {"name": space})
            if not found:
                return NO_SPACE
            self._spaces[space] = int(found[0]["seq"])
        return self._spaces[space]
