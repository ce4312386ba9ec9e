"""The words of embedding: what an embedder is, and what must be known about its model."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, Protocol, runtime_checkable

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Vectors = NDArray[np.float32]

Purpose = Literal["query", "passage"]
"""Some models read a question differently from the text that answers it."""


@dataclass(frozen=True)
class ModelCard:
    """Which model makes the vectors, and how its cosines are to be read.

    Two vectors may be compared only if the fingerprints of their models are equal.
    """

    name: str
    dimensions: int
    fingerprint: str
    """SHA-256 of the weights, or endpoint and name of a remote model."""
    query_prefix: str = ""
    passage_prefix: str = ""
    pooling: Literal["mean", "cls"] = "mean"
    max_tokens: int = 256
    unrelated_cosine: float = 0.2
    """At or below this, a cosine says nothing."""
    same_cosine: float = 0.95
    """At or above this, two texts are worded almost alike."""

    def __post_init__(self) -> None:
        if not self.fingerprint:
            raise ValueError(f"the card of {self.name} has no fingerprint")


class Embedder(Protocol):
    """Turns text into vectors of length one."""

    @property
    def card(self) -> ModelCard:
        """Known without loading the model."""

    def embed(self, texts: Sequence[str], purpose: Purpose) -> Vectors:
        """One float32 row per text, in their order; safe to call from several threads.

        The first call loads the model. Raises `Unavailable` when it cannot be loaded or reached.
        """


@runtime_checkable
class RemoteModel(Protocol):
    """An embedder whose model is elsewhere, and may be out of reach."""

    @property
    def trouble(self) -> str:
        """Why the last call failed; empty after one that succeeded."""


@dataclass(frozen=True)
class NoModel:
    """There is no model here, which is a state to work in, not a failure."""

    reason: str
    """A sentence for people: what is missing, and what to do about it."""
