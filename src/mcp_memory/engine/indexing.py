"""Brings vectors up to date with the rows: in batches, outside transactions, in the background."""

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING

from mcp_memory.embedding import Embedder, LocalModel, NoModel, Purpose
from mcp_memory.engine.context import NOTE_PATIENCE, Topic
from mcp_memory.engine.flagging import find_repeats, flag
from mcp_memory.errors import Unavailable
from mcp_memory.model import Caller, EmbeddingModel, Node, Owner, Pending
from mcp_memory.storage import Transaction
from mcp_memory.text.language import is_foreign
from mcp_memory.text.snapshot import BUDGET, snapshot

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

BATCH = 32
"""Texts embedded per step of background work."""

STEP = 8
"""Texts embedded between two commits: larger batches are no faster, and others may be waiting."""

ENGLISH_MODELS = frozenset({"all-MiniLM-L6-v2"})
"""Models that were trained on English only."""

FOREIGN_WORTH = 0.3
"""Weight of such a model for other languages: a higher one harms Chinese, a lower one Spanish."""

MULTILINGUAL_HINT = "`mcp-memory model pull multilingual-e5-small` helps"

AT_ONCE = 2 * BATCH
"""How many pending texts a search embeds first, time permitting: usually its client's latest writes."""

PATIENCE = 1.5
"""Time limit for that, in seconds; texts that are still pending are found by keywords."""


@dataclass(frozen=True, slots=True)
class Meaning:
    """A query as a vector, with the model whose vectors it may be compared to."""

    model: EmbeddingModel
    vector: bytes
    unrelated_cosine: float
    foreign: bool = False
    """Whether the text is in a language that the model was not made for."""
    hint: str = ""
    """What would help; given once."""

    @property
    def worth(self) -> float:
        """The weight of vector similarity beside keywords."""
        return FOREIGN_WORTH if self.foreign else 1.0

    def mode(self, wanted: str) -> str:
        """How a search with this vector ran, for its answer."""
        if not self.foreign:
            return wanted
        hint = f" ({self.hint})" if self.hint else ""
        return f"{wanted}, mostly by words: {self.model.name} was made for English{hint}"


@dataclass(frozen=True, slots=True)
class ByWordsOnly:
    """Why there is no vector to search with."""

    reason: str

    def mode(self, wanted: str) -> str:
        """How a search without a vector ran, for its answer."""
        return f"keyword only: {self.reason}"


Begun = Callable[[], "NDArray[np.float32]"]
"""Waits for vectors that are being computed."""


@dataclass(frozen=True, slots=True)
class Soon:
    """The vector of a query, which may still be computed."""

    wait: Callable[[], Meaning | ByWordsOnly]
    model: EmbeddingModel | None = None
    """The model that computes it, whose vectors can be made ready meanwhile."""


