import numpy as np
import pytest

from mcp_memory.text.containment import (
    DuplicatePair,
    Match,
    clusters,
    containment,
    duplicate,
    duplicate_pairs,
)

LONG = "Stack: FastMCP + SQLite + ONNX Runtime for embeddings"


def test_containment_is_the_share_of_the_shorter_texts_words() -> None:
    # stack, sqlite are there; postgres is not
    assert containment("Stack SQLite Postgres", LONG) == pytest.approx(2 / 3)


def test_containment_ignores_case_punctuation_and_order() -> None:
    assert containment("(sqlite), FASTMCP!", LONG) == 1.0


def test_a_text_without_words_is_contained_in_any() -> None:
    assert containment("", LONG) == containment("+ !", LONG) == 1.0


@pytest.mark.parametrize(
    ("a", "b", "cosine", "expected"),
    [
        ("one", "two", 0.85, Match(0.85, "cosine")),
        ("one", "two", 0.8499, None),
        ("FastMCP", LONG, 0.3, Match(1.0, "containment")),
        (LONG, "FastMCP", None, Match(1.0, "containment")),
        ("FastMCP", LONG, 0.9, Match(0.9, "cosine")),  # meaning goes first
        ("ab cd", "ab cd efgh", 0.1, Match(1.0, "containment")),  # exactly twice as long
        ("ab cd", "ab cd efg", 0.1, None),  # of like length
        ("MySQL and Redis", LONG, 0.1, None),
    ],
)
def test_duplicates_are_close_in_meaning_or_one_inside_the_other(
    a: str, b: str, cosine: float | None, expected: Match | None
) -> None:
    assert duplicate(a, b, cosine) == expected


def test_thresholds_can_be_chosen() -> None:
    assert duplicate("one", "two", 0.5, threshold=0.5) == Match(0.5, "cosine")
    assert duplicate("FastMCP x", LONG, 0.1, containment_threshold=0.5) == Match(0.5, "containment")


def vectors(*rows: tuple[float, float]) -> "np.ndarray[tuple[int, int], np.dtype[np.float32]]":
    return np.array(rows, dtype=np.float32)


def test_each_pair_of_duplicates_is_listed_once_with_why() -> None:
    texts = [
        LONG,
        "FastMCP",
        "Deployed on Vercel, twice a week, by Ana",
        "Deployment: Vercel, by Ana, twice weekly",
    ]
    meanings = vectors((1, 0), (0.6, 0.8), (0, 1), (0, 1))
    assert duplicate_pairs(texts, meanings) == [
        DuplicatePair(0, 1, Match(1.0, "containment")),
        DuplicatePair(2, 3, Match(1.0, "cosine")),
    ]


def test_without_vectors_containment_still_tells() -> None:
    assert duplicate_pairs(["FastMCP", LONG], None) == [DuplicatePair(0, 1, Match(1.0, "containment"))]


def test_all_pairs_are_found_as_they_are_one_by_one() -> None:
    random = np.random.default_rng(7)
    words = ["red", "green", "blue", "black", "white"]
    texts = [" ".join(random.choice(words, size=int(random.integers(1, 12)))) for _ in range(40)]
    raw = random.normal(size=(40, 3))
    meanings = (raw / np.linalg.norm(raw, axis=1, keepdims=True)).astype(np.float32)
    cosines = meanings @ meanings.T
    expected = {
        (a, b): match.match_type
        for a in range(40)
        for b in range(a + 1, 40)
        if (match := duplicate(texts[a], texts[b], float(cosines[a, b])))
    }
    assert {(p.a, p.b): p.match.match_type for p in duplicate_pairs(texts, meanings)} == expected


def test_clusters_hang_together_through_chains() -> None:
    match = Match(1.0, "cosine")
    pairs = [
        DuplicatePair(5, 7, match),
        DuplicatePair(0, 2, match),
        DuplicatePair(7, 9, match),
        DuplicatePair(2, 3, match),
        DuplicatePair(0, 3, match),
    ]
    assert clusters(pairs) == [[0, 2, 3], [5, 7, 9]]
    assert clusters([]) == []
