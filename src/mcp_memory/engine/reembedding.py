"""Embeds everything again with another model, while the old vectors stay in use."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby

from mcp_memory.embedding import Embedder, NoModel
from mcp_memory.engine.context import Topic
from mcp_memory.engine.indexing import BATCH, Indexing, texts_for
from mcp_memory.errors import Unequipped
from mcp_memory.model import Caller, EmbeddingModel, Pending, Progress, unreported
from mcp_memory.storage.indexes import PendingAnywhere
from mcp_memory.text.snapshot import BUDGET


@dataclass(frozen=True, kw_only=True, slots=True)
class ReembeddingPlan:
    """The pending work; nothing to do if `remaining` is 0 and the model is already in use."""

    serving: str | None
    model: str
    dimensions: int
    is_change: bool
    remaining: int


@dataclass(frozen=True, slots=True)
class Reembedded:
    model: str
    made: int


class Reembedding(Topic):
    def plan(self) -> ReembeddingPlan:
        embedder = self._embedder()
        with self._context.reading() as tx:
            models = tx.indexes.models()
            known = [model for model in models.values() if _is_by(embedder, model)]
            remaining = tx.indexes.count_unembedded(known[0] if known else None)
        serving = models.get("active")
        return ReembeddingPlan(
            serving=serving.name if serving else None,
            model=embedder.card.name,
            dimensions=embedder.card.dimensions,
            is_change=serving is not None and not _is_by(embedder, serving),
            remaining=remaining,
        )

    def run(self, progress: Progress = unreported) -> Reembedded:
        """Compute every missing vector of the configured model, in all spaces, then switch to it.

        An interrupted run keeps its vectors, and the next run resumes.
        """
        embedder = self._embedder()
        embedder.embed(["ready?"], "passage")  # fail before anything is built if the model cannot run
        serving = Indexing(self._context).model()
        if serving is None:
            model, made = self._replace(embedder, progress)
        else:
            model, made = serving, self._complete(serving, progress)
        database = self._context.store.database
        for step in database.vectors.maintain(database, model.id, model.dimensions):
            progress(step, 1, 1)
        return Reembedded(model.name, made)

    def _replace(self, embedder: Embedder, progress: Progress) -> tuple[EmbeddingModel, int]:
        """Build all vectors of another model, then switch to it."""
        model = self._begin(embedder)
        made, total = 0, self._missing(model)
        while missing := self._next(model):
            made += self._make(embedder, model, missing)
            progress("embedding", made, max(total, made))
        self._finish(model)
        return model, made

    def _complete(self, serving: EmbeddingModel, progress: Progress) -> int:
        """Compute the missing vectors of the model in use."""
        with self._context.noting() as tx:
            tx.indexes.pend_all(serving)
        made, total = 0, self._missing(serving)
        while some := Indexing(self._context).catch_up_anywhere():
            made += some
            progress("embedding", made, max(total, made))
        return made

    def _embedder(self) -> Embedder:
        if isinstance(self._context.embedder, NoModel):
            raise Unequipped(self._context.embedder.reason)
        return self._context.embedder

    def _begin(self, embedder: Embedder) -> EmbeddingModel:
        """Resume the build of this model, or start one."""
        with self._context.writing() as tx:
            begun = tx.indexes.models().get("building")
            if begun is not None and not _is_by(embedder, begun):
                tx.indexes.remove_model(begun)
                begun = None
            if begun is None:
                card = embedder.card
                tx.indexes.add_model(card.name, card.dimensions, card.fingerprint, "building")
            return tx.indexes.models()["building"]

    def _missing(self, model: EmbeddingModel) -> int:
        with self._context.reading() as tx:
            return tx.indexes.count_unembedded(model)

    def _next(self, model: EmbeddingModel) -> list[PendingAnywhere]:
        with self._context.reading() as tx:
            return tx.indexes.unembedded(model, BATCH)

    def _make(self, embedder: Embedder, model: EmbeddingModel, missing: Sequence[PendingAnywhere]) -> int:
        made = 0
        for space, group in groupby(missing, key=lambda one: one.space):
            made += self._make_in(space, embedder, model, [one.pending for one in group])
        return made

    def _make_in(self, space: str, embedder: Embedder, model: EmbeddingModel, wanted: list[Pending]) -> int:
        budget = min(BUDGET, embedder.card.max_tokens)
        context = self._context
        with context.store.read(space, context.clock()) as tx:
            texts = texts_for(tx, wanted, budget)
        vectors = embedder.embed(list(texts.values()), "passage")
        made = {one: vector.tobytes() for one, vector in zip(texts, vectors, strict=True)}
        with context.store.write(Caller(space), context.clock(), "", durable=False) as tx:
            # Texts that changed meanwhile are embedded again in the next round.
            now = texts_for(tx, wanted, budget)
            kept = [(one, vector) for one, vector in made.items() if now.get(one) == texts[one]]
            return tx.indexes.put_vectors(model, kept)

    def _finish(self, model: EmbeddingModel) -> None:
        with self._context.writing() as tx:
            before = tx.indexes.models().get("active")
            if before is not None:
                tx.indexes.remove_model(before)
            tx.indexes.activate(model)


def _is_by(embedder: Embedder, model: EmbeddingModel) -> bool:
    return model.fingerprint == embedder.card.fingerprint