class Indexing(Topic):
    def meaning(self, text: str, owner: Owner) -> Soon:
        """Embed a query, after pending texts have been embedded.

        A model in this process computes in the background. A remote one may take long: this waits for its
        answer, so that no snapshot is held meanwhile.
        """
        embedder = self._context.embedder
        if isinstance(embedder, NoModel):
            return _known(ByWordsOnly(embedder.reason))
        begun = begin(embedder, text, "query")
        try:
            model = self._caught_up(embedder, owner)
        except Unavailable as error:
            return _known(ByWordsOnly(str(error)))
        if model is None:
            return _known(ByWordsOnly(self._mismatch(embedder)))
        foreign = embedder.card.name in ENGLISH_MODELS and is_foreign(text)
        hint = MULTILINGUAL_HINT if foreign and self._context.tell_once(MULTILINGUAL_HINT) else ""
        embed = begun or partial(embedder.embed, [text], "query")
        soon = partial(_meaning, model, embedder, embed, foreign=foreign, hint=hint)
        return Soon(soon, model) if begun else _known(soon())

    def _caught_up(self, embedder: Embedder, owner: Owner) -> EmbeddingModel | None:
        """The model that serves, once what was just written has its vectors."""
        with self._context.reading() as tx:
            active = tx.indexes.models().get("active")
            is_behind = active is None or bool(tx.indexes.pending(owner, 1))
        if is_behind:
            self.catch_up(owner, patience=PATIENCE)
            return self._serving(embedder, patience=NOTE_PATIENCE)
        return active if active and active.fingerprint == embedder.card.fingerprint else None

    def passage(
        self, text: str, model: EmbeddingModel | None, begun: Begun | None = None
    ) -> Meaning | ByWordsOnly:
        """Embed a text about to be stored; `model` is the database's, None if it has none yet."""
        embedder = self._context.embedder
        if isinstance(embedder, NoModel):
            return ByWordsOnly(embedder.reason)
        try:
            active = model or self._adopt(embedder, NOTE_PATIENCE)
        except Unavailable as error:
            return ByWordsOnly(str(error))
        if active.fingerprint != embedder.card.fingerprint:
            return ByWordsOnly(_mismatch(active, embedder))
        return _meaning(active, embedder, begun or partial(embedder.embed, [text], "passage"))

    def embedded(self, texts: Sequence[str]) -> "NDArray[np.float32] | None":
        """Vectors of texts about to be stored; None without a matching model."""
        embedder = self._context.embedder
        if isinstance(embedder, NoModel) or not texts:
            return None
        try:
            return embedder.embed(texts, "passage") if self._serving(embedder) else None
        except Unavailable:
            return None

    def why_no_vectors(self) -> str:
        """Why search by meaning is unavailable; empty if it is available."""
        embedder = self._context.embedder
        if isinstance(embedder, NoModel):
            return embedder.reason
        return "" if self._serving(embedder) else self._mismatch(embedder)

    def model(self) -> EmbeddingModel | None:
        """The model whose vectors are in use, if it is the configured one."""
        embedder = self._context.embedder
        return None if isinstance(embedder, NoModel) else self._serving(embedder)

    def catch_up(self, owner: Owner, most: int = AT_ONCE, patience: float | None = None) -> int:
        """Compute missing vectors of this space, newest first, within a time limit. Returns their number."""
        embedder = self._context.embedder
        if isinstance(embedder, NoModel):
            return 0
        model = self._serving(embedder, patience=None if patience is None else NOTE_PATIENCE)
        begun, made = time.monotonic(), 0
        while model is not None and made < most:
            step = self._step(embedder, model, owner, min(STEP, most - made), patience)
            made += step
            if not step or (patience is not None and time.monotonic() - begun > patience):
                break
        return made

    def catch_up_anywhere(self) -> int:
        """Compute one batch of missing vectors, in any space. Returns their number."""
        with self._context.reading() as tx:
            waiting = tx.indexes.pending_anywhere(1)
        if not waiting:
            return 0
        there = Indexing(replace(self._context, caller=Caller(waiting[0].space, self._context.caller.client)))
        return there.catch_up(waiting[0].pending.owner, BATCH)

    def _step(
        self, embedder: Embedder, model: EmbeddingModel, owner: Owner, most: int, patience: float | None
    ) -> int:
        # One thread at a time: two that took the same texts would duplicate the work.
        if not self._context.turn.acquire(timeout=-1 if patience is None else patience):
            return 0
        try:
            with self._context.reading() as tx:
                waiting = tx.indexes.pending(owner, most)
                texts = texts_for(tx, waiting, min(BUDGET, embedder.card.max_tokens))
            if not waiting:
                return 0
            vectors = embedder.embed(list(texts.values()), "passage")
            made = dict(zip(texts, (vector.tobytes() for vector in vectors), strict=True))
            return len(waiting) if self._settled(model, waiting, made, patience) else 0
        finally:
            self._context.turn.release()

    def _settled(
        self,
        model: EmbeddingModel,
        waiting: Sequence[Pending],
        made: Mapping[Pending, bytes],
        patience: float | None,
    ) -> bool:
        """Store the vectors; False if a search would have to wait for other writers."""
        observed = {pending.seq: vector for pending, vector in made.items() if pending.owner == "memory"}
        with self._context.reading() as tx:
            repeats = find_repeats(tx, model, observed) if observed else []
        try:
            with self._context.noting(patience=None if patience is None else NOTE_PATIENCE) as tx:
                kept = {pending.seq for pending in tx.indexes.settle(model, list(made.items()))}
                flag(tx, [repeat for repeat in repeats if repeat.seq in kept])
                tx.indexes.drop_pending(pending for pending in waiting if pending not in made)
        except Unavailable:
            if patience is None:
                raise
            return False
        return True

    def _serving(self, embedder: Embedder, *, patience: float | None = None) -> EmbeddingModel | None:
        """The database's model if it is the configured one, which a database without a model adopts."""
        with self._context.reading() as tx:
            active = tx.indexes.models().get("active")
        if active is None:
            active = self._adopt(embedder, patience)
        return active if active.fingerprint == embedder.card.fingerprint else None

    def _adopt(self, embedder: Embedder, patience: float | None) -> EmbeddingModel:
        card = embedder.card
        with self._context.writing(patience=patience) as tx:
            if "active" not in tx.indexes.models():
                tx.indexes.add_model(card.name, card.dimensions, card.fingerprint, "active")
            return tx.indexes.models()["active"]

    def _mismatch(self, embedder: Embedder) -> str:
        with self._context.reading() as tx:
            return _mismatch(tx.indexes.models()["active"], embedder)


