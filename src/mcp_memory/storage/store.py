"""Transactions on a space: every act of persistence, written once for both databases."""

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime
from functools import cached_property

from mcp_memory.model import Caller
from mcp_memory.storage import queries
from mcp_memory.storage.access import Access
from mcp_memory.storage.analytics import Analytics
from mcp_memory.storage.archive import Archive
from mcp_memory.storage.as_of.past_graph import PastEntities, PastRelations, PastWalk
from mcp_memory.storage.as_of.past_indexes import Embed, PastIndexes
from mcp_memory.storage.as_of.past_memories import PastMemories
from mcp_memory.storage.as_of.past_rows import PastRows
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
from mcp_memory.storage.page_sessions import PageSessions
from mcp_memory.storage.purging import Purging
from mcp_memory.storage.reflections import Reflections
from mcp_memory.storage.relations import Relations
from mcp_memory.storage.rows import Rows
from mcp_memory.storage.scope import Scope
from mcp_memory.storage.search_log import SearchLog
from mcp_memory.storage.sessions import Sessions
from mcp_memory.storage.settings import Settings
from mcp_memory.storage.undo import Undo
from mcp_memory.storage.usage import Usage

NOBODY = Caller()
NO_SPACE = 0
"""The number of a space that does not exist yet."""


class Transaction:
    """One atomic unit of work in one space. Its parts are created on first use."""

    def __init__(
        self,
        connection: Connection,
        database: Database,
        space_id: int,
        at: datetime,
        act: str = "",
        caller: Caller = NOBODY,
    ) -> None:
        self.at = at
        self.act = act
        self._client = caller.client
        rows = Rows(connection, space_id)
        self.scope = Scope(connection, database, space_id, rows, at, caller.provenance)

    def finish(self) -> None:
        """Flush derived data and the journal, right before the commit."""
        DerivedData(self.scope).update()
        self.journal.write()

    @cached_property
    def memories(self) -> Memories:
        return Memories(self.scope)

    @cached_property
    def entities(self) -> Entities:
        return Entities(self.scope)

    @cached_property
    def relations(self) -> Relations:
        return Relations(self.scope)

    @cached_property
    def associations(self) -> Associations:
        return Associations(self.scope)

    @cached_property
    def reflections(self) -> Reflections:
        return Reflections(self.scope)

    @cached_property
    def usage(self) -> Usage:
        return Usage(self.scope)

    @cached_property
    def curation(self) -> Curation:
        return Curation(self.scope)

    @cached_property
    def access(self) -> Access:
        return Access(self.scope)

    @cached_property
    def page_sessions(self) -> PageSessions:
        return PageSessions(self.scope)

    @cached_property
    def search_log(self) -> SearchLog:
        return SearchLog(self.scope, self._client)

    @cached_property
    def sessions(self) -> Sessions:
        return Sessions(self.scope)

    @cached_property
    def indexes(self) -> Indexes:
        return Indexes(self.scope)

    @cached_property
    def settings(self) -> Settings:
        return Settings(self.scope)

    @cached_property
    def archive(self) -> Archive:
        return Archive(self.scope)

    @cached_property
    def journal(self) -> Journal:
        return Journal(self.scope, self.act, self._client)

    @cached_property
    def undo(self) -> Undo:
        return Undo(self.scope, self.journal)

    @cached_property
    def analytics(self) -> Analytics:
        return Analytics(self.scope)

    @cached_property
    def walk(self) -> GraphWalk:
        return GraphWalk(self.scope)

    @cached_property
    def consolidation(self) -> Consolidation:
        return Consolidation(self.scope, self.memories, self.associations)

    @cached_property
    def purging(self) -> Purging:
        return Purging(self.scope, self.memories, self.entities, self.journal)


class PastTransaction(Transaction):
    """A read as of an earlier moment, `at`. Methods that are not overridden read today's rows."""

    embed: Embed

    @cached_property
    def _past(self) -> PastRows:
        return PastRows(self.scope)

    @cached_property
    def memories(self) -> PastMemories:
        return PastMemories(self.scope, self._past)

    @cached_property
    def entities(self) -> PastEntities:
        return PastEntities(self.scope, self._past, self.memories)

    @cached_property
    def relations(self) -> PastRelations:
        return PastRelations(self.scope, self._past, self.entities)

    @cached_property
    def walk(self) -> PastWalk:
        return PastWalk(self.scope, self.entities, self.relations)

    @cached_property
    def indexes(self) -> PastIndexes:
        return PastIndexes(self.scope, self._past, self.memories, self.embed)


class Store:
    """Opens transactions on the spaces of a database."""

    def __init__(self, database: Database) -> None:
        self.database = database
        self._spaces: dict[str, int] = {}

    def open(self) -> "Store":
        """Migrate the database to this program's schema."""
        self.database.migrate(queries.migrations(self.database.name))
        return self

    def close(self) -> None:
        self.database.close()

    @contextmanager
    def read(
        self, space: str, at: datetime, *, client: str = "", urgent: bool = False, whole: bool = False
    ) -> Iterator[Transaction]:
        """Read one snapshot of a space. A space that does not exist yet is empty."""
        with self.database.read(urgent=urgent, whole=whole) as connection:
            space_id = self._space_id(connection, space)
            yield Transaction(connection, self.database, space_id, at, caller=Caller(space, client))

    @contextmanager
    def read_as_of(self, space: str, moment: datetime, embed: Embed) -> Iterator[Transaction]:
        """Read a space as of an earlier moment; `embed` makes vectors of texts that have changed since."""
        with self.database.read() as connection:
            past = PastTransaction(connection, self.database, self._space_id(connection, space), moment)
            past.embed = embed
            yield past

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
        """Change a space; its first change creates it.

        Writes that are not `durable` may be lost in a power cut, and do not wait for the disk.
        `patience`: seconds to wait for other writers, if fewer than usual.
        """
        with self.database.write(space=caller.space, durable=durable, patience=patience) as connection:
            space_id = self._space_id(connection, caller.space)
            if space_id == NO_SPACE:
                connection.change(queries.load()["add_space"], {"name": caller.space, "at": at})
                space_id = int(
                    connection.run(queries.load()["space_by_name"], {"name": caller.space})[0]["seq"]
                )
            transaction = Transaction(connection, self.database, space_id, at, act, caller)
            yield transaction
            transaction.finish()

    def spaces(self) -> list[str]:
        with self.database.read() as connection:
            return [row["name"] for row in connection.run(queries.load()["spaces"])]

    def _space_id(self, connection: Connection, space: str) -> int:
        # Only committed spaces are cached: the transaction that creates one may fail.
        if space not in self._spaces:
            found = connection.run(queries.load()["space_by_name"], {"name": space})
            if not found:
                return NO_SPACE
            self._spaces[space] = int(found[0]["seq"])
        return self._spaces[space]
