"""The words of many texts, counted and weighed at once."""

from __future__ import annotations

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mcp_memory.ranking.wording import Vocabulary, Wording

pytestmark = pytest.mark.unit

WORDS = st.sampled_from(["ana", "ben", "moved", "to", "lisbon", "in", "may", "violin", "日本", "straße"])
TEXTS = st.lists(st.lists(WORDS, max_size=12), min_size=1, max_size=8)
SOUGHT = st.lists(st.one_of(WORDS, st.just("unheard")), unique=True, max_size=6)


def wording(texts: list[list[str]]) -> Wording:
    vocabulary = Vocabulary()
    return Wording([vocabulary.text(words) for words in texts])


@given(TEXTS, SOUGHT)
def test_words_are_counted_as_one_by_one(texts: list[list[str]], sought: list[str]) -> None:
    read = wording(texts)
    assert read.counts(sought).tolist() == [[Counter(text)[word] for word in sought] for text in texts]
    assert read.frequencies(sought) == [sum(word in text for text in texts) for word in sought]
    assert read.sizes.tolist() == [len(text) for text in texts]


@given(TEXTS, SOUGHT)
def test_weights_of_words_are_added_and_compared_for_each_text(
    texts: list[list[str]], sought: list[str]
) -> None:
    read = wording(texts)
    weights = {word: 2.0**place for place, word in enumerate(sought)}
    held = [[weights[word] for word in {*text} if word in weights] for text in texts]
    assert read.sums(weights).tolist() == [sum(each) for each in held]
    assert read.largest(weights).tolist() == [max(each, default=0.0) for each in held]
