"""Topics into which an overgrown entity could be split."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from mcp_memory.text.clustering import average_linkage
from mcp_memory.text.stopwords import FUNCTION_WORDS, WORDS_OF_NOTES
from mcp_memory.text.words import folded
from mcp_memory.tuning import SPLIT_THRESHOLD, SPLIT_THRESHOLDS

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

CUT = 0.5  # cosine distance above which two groups are two topics
_ANCHORS = 10  # terms that may name a topic when there are no vectors
_LONGEST_DIVERSITY = 0.5  # what many topics can add to a split score
_REST = "General"

_TERM = re.compile(r"[^\W\d_]{4,}")
_EMPTY_TERMS = FUNCTION_WORDS | WORDS_OF_NOTES


def threshold_for(
    entity_type: str, thresholds: Mapping[str, int] = SPLIT_THRESHOLDS, default: int = SPLIT_THRESHOLD
) -> int:
    """The limit for a type, whatever its case and accents."""
    by_name = {folded(name): limit for name, limit in thresholds.items()}
    return by_name.get(folded(entity_type), default)


def split_score(observation_count: int, threshold: int, topic_count: int = 0) -> float:
    """How far an entity is above its limit, plus up to a half for how many topics it mixes."""
    score = observation_count / threshold
    if observation_count <= threshold:
        return score
    return score + min(topic_count / max(observation_count, 1), _LONGEST_DIVERSITY)


def needs_split(observation_count: int, threshold: int) -> bool:
    """Whether an entity is above its limit; its score is then above 1."""
    return observation_count > threshold


def topics(
    texts: Sequence[str], vectors: NDArray[np.float32] | None = None, cut: float = CUT
) -> dict[str, list[int]]:
    """Named groups of positions, every text in one of them, in the order of their first text.

    By meaning when there are vectors (of length one) that fall into at least two groups; else by the
    words that the texts share.
    """
    groups = _groups_by_meaning(vectors, cut) if vectors is not None and len(texts) >= 2 else []
    return _named(texts, groups) if len(groups) >= 2 else _by_words(texts)


def _groups_by_meaning(vectors: NDArray[np.float32], cut: float) -> list[list[int]]:
    """Clusters of two or more texts, with single texts joined to the nearest; none if there are too few."""
    groups = average_linkage(vectors, cut)
    real = [group for group in groups if len(group) > 1]
    if len(real) < 2:
        return []
    centres = [vectors[group].mean(axis=0) for group in real]
    joined = [list(group) for group in real]
    for group in groups:
        if len(group) == 1:
            nearest = max(range(len(real)), key=lambda i: float(vectors[group[0]] @ centres[i]))
            joined[nearest].append(group[0])
    return sorted(sorted(group) for group in joined)


def _named(texts: Sequence[str], groups: Sequence[Sequence[int]]) -> dict[str, list[int]]:
    counts = [Counter(term for i in group for term in _terms(texts[i])) for group in groups]
    spread = Counter(term for count in counts for term in count)
    named: dict[str, list[int]] = {}
    for number, (group, count) in enumerate(zip(groups, counts, strict=True), start=1):
        name = class_name(count, spread, len(groups)) or f"Tema_{number}"
        named[name if name not in named else f"{name}_{number}"] = list(group)
    return named


def class_name(count: Counter[str], spread: Mapping[str, int], class_count: int) -> str:
    """The two most distinctive terms of a class, by c-TF-IDF: share in it × ln(classes / with it)."""
    total = sum(count.values())
    scores = {term: n / total * math.log(class_count / spread[term]) for term, n in count.items()}
    best = sorted(scores, key=lambda term: (-scores[term], -count[term]))[:2]
    return " ".join(term.capitalize() for term in best)


def _by_words(texts: Sequence[str]) -> dict[str, list[int]]:
    term_lists = [_terms(text) for text in texts]
    strengths = anchor_strengths(term_lists)
    groups: dict[str, list[int]] = {}
    for position, terms in enumerate(term_lists):
        anchor = next((anchor for anchor in strengths if anchor in terms), "")
        groups.setdefault(anchor.capitalize() or _REST, []).append(position)
    if len(groups) < 2 and len(texts) >= 4:
        half = len(texts) // 2
        return {"Tema_A": list(range(half)), "Tema_B": list(range(half, len(texts)))}
    return groups


def anchor_strengths(term_lists: Sequence[Sequence[str]]) -> dict[str, float]:
    """The ten terms of greatest summed TF-IDF among those that at least two texts have, best first."""
    spread = Counter(term for terms in term_lists for term in set(terms))
    sums: dict[str, float] = {}
    for terms in term_lists:
        for term, n in Counter(terms).items():
            if spread[term] >= 2:
                sums[term] = sums.get(term, 0.0) + n / len(terms) * math.log(len(term_lists) / spread[term])
    best = sorted(sums, key=lambda term: -sums[term])[:_ANCHORS]
    return {term: sums[term] for term in best if sums[term] > 0}


def _terms(text: str) -> list[str]:
    return [term for term in _TERM.findall(text.lower()) if folded(term) not in _EMPTY_TERMS]
