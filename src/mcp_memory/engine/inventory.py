"""Lists, counts, and the state of vectors."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from mcp_memory.embedding import NoModel, RemoteModel
from mcp_memory.engine.context import Topic, storable
from mcp_memory.engine.cursors import cursor_after, seq_in
from mcp_memory.engine.indexing import ByWordsOnly
from mcp_memory.model import EmbeddingModel, Filter, Relation


@dataclass(frozen=True, slots=True)
class ListedRelations:
    """A page of relations in stored order, and their total number."""

    relations: tuple[Relation, ...]
    total: int
    cursor: str | None = None
    """Where the next page begins."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Counts:
    entities: int
    observations: int
    relations: int
    memories: int
    """All facts that are remembered, observations among them."""
    forgotten: int
    """Memories that were forgotten and can still be restored."""


@dataclass(frozen=True, kw_only=True, slots=True)
class VectorState:
    """State of semantic search, in the whole database."""

    mode: str
    """`hybrid`, or `keyword only` with the reason."""
    serving: EmbeddingModel | None
    building: EmbeddingModel | None
    vector_count: int
    missing_count: int


@dataclass(frozen=True, kw_only=True, slots=True)
class Condition:
    """Health, from facts that are cheap to read."""

    database: str
    mode: str
    """`hybrid`, or `keyword only` with the reason."""
    model: str | None
    """The model whose vectors are in use."""
    pending_count: int
    """Rows that wait for a vector, in the whole database."""


class Inventory(Topic):
    def size(self) -> int:
        """Bytes that the database takes on disk."""
        return self._context.store.database.size()

    def cache_bytes(self) -> int:
        """Memory that the database's caches take in this process."""
        return self._context.store.database.cache_bytes()

    def relations(
        self,
        *,
        type: str | None = None,
        ended: bool = False,
        limit: int,
        offset: int = 0,
        cursor: str | None = None,
    ) -> ListedRelations:
        """Relations from an `offset` on, or from the `cursor` of the page before, as quickly however deep."""
        storable(type or "", "a filter")
        after = seq_in(cursor, offset)
        with self._context.reading() as tx:
            found = tx.relations.find(type=type, ended=ended, limit=limit + 1, offset=offset, after=after)
            total = tx.relations.count_found(type=type, ended=ended)
            return self._page(found, total, limit, tx.at)

    def relations_of(
        self,
        name: str,
        *,
        type: str | None = None,
        ended: bool = False,
        limit: int,
        offset: int = 0,
        cursor: str | None = None,
    ) -> ListedRelations:
        """Relations from or to an entity."""
        after = seq_in(cursor, offset)
        with self._context.reading() as tx:
            touching = tx.relations.touching([tx.entities.get(name).seq], ended=ended)
            found = [relation for relation in touching if type in (None, relation.type)]
            further = [relation for relation in found if relation.seq > after][offset:]
            return self._page(further[: limit + 1], len(found), limit, tx.at)

    def _page(self, found: Sequence[Relation], total: int, limit: int, at: datetime) -> ListedRelations:
        shown = found[:limit]
        following = cursor_after(shown[-1].seq) if len(found) > limit else None
        return ListedRelations(self._context.faded(shown, at), total, following)

    def counts(self) -> Counts:
        half_life = self._context.tuning.half_life
        with self._context.reading() as tx:
            return Counts(
                entities=tx.entities.count(),
                observations=tx.entities.count_observations(),
                relations=tx.relations.count(),
                memories=tx.memories.count(Filter(), half_life=half_life),
                forgotten=tx.memories.count(Filter(forgotten=True), half_life=half_life),
            )

    def spaces(self) -> Sequence[str]:
        return self._context.store.spaces()

    def condition(self) -> Condition:
        with self._context.reading(urgent=True) as tx:
            serving = tx.indexes.models().get("active")
            return Condition(
                database=self._context.store.database.name,
                mode=self._mode(serving),
                model=serving.name if serving else None,
                pending_count=tx.indexes.count_pending_anywhere(),
            )

    def vectors(self) -> VectorState:
        with self._context.reading() as tx:
            models = tx.indexes.models()
            serving = models.get("active")
            made = sum(tx.indexes.count_vectors(serving).values()) if serving else 0
            missing = tx.indexes.count_unembedded(serving)
        return VectorState(
            mode=self._mode(serving),
            serving=serving,
            building=models.get("building"),
            vector_count=made,
            missing_count=missing,
        )

    def _mode(self, serving: EmbeddingModel | None) -> str:
        embedder = self._context.embedder
        if isinstance(embedder, NoModel):
            return ByWordsOnly(embedder.reason).mode("hybrid")
        if isinstance(embedder, RemoteModel) and embedder.trouble:
            return ByWordsOnly(embedder.trouble).mode("hybrid")
        if serving is not None and serving.fingerprint != embedder.card.fingerprint:
            return ByWordsOnly(
                f"the vectors were made by {serving.name}, the model at hand is {embedder.card.name}; "
                "run `mcp-memory reembed`"
            ).mode("hybrid")
        return "hybrid"
