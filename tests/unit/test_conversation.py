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
from mcp_memory.ranking.unit_vectors import Neighbours, NeighbourVectors, neighbour_rows
from mcp_memory.ranking.wording import Vocabulary, Wording

ROW: dict[int, Neighbours] = {
    1: (None, 2), 2: (1, 3), 3: (2, 4), 4: (3, 5), 5: (4, 6), 6: (5, None),
}  # fmt: skip


def wording(*texts: str) -> Wording:
    vocabulary = Vocabulary()
    return Wording([vocabulary.text(text.split()) for text in texts])


def connected(*topics: int, sizes: int = 80, around: dict[int, Neighbours] = ROW) -> float:
    """How far memories in a row are a conversation, each about a topic with a little of its own."""
    noise = np.random.default_rng(0).normal(scale=0.1, size=(len(topics), 8))
    rows = np.eye(8)[list(topics)] + noise
    rows /= np.linalg.norm(rows, axis=1, keepdims=True)
    places = np.arange(len(topics))
    turns = neighbour_rows(around, {seq: seq - 1 for seq in around}, len(topics))
    vectors = NeighbourVectors.of(np.vstack([rows, np.zeros(8)]), places, turns)
    return connectedness(vectors, places, [sizes] * len(topics))


def test_neighbours_about_the_same_thing_are_a_conversation() -> None:
    assert connected(0, 0, 0, 1, 1, 1) == 1.0


def test_neighbours_about_different_things_are_not() -> None:
    assert connected(0, 1, 2, 3, 4, 5) == 0.0


def test_long_texts_stand_for_themselves() -> None:
    assert math.isclose(connected(0, 0, 0, 1, 1, 1, sizes=400), 0.25)
    assert connected(0, 0, 0, 1, 1, 1, sizes=2000) == 0.0


def test_memories_without_neighbours_are_no_conversation() -> None:
    assert connected(0, around={1: (None, None)}) == 0.0
    assert connected(around={}) == 0.0


def test_memories_without_a_vector_tell_nothing_about_their_neighbours() -> None:
    rows = np.vstack([np.eye(6)[[0, 0, 0, 1, 1]], np.zeros((2, 6))])
    turns = neighbour_rows(ROW, {seq: seq - 1 for seq in ROW}, len(ROW))
    places = np.arange(len(ROW))
    five = NeighbourVectors.of(rows, places[:5], turns)
    assert connectedness(five, places, [80] * 6) == connectedness(five, places[:4], [80] * 4) == 1.0
    assert connectedness(NeighbourVectors.of(0 * rows, places[:0], turns), places, [80] * 6) == 0.0


def test_the_weights_of_terms_follow_from_known_scores() -> None:
    texts = wording("rare common", "common x", "rare y", "common common")
    counted = saturation(texts.sizes, texts.counts(["rare", "common"]))
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
