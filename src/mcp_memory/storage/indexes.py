"""Keyword and vector search, and the queue of pending vectors."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from mcp_memory.model import EmbeddingModel, Owner, Pending
from mcp_memory.ranking.unit_vectors import NeighbourRows, NeighbourVectors
from mcp_memory.storage.database import Allowed, VectorsAtHand
from mcp_memory.storage.scope import Scope
from mcp_memory.storage.vector_codes import cosines_with, decode_all, rows_of


@dataclass(frozen=True, slots=True)
class PendingAnywhere:
    """A pending vector of any space."""

    pending: Pending
    space: str


class Indexes:
    def __init__(self, scope: Scope) -> None:
        self._scope = scope

    def models(self) -> dict[str, EmbeddingModel]:
        """Models by state: the active one, and the one being built, if any."""
        return {row["state"]: EmbeddingModel(**row) for row in self._scope.run("embedding_models")}

    def add_model(self, name: str, dimensions: int, fingerprint: str, state: str) -> None:
        """Unless there is one in that state."""
        self._scope.change(
            "add_embedding_model", name=name, dimensions=dimensions, fingerprint=fingerprint, state=state,
            at=self._scope.at,
        )  # fmt: skip

    def remove_model(self, model: EmbeddingModel) -> None:
        self._scope.change("remove_vectors_of_model", model_id=model.id)
        self._scope.change("remove_embedding_model", seq=model.id)

    def activate(self, model: EmbeddingModel) -> None:
        """Switch to a built model, and drop pending vectors that it has."""
        self._scope.change("activate_embedding_model", seq=model.id)
        self._scope.change("settle_all_pending", model_id=model.id)

    def matching(
        self, owner: Owner, terms: Sequence[str], allowed: Allowed, limit: int
    ) -> list[tuple[int, float]]:
        """Rows with any of the terms and their BM25 scores, best first."""
        scope = self._scope
        return scope.database.words.matching(scope.connection, owner, terms, scope.space_id, allowed, limit)

    def prepare(self, owner: Owner, model: EmbeddingModel) -> int | None:
        """Find out where a search for the nearest will look, while the query's vector is computed.

        Returns how many vectors the space has, if they are at hand.
        """
        at_hand = self._at_hand(owner, model)
        return None if at_hand is None else at_hand.count

    def nearest(
        self, owner: Owner, model: EmbeddingModel, vector: bytes, allowed: Allowed, limit: int
    ) -> list[tuple[int, float]]:
        """The nearest rows and their cosines, best first."""
        scope = self._scope
        return scope.database.vectors.nearest(
            scope.connection, model.id, owner, vector, scope.space_id, allowed, limit
        )

    def nearest_at_hand(
        self, owner: Owner, model: EmbeddingModel, vector: bytes, limit: int
    ) -> list[tuple[int, float]] | None:
        """The nearest of all rows, whatever their state; None if vectors have to be read for it."""
        at_hand = self._at_hand(owner, model)
        return None if at_hand is None else at_hand.nearest_first(vector, limit)[:limit]

    def any_near(self, owner: Owner, model: EmbeddingModel, vector: bytes, least_cosine: float) -> bool:
        """False if no row of the space is so close; then `nearest` need not be asked."""
        scope = self._scope
        return scope.database.vectors.any_near(
            scope.connection, model, owner, vector, scope.space_id, least_cosine
        )

    def vectors(self, owner: Owner, model: EmbeddingModel, seqs: Iterable[int]) -> dict[int, bytes]:
        if at_hand := self._at_hand(owner, model):
            return at_hand.units(seqs)
        found = self._scope.fetch("vectors_by_seq", seqs, model_id=model.id, owner=owner)
        vectors = decode_all([row["embedding"] for row in found], model.dimensions)
        return {row["seq"]: vector for row, vector in zip(found, vectors, strict=True)}

    def vectors_in_a_row(
        self, owner: Owner, model: EmbeddingModel, seqs: Sequence[int], turns: NeighbourRows
    ) -> NeighbourVectors:
        """The same of memories that stand in this order, with their neighbours among them."""
        if at_hand := self._at_hand(owner, model):
            return at_hand.in_a_row(seqs, turns)
        import numpy as np

        found = self.vectors(owner, model, seqs)
        places = np.array([place for place, seq in enumerate(seqs) if seq in found], np.intp)
        rows = np.zeros((len(seqs) + 1, model.dimensions))
        rows[places] = rows_of([found[seqs[place]] for place in places.tolist()], model.dimensions)
        return NeighbourVectors.of(rows, places, turns)

    def cosines(
        self, owner: Owner, model: EmbeddingModel, vector: bytes, seqs: Iterable[int]
    ) -> dict[int, float]:
        """How close the rows with a vector are to one."""
        if at_hand := self._at_hand(owner, model):
            return at_hand.cosines(vector, seqs)
        return cosines_with(self.vectors(owner, model, seqs), vector)

    def _at_hand(self, owner: Owner, model: EmbeddingModel) -> VectorsAtHand | None:
        scope = self._scope
        return scope.database.vectors.at_hand(scope.connection, model, owner, scope.space_id)

    def pending(self, owner: Owner, limit: int) -> list[Pending]:
        """Pending vectors of this space, newest first."""
        return [
            Pending(row["owner"], row["seq"], row["stamp"])
            for row in self._scope.run("pending_page", owner=owner, limit=limit)
        ]

    def pending_anywhere(self, limit: int) -> list[PendingAnywhere]:
        return [
            PendingAnywhere(Pending(row["owner"], row["seq"], row["stamp"]), row["space"])
            for row in self._scope.run("pending_anywhere", limit=limit)
        ]

    def unembedded(self, model: EmbeddingModel, limit: int) -> list[PendingAnywhere]:
        """Missing vectors of a model that is being built, in any space."""
        return [
            PendingAnywhere(Pending(row["owner"], row["seq"], 0), row["space"])
            for row in self._scope.run("unembedded", model_id=model.id, limit=limit)
        ]

    def count_unembedded(self, model: EmbeddingModel | None) -> int:
        """Count of pending vectors in all spaces; every row when there is no model."""
        return self._scope.count("count_unembedded", model_id=model.id if model else 0)

    def count_pending(self) -> int:
        return self._scope.count("count_pending")

    def count_pending_anywhere(self) -> int:
        return self._scope.count("count_pending_anywhere")

    def count_vectors(self, model: EmbeddingModel) -> dict[str, int]:
        return {row["owner"]: row["count"] for row in self._scope.run("count_vectors", model_id=model.id)}

    def pend_all(self, model: EmbeddingModel) -> None:
        """Queue everything that has no vector of this model."""
        for query in ("pend_all_memories", "pend_all_entities", "pend_all_reflections"):
            self._scope.change(query, model_id=model.id)

    def settle(self, model: EmbeddingModel, embedded: Sequence[tuple[Pending, bytes]]) -> set[Pending]:
        """Store vectors whose text has not changed since. Returns which were stored."""
        kept: set[Pending] = set()
        for owner in {pending.owner for pending, _ in embedded}:
            seqs = [pending.seq for pending, _ in embedded if pending.owner == owner]
            found = self._scope.fetch("pending_by_seq", seqs, owner=owner)
            kept |= {Pending(owner, row["seq"], row["stamp"]) for row in found}
        self.put_vectors(model, [(pending, vector) for pending, vector in embedded if pending in kept])
        kept &= {pending for pending, _ in embedded}
        self.drop_pending(kept)
        return kept

    def put_vectors(self, model: EmbeddingModel, embedded: Sequence[tuple[Pending, bytes]]) -> int:
        """Store vectors unconditionally. Returns how many."""
        rows: dict[Owner, list[tuple[int, int, bytes]]] = {}
        for pending, vector in embedded:
            rows.setdefault(pending.owner, []).append((pending.seq, self._scope.space_id, vector))
        for owner, vectors in rows.items():
            self._scope.database.vectors.put(self._scope.connection, model.id, owner, vectors)
        return len(embedded)

    def supply(self, model: EmbeddingModel, owner: Owner, seq: int, vector: bytes) -> None:
        """Provide the vector of a text that this transaction writes, so that it is not queued."""
        if self.models().get("active") == model:
            self._scope.vectors_at_hand[owner, seq] = (model.id, vector)

    def drop_pending(self, settled: Iterable[Pending]) -> None:
        """Remove entries from the queue."""
        by_owner: dict[Owner, list[int]] = {}
        for pending in settled:
            by_owner.setdefault(pending.owner, []).append(pending.seq)
        for owner, seqs in by_owner.items():
            self._scope.change_each("remove_pending", seqs, owner=owner)
