"""What lies close is found exactly, and not too much of it."""

import numpy as np

from mcp_memory.ranking.closeness import close_to_each


def test_pairs_at_least_that_close_are_found_with_their_cosine() -> None:
    rows = np.array([[1, 0], [0, 1]], np.float32)
    others = np.array([[1, 0], [0.6, 0.8], [0, -1]], np.float32)
    a, b, cosines = close_to_each(rows, others, 0.6, 10)
    found = {(int(i), int(j)): round(float(cosine), 4) for i, j, cosine in zip(a, b, cosines, strict=True)}
    assert found == {(0, 0): 1.0, (0, 1): 0.6, (1, 1): 0.8}


def test_of_one_row_only_the_closest_are_kept() -> None:
    rows = np.array([[1, 0], [0, 1]], np.float32)
    angles = np.linspace(0, np.pi / 2, 10)
    others = np.stack([np.cos(angles), np.sin(angles)], axis=1).astype(np.float32)
    a, b, _ = close_to_each(rows, others, -1, 2)
    assert list(zip(a.tolist(), b.tolist(), strict=True)) == [(0, 0), (0, 1), (1, 9), (1, 8)]


def test_nothing_is_close_to_nothing() -> None:
    none = np.zeros((0, 2), np.float32)
    assert [len(part) for part in close_to_each(none, np.ones((3, 2), np.float32), 0.5, 5)] == [0, 0, 0]