def begin(embedder: Embedder, text: str, purpose: Purpose) -> Begun | None:
    """Start embedding a text in the background, if the model runs in this process."""
    return embedder.begin(text, purpose) if isinstance(embedder, LocalModel) else None


def _known(meaning: Meaning | ByWordsOnly) -> Soon:
    return Soon(lambda: meaning)


def _meaning(
    model: EmbeddingModel,
    embedder: Embedder,
    embed: Begun,
    *,
    foreign: bool = False,
    hint: str = "",
) -> Meaning | ByWordsOnly:
    try:
        vector = embed()[0].tobytes()
    except Unavailable as error:
        return ByWordsOnly(str(error))
    return Meaning(model, vector, embedder.card.unrelated_cosine, foreign=foreign, hint=hint)


def _mismatch(active: EmbeddingModel, embedder: Embedder) -> str:
    return (
        f"the vectors here were made by {active.name}, the model at hand is {embedder.card.name}. "
        "Run `mcp-memory reembed`, or set EMBEDDING_MODEL back."
    )


def stored_vectors(tx: Transaction, node: Node) -> "NDArray[np.float32] | None":
    """One row for each observation, if all have a vector."""
    model = tx.indexes.models().get("active")
    if model is None or not node.observations:
        return None
    known = tx.indexes.vectors("memory", model, [memory.seq for memory in node.observations])
    if len(known) < len({memory.seq for memory in node.observations}):
        return None
    import numpy as np

    joined = b"".join(known[memory.seq] for memory in node.observations)
    return np.frombuffer(joined, "<f4").reshape(len(node.observations), -1)


def texts_for(tx: Transaction, waiting: Sequence[Pending], budget: int) -> dict[Pending, str]:
    """The text to embed for each row, within the model's token limit; none for deleted rows."""
    by_owner: dict[Owner, list[Pending]] = {}
    for pending in waiting:
        by_owner.setdefault(pending.owner, []).append(pending)
    texts: dict[Pending, str] = {}
    for owner, pendings in by_owner.items():
        found = _texts_of(tx, owner, [pending.seq for pending in pendings], budget)
        texts |= {pending: found[pending.seq] for pending in pendings if pending.seq in found}
    return texts


def _texts_of(tx: Transaction, owner: Owner, seqs: list[int], budget: int) -> dict[int, str]:
    if owner == "memory":
        return {seq: memory.content for seq, memory in tx.memories.fetch(seqs).items()}
    if owner == "reflection":
        return {seq: reflection.content for seq, reflection in tx.reflections.fetch(seqs).items()}
    entities = tx.entities.fetch(seqs)
    return {node.entity.seq: snapshot(node, budget) for node in tx.entities.nodes(entities.values())}
