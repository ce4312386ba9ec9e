"""Stand-ins for the world: a clock that is set, ids that count, an embedder without a model."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Sequence
from datetime import UTC, datetime, timedelta
from itertools import count

import numpy as np
from numpy.typing import NDArray

from mcp_memory.embedding import ModelCard, Purpose

_WORD = re.compile(r"\w+")


class Clock:
    """Stands still until it is told to move."""

    def __init__(self, now: datetime = datetime(2026, 1, 1, 12, tzinfo=UTC)) -> None:
        self.now = now

    def __call__(self) -> datetime:
        return self.now

    def set(self, now: datetime) -> None:
        self.now = now

    def advance(self, **by: float) -> datetime:
        """Move on by `days=`, `hours=`, `seconds=`…, as `timedelta` takes them."""
        self.now += timedelta(**by)
        return self.now


def ids() -> Callable[[], str]:
    """New ids in the shape of a UUIDv7: unique, ascending, the same in every run."""
    numbers = count(1)
    return lambda: f"00000000-0000-7000-8000-{next(numbers):012x}"


class HashEmbedder:
    """Hashes each word to a bucket: texts that share words are near, and no model is needed.

    The number of calls and the texts seen are kept, for tests about when embedding happens.
    """

    def __init__(self, dimensions: int = 384, name: str = "hashed-words") -> None:
        self.card = ModelCard(
            name=name,
            dimensions=dimensions,
            fingerprint=f"{name}-{dimensions}",
            unrelated_cosine=0.0,
            same_cosine=0.95,
        )
        self.call_count = 0
        self.seen: list[str] = []

    def embed(self, texts: Sequence[str], purpose: Purpose) -> NDArray[np.float32]:
        self.call_count += 1
        self.seen.extend(texts)
        rows = [self._row(text) for text in texts]
        return np.stack(rows) if rows else np.zeros((0, self.card.dimensions), np.float32)

    def _row(self, text: str) -> NDArray[np.float32]:
        row = np.zeros(self.card.dimensions, np.float32)
        for word in _WORD.findall(text.lower()) or [""]:
            row[self._bucket(word)] += 1.0
        unit: NDArray[np.float32] = row / np.linalg.norm(row)
        return unit

    def _bucket(self, word: str) -> int:
        digest = hashlib.blake2b(word.encode("utf-8", "replace"), digest_size=8).digest()
        return int.from_bytes(digest) % self.card.dimensions
