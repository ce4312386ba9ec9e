"""The embedder protocol, and the metadata of its model."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, Protocol, runtime_checkable

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Vectors = NDArray[np.float32]

Purpose = Literal["query", "passage"]
"""Whether a text is a query or a stored passage: some models embed them differently."""


@dataclass(frozen=True)
class ModelCard:
    """Identifies a model, and calibrates its cosines.

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
    """Cosine of unrelated texts; lower values carry no information."""
    same_cosine: float = 0.95
    """Cosine from which two texts are near duplicates."""

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
    """An embedder with a remote model, which may be unreachable."""

    @property
    def trouble(self) -> str:
        """Why the last call failed; empty after one that succeeded."""


@runtime_checkable
class LocalModel(Protocol):
    """An embedder with a model in this process: other work can be done while it computes."""

    def begin(self, text: str, purpose: Purpose) -> Callable[[], Vectors] | None:
        """Start embedding a text; the result is waited for when called, and may raise `Unavailable`.

        None while the model is not loaded: loading it takes long.
        """

    def foresee(self, text: str, purpose: Purpose) -> None:
        """Start embedding a text that `begin` is about to be asked for. Never waits."""


@dataclass(frozen=True)
class NoModel:
    """The absence of a model: a supported state, not a failure."""

    reason: str
    """What is missing and how to fix it, for people."""
