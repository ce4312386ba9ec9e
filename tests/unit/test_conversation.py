"""What neighbouring memories lend each other, and when they lend nothing."""

from __future__ import annotations

import math

import numpy as np

from mcp_memory.ranking.conversation import (
    connectedness,
    meaning_in_context,
    saturation,
    term_weights,
    with_near_words,
    words_in_context,
)
from mcp_memory.ranking.unit_vectors import Neighbours, UnitVectors, neighbour_rows, unit_vectors
from mcp_memory.ranking.wording import Vocabulary, Wording

ROW: dict[int, Neighbours] = {
    1: (None, 2), 2: (1, 3), 3: (2, 4), 4: (3, 5), 5: (4, 6), 6: (5, None),
}  # fmt: skip


def wording(*texts: str) -> Wording:
    vocabulary = Vocabulary()
    return Wording([vocabulary.text(text.split()) for text in texts])


def vectors(*topics: int) -> UnitVectors:
    """One of two topics for each, with a little of its own."""
    noise = np.random.default_rng(0).normal(scale=0.1, size=(len(topics), 8))
    rows = np.eye(8)[list(topics)] + noise
    rows /= np.linalg.norm(rows, axis=1, keepdims=True)
    return unit_vectors(range(1, len(topics) + 1), rows.astype(np.float32))


def test_neighbours_about_the_same_thing_are_a_conversation() -> None:
    assert connectedness(ROW, vectors(0, 0, 0, 1, 1, 1), [80] * 6) == 1.0


def test_neighbours_about_different_things_are_not() -> None:
    assert connectedness(ROW, vectors(0, 1, 2, 3, 4, 5), [80] * 6) == 0.0


def test_long_texts_stand_for_themselves() -> None:
    assert math.isclose(connectedness(ROW, vectors(0, 0, 0, 1, 1, 1), [400] * 6), 0.25)
    assert connectedness(ROW, vectors(0, 0, 0, 1, 1, 1), [2000] * 6) == 0.0


def test_memories_without_neighbours_are_no_conversation() -> None:
    assert connectedness({1: (None, None)}, vectors(0), [80]) == 0.0
    assert connectedness({}, vectors(), []) == 0.0


def test_the_weights_of_terms_follow_from_known_scores() -> None:
    texts = wording("rare common", "common x", "rare y", "common common")
    counted = saturation(texts, texts.counts(["rare", "common"]))
    rare, common = term_weights(counted, counted @ [4.0, 0.5])
    assert math.isclose(rare, 4.0, rel_tol=0.05)
    assert math.isclose(common, 0.5, rel_tol=0.2)
    assert term_weights(counted, np.zeros(4)).tolist() == [0.0, 0.0]


def test_a_word_of_the_turn_before_counts_for_the_answer() -> None:
    worth = np.array([[2.0], [0.0], [0.0], [0.0], [0.0], [0.0]])
    rows = neighbour_rows(ROW, {seq: seq - 1 for seq in ROW}, len(ROW))
    scores = words_in_context(worth, rows, 1.0)
    assert scores[0] > scores[1] > scores[2] > 0 == scores[3]
    assert words_in_context(worth, rows, 0.0)[1] == 0.0


def test_a_near_word_counts_by_closeness_and_rarity_and_less_than_the_word_itself() -> None:
    texts = wording("sport", "soccer", "chess", "rain", "rain wind", "wind")
    near = [{"soccer": 0.6, "chess": 0.3, "rain": 0.3}]
    worth = np.array([[2.0], [0.0], [0.0], [0.0], [0.0], [0.0]])
    found = with_near_words(worth, texts, near, np.array([1.5]), 1.0)[:, 0]
    assert found[0] == 2.0 > 1.5 >= found[1] > found[2] > found[3] == found[4] > found[5] == 0.0
    assert (with_near_words(worth, texts, near, np.array([1.5]), 0.0) == worth).all()
    unknown = with_near_words(0 * worth, texts, near, np.array([0.0]), 1.0)[:, 0]
    assert unknown[1] > 0


def test_meaning_is_raised_towards_the_best_neighbour_and_never_lowered() -> None:
    rows = neighbour_rows({1: (None, 2), 2: (1, None)}, {1: 0, 2: 1}, 2)
    first, second = meaning_in_context(np.array([0.9, 0.1, 0.0]), rows, 1.0)
    assert first == 0.9
    assert 0.1 < second < 0.9
