"""The one object that surfaces talk to."""

from collections.abc import Callable
from dataclasses import replace
from functools import cached_property
from typing import Self, TypeVar

from mcp_memory.embedding import LocalModel, Purpose
from mcp_memory.engine.about import Overseeing
from mcp_memory.engine.access import Access
from mcp_memory.engine.analytics import Analytics
from mcp_memory.engine.anthropic_compat import AnthropicCompat
from mcp_memory.engine.arrivals import Arrivals
from mcp_memory.engine.backups import Backups
from mcp_memory.engine.captures import Captures
from mcp_memory.engine.context import Context
from mcp_memory.engine.curation import Curation
from mcp_memory.engine.digest import Digest
from mcp_memory.engine.entity_search import EntitySearch
from mcp_memory.engine.exactly_once import ExactlyOnce
from mcp_memory.engine.graph import KnowledgeGraph
from mcp_memory.engine.graph_overview import GraphOverviews
from mcp_memory.engine.graph_walk import GraphWalk
from mcp_memory.engine.history import History
from mcp_memory.engine.indexing import Indexing
from mcp_memory.engine.inventory import Inventory
from mcp_memory.engine.learning import Learning
from mcp_memory.engine.maintenance import Maintenance
from mcp_memory.engine.memories import Memories
from mcp_memory.engine.page_sessions import PageSessions
from mcp_memory.engine.recall import Recall
from mcp_memory.engine.reembedding import Reembedding
from mcp_memory.engine.reflections import Reflections
from mcp_memory.engine.scheduled_maintenance import ScheduledMaintenance
from mcp_memory.engine.short_ids import ShortIds
from mcp_memory.engine.splitting import Splitting
from mcp_memory.engine.transfer import Transfer
from mcp_memory.errors import Conflict
from mcp_memory.model import Caller, checked_space
from mcp_memory.storage.access import Claim
from mcp_memory.tuning import Limits

T = TypeVar("T")


class Engine:
    """All use cases, on behalf of one caller. Safe to share between threads."""

    def __init__(self, context: Context) -> None:
        checked_space(context.caller.space)
        self._context = context

    def acting_for(self, caller: Caller) -> "Engine":
        """The same engine, in the caller's space and name."""
        return self if caller == self._context.caller else Engine(self._context.having(caller=caller))

    def limited_to(self, limits: Limits) -> "Engine":
        """The same engine, with other limits on the size of calls."""
        return self if limits == self._context.limits else Engine(self._context.having(limits=limits))

    def reading_also(self, spaces: tuple[str, ...]) -> "Engine":
        """The same engine, with searches that include further spaces."""
        if spaces == self._context.read_spaces:
            return self
        return Engine(self._context.having(read_spaces=spaces))

    def unrecorded(self) -> "Engine":
        """The same engine, with reads that do not count as use."""
        return Engine(self._context.having(recording=False))

    def noting_later(self, later: Callable[[Callable[[], None]], None]) -> "Engine":
        """The same engine, which records use after the answer, through a callback."""
        return Engine(self._context.having(later=later))

    def foresee(self, text: str, purpose: Purpose) -> None:
        """Start embedding a text with which a call has come that will be carried out in another thread."""
        if isinstance(self._context.embedder, LocalModel):
            self._context.embedder.foresee(text, purpose)

    def once(self, claim: Claim) -> "Engine":
        """The same engine for one change, which succeeds only while its idempotency claim holds."""
        return Engine(self._context.having(claim=claim))

    def exactly_once(self, key: str, act: Callable[["Engine"], T], *, again: bool) -> T:
        """Run `act` exactly once per key, and return its result.

        `again`: the request may have been received before, by a server that died. If that one made the
        changes, they are taken back and made again, because their answer is lost.
        """
        once = ExactlyOnce(self._context, key)
        if again and not once.take_back():
            return act(Engine(once.unchanging()))
        try:
            return act(Engine(once.context()))
        except Conflict:
            if not once.was_done():
                raise
        return act(Engine(once.context() if once.take_back() else once.unchanging()))

    @property
    def caller(self) -> Caller:
        return self._context.caller

    @cached_property
    def overseeing(self) -> Overseeing:
        return Overseeing(self._context)

    @cached_property
    def backups(self) -> Backups:
        return Backups(self._context)

    @cached_property
    def access(self) -> Access:
        return Access(self._context)

    @cached_property
    def scheduled_maintenance(self) -> ScheduledMaintenance:
        return ScheduledMaintenance(self._context)

    @cached_property
    def arrivals(self) -> Arrivals:
        return Arrivals(self._context)

    @cached_property
    def captures(self) -> Captures:
        return Captures(self._context)

    @cached_property
    def digest(self) -> Digest:
        return Digest(self._context)

    @cached_property
    def graph(self) -> KnowledgeGraph:
        return KnowledgeGraph(self._context)

    @cached_property
    def entities(self) -> EntitySearch:
        return EntitySearch(self._context)

    @cached_property
    def anthropic_compat(self) -> AnthropicCompat:
        return AnthropicCompat(self._context)

    @cached_property
    def reflections(self) -> Reflections:
        return Reflections(self._context)

    @cached_property
    def short_ids(self) -> ShortIds:
        return ShortIds(self._context)

    @cached_property
    def splitting(self) -> Splitting:
        return Splitting(self._context)

    @cached_property
    def curation(self) -> Curation:
        return Curation(self._context)

    @cached_property
    def learning(self) -> Learning:
        return Learning(self._context)

    @cached_property
    def recall(self) -> Recall:
        return Recall(self._context)

    @cached_property
    def indexing(self) -> Indexing:
        return Indexing(self._context)

    @cached_property
    def inventory(self) -> Inventory:
        return Inventory(self._context)

    @cached_property
    def memories(self) -> Memories:
        return Memories(self._context)

    @cached_property
    def history(self) -> History:
        return History(self._context)

    @cached_property
    def page_sessions(self) -> PageSessions:
        return PageSessions(self._context)

    @cached_property
    def reembedding(self) -> Reembedding:
        return Reembedding(self._context)

    @cached_property
    def transfer(self) -> Transfer:
        return Transfer(replace(self._context, caller=replace(self.caller, via="import")))

    @cached_property
    def analytics(self) -> Analytics:
        return Analytics(self._context)

    @cached_property
    def graph_overviews(self) -> GraphOverviews:
        return GraphOverviews(self._context)

    @cached_property
    def walk(self) -> GraphWalk:
        return GraphWalk(self._context)

    @cached_property
    def maintenance(self) -> Maintenance:
        return Maintenance(self._context)

    def close(self) -> None:
        if self._context.write_behind is not None:
            self._context.write_behind.close()
        self._context.store.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *failure: object) -> None:
        self.close()
