"""Calibrates a model's cosines: "unrelated" differs from model to model."""

from __future__ import annotations

from typing import TypedDict

from mcp_memory.embedding.card import Embedder


class Cosines(TypedDict):
    unrelated_cosine: float
    same_cosine: float


# One sentence of each line has nothing to do with one of any other; the two of a line are
# the same fact, worded almost alike.
_PAIRS = (
    ("The kitchen tap drips at night.", "At night the kitchen tap is dripping."),
    ("Maria plays the cello in an orchestra.", "Maria is a cellist in an orchestra."),
    ("The build fails when the cache is cold.", "When the cache is cold, the build fails."),
    ("Bread needs flour, water, salt and time.", "For bread you need flour, water, salt and time."),
    ("Our train to Lisbon leaves at seven.", "The train we take to Lisbon leaves at seven."),
    ("He is afraid of large dogs.", "He's scared of large dogs."),
    ("The invoice was paid in two instalments.", "The invoice has been paid in two instalments."),
    ("Jupiter has more mass than all other planets.", "Jupiter has more mass than all the other planets."),
    ("She prefers tea without sugar.", "She likes her tea without sugar."),
    ("Passwords are rotated every ninety days.", "Every ninety days the passwords are rotated."),
    ("The football match was cancelled because of rain.", "Rain led to the football match being cancelled."),
    ("My grandfather kept bees behind the barn.", "Behind the barn, my grandfather kept bees."),
)


def measure(embedder: Embedder) -> Cosines:
    """The 95th percentile of unrelated pairs, and the median of reworded pairs."""
    import numpy as np

    left, right = (embedder.embed(texts, "passage") for texts in zip(*_PAIRS, strict=True))
    cosines = left @ right.T
    unrelated = float(np.quantile(cosines[~np.eye(len(_PAIRS), dtype=bool)], 0.95))
    same = float(np.median(np.diag(cosines)))
    return Cosines(unrelated_cosine=round(unrelated, 3), same_cosine=round(max(same, unrelated), 3))
