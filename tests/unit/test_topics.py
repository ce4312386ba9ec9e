import sys
from collections import Counter
from math import log

import numpy as np
import pytest
from numpy.typing import NDArray

from mcp_memory.text.clustering import average_linkage, plain_average_linkage
from mcp_memory.text.topics import (
    anchor_strengths,
    class_name,
    needs_split,
    split_score,
    threshold_for,
    topics,
)

TEXTS = [
    "The deployment runs on Vercel",
    "Database schema has twelve tables",
    "Vercel deployment needs a token",
    "The database schema lives in migrations",
    "Lunch is at noon",
]


def unit(*rows: tuple[float, ...]) -> NDArray[np.float32]:
    raw = np.array(rows, dtype=np.float32)
    normal: NDArray[np.float32] = raw / np.linalg.norm(raw, axis=1, keepdims=True)
    return normal


# deployment, database, deployment, database, and one nearer to the database
MEANINGS = unit((1, 0, 0), (0, 1, 0), (0.9, 0.1, 0), (0.1, 0.9, 0), (0.1, 0.3, 1))


@pytest.mark.parametrize(
    ("entity_type", "limit"),
    [("Sesion", 15), ("Sesión", 15), ("SESIÓN", 15), ("proyecto", 25), ("Session", 15), ("Person", 20)],
)
def test_a_limit_is_found_whatever_case_and_accents(entity_type: str, limit: int) -> None:
    assert threshold_for(entity_type) == limit


def test_limits_can_be_set_by_type() -> None:
    assert threshold_for("café", {"Cafe": 3}) == 3
    assert threshold_for("other", {"Cafe": 3}, default=7) == 7


def test_the_split_score_is_the_excess_plus_topic_diversity() -> None:
    assert split_score(28, 25) == pytest.approx(1.12)
    assert split_score(18, 15) == pytest.approx(1.2)
    assert split_score(28, 25, 7) == pytest.approx(1.12 + 0.25)
    assert split_score(28, 25, 28) == pytest.approx(1.12 + 0.5)
    assert split_score(20, 25, 9) == pytest.approx(0.8)  # at or below the limit topics do not count


def test_an_entity_needs_a_split_above_its_limit() -> None:
    assert needs_split(26, 25)
    assert not needs_split(25, 25)


def test_topics_follow_meaning_and_a_lone_text_joins_the_nearest() -> None:
    assert topics(TEXTS, MEANINGS) == {"Deployment Vercel": [0, 2], "Database Schema": [1, 3, 4]}


def test_without_vectors_topics_follow_shared_words() -> None:
    assert topics(TEXTS) == {"Deployment": [0, 2], "Database": [1, 3], "General": [4]}


def test_vectors_that_fall_into_one_group_leave_it_to_words() -> None:
    same = unit(*[(1, 0, 0)] * 5)
    assert topics(TEXTS, same) == topics(TEXTS)


def test_vectors_that_are_all_apart_leave_it_to_words() -> None:
    assert topics(TEXTS, np.eye(5, dtype=np.float32)) == topics(TEXTS)


def test_texts_that_share_nothing_are_halved() -> None:
    assert topics(["alpha", "bravo", "delta", "gamma", "omega"]) == {"Tema_A": [0, 1], "Tema_B": [2, 3, 4]}


def test_few_texts_stay_together() -> None:
    assert topics(["alpha", "bravo"]) == {"General": [0, 1]}
    assert topics([]) == {}


def test_every_text_is_in_one_topic() -> None:
    random = np.random.default_rng(3)
    raw = random.normal(size=(40, 4))
    found = topics([f"word{n % 7} number" for n in range(40)], unit(*map(tuple, raw)))
    assert sorted(i for group in found.values() for i in group) == list(range(40))


def test_groups_without_telling_words_are_numbered_and_equal_names_kept_apart() -> None:
    texts = ["42", "43", "blue lamps", "blue lamps"]
    apart = unit((1, 0), (1, 0), (0, 1), (0, 1))
    assert topics(texts, apart) == {"Tema_1": [0, 1], "Blue Lamps": [2, 3]}
    assert topics(["blue lamps"] * 4, apart) == {"Blue Lamps": [0, 1], "Blue Lamps_2": [2, 3]}


def test_function_words_of_both_languages_name_no_topic() -> None:
    texts = ["También sobre ahora servidor", "which would should kitchen"] * 2
    assert topics(texts, unit((1, 0), (0, 1), (1, 0), (0, 1))) == {"Servidor": [0, 2], "Kitchen": [1, 3]}


def test_names_keep_their_accents() -> None:
    texts = ["canción música", "jardín árbol"] * 2
    assert list(topics(texts, unit((1, 0), (0, 1), (1, 0), (0, 1)))) == ["Canción Música", "Jardín Árbol"]


def test_a_class_is_named_by_the_terms_that_are_its_own() -> None:
    # alpha 3/6 × ln(2/2) = 0; bravo 2/6 × ln 2 = 0.231; delta 1/6 × ln 2 = 0.116
    count = Counter({"alpha": 3, "bravo": 2, "delta": 1})
    assert class_name(count, {"alpha": 2, "bravo": 1, "delta": 1}, 2) == "Bravo Delta"


def test_anchors_are_shared_terms_weighed_by_tf_idf() -> None:
    strengths = anchor_strengths([["alpha", "alpha", "bravo"], ["alpha", "delta"], ["omega"]])
    # alpha: (2/3 + 1/2) × ln(3/2); the others are in one text only
    assert strengths == pytest.approx({"alpha": 7 / 6 * log(1.5)})


def test_the_plain_clustering_agrees_with_the_library() -> None:
    pytest.importorskip("scipy", reason="compares with SciPy, which is optional")
    random = np.random.default_rng(11)
    for cut in (0.2, 0.5, 0.9):
        vectors = unit(*map(tuple, random.normal(size=(60, 5))))
        distances = np.clip(1 - (vectors @ vectors.T).astype(np.float64), 0, 2)
        groups: dict[int, list[int]] = {}
        for position, label in enumerate(plain_average_linkage(distances, cut)):
            groups.setdefault(label, []).append(position)
        assert list(groups.values()) == average_linkage(vectors, cut)


def test_clustering_works_without_the_library(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "scipy.cluster.hierarchy", None)
    assert average_linkage(MEANINGS, 0.5) == [[0, 2], [1, 3], [4]]


def test_one_vector_is_one_group() -> None:
    assert average_linkage(unit((1, 0)), 0.5) == [[0]]
