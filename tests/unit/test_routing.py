import pytest

from mcp_memory.ranking.limbic import Scored
from mcp_memory.ranking.routing import Strategy, routed, strategy_for


@pytest.mark.parametrize(
    ("query", "limit", "expected"),
    [
        ("¿Qué es SQLite?", 5, Strategy.COSINE_HEAVY),  # +2 +1
        ("que es sqlite", 5, Strategy.COSINE_HEAVY),
        ("QUE\u0301 ES sqlite y para que sirve aqui", 5, Strategy.COSINE_HEAVY),  # composed or not
        ("what is the name of our database", 5, Strategy.COSINE_HEAVY),
        ("What's the name of our database", 5, Strategy.COSINE_HEAVY),
        ("how does the embedding cache work in practice", 5, Strategy.COSINE_HEAVY),
        ("cómo funciona la caché de los vectores nuevos", 5, Strategy.COSINE_HEAVY),
        ("INV-21047", 3, Strategy.COSINE_HEAVY),  # +1 short, +1 few results
        ("explícame cómo llegamos a esta arquitectura", 5, Strategy.LIMBIC_HEAVY),
        ("explicame como llegamos a esta arquitectura", 5, Strategy.LIMBIC_HEAVY),
        ("explain how we came to this architecture", 5, Strategy.LIMBIC_HEAVY),
        ("tell me everything on the memory project", 5, Strategy.LIMBIC_HEAVY),
        ("cuéntame del proyecto y de su historia", 10, Strategy.LIMBIC_HEAVY),
        ("a long list of words without any sign in it at all", 10, Strategy.LIMBIC_HEAVY),  # -1 -1
        ("deploy notes for the web site", 5, Strategy.HYBRID_BALANCED),
        ("memory project", 10, Strategy.HYBRID_BALANCED),  # +1 -1
        ("relación entre el motor y el índice", 5, Strategy.HYBRID_BALANCED),  # +1 -2
        ("relationship between engine and index", 5, Strategy.HYBRID_BALANCED),
        ("the thesis answers many things here", 5, Strategy.HYBRID_BALANCED),  # "es un", "is a" inside words
        ("", 5, Strategy.HYBRID_BALANCED),
    ],
)
@pytest.mark.seed("002 routing")
def test_the_wording_decides_the_strategy(query: str, limit: int, expected: Strategy) -> None:
    assert strategy_for(query, limit) is expected


def scored(key: int, score: float, base: float, deboost: float = 1.0) -> Scored:
    return Scored(
        key=key, score=score, base=base, deboost=deboost, importance=0, temporal_factor=1, cooc_boost=0
    )


FOUND = [scored(1, 1.0, 0.62), scored(2, 0.8, 0.8), scored(3, 0.5, 0.9, 0.7)]


def test_a_balanced_search_goes_by_the_limbic_score() -> None:
    assert routed(FOUND, Strategy.HYBRID_BALANCED) == {1: 1.0, 2: 0.8, 3: 0.5}


def test_a_definition_leans_to_relevance() -> None:
    # limbic moved to 0..1: 1.0, 0.6, 0.0; relevance 0.62, 0.8, 0.63
    assert routed(FOUND, Strategy.COSINE_HEAVY) == pytest.approx({2: 0.74, 1: 0.734, 3: 0.441})
    assert list(routed(FOUND, Strategy.COSINE_HEAVY)) == [2, 1, 3]


def test_a_story_leans_to_use() -> None:
    assert routed(FOUND, Strategy.LIMBIC_HEAVY) == pytest.approx({1: 0.886, 2: 0.66, 3: 0.189})


def test_leaning_to_use_still_respects_clear_relevance() -> None:
    found = [scored(1, 0.9, 0.5), scored(2, 0.3, 0.8), scored(3, 0.1, 0.5)]
    # 1 has 0.15 + 0.7; 2 has 0.24 + 0.7 × 0.25 and is 1.6 times as relevant, so 1 is held there.
    assert routed(found, Strategy.LIMBIC_HEAVY) == pytest.approx({2: 0.415, 1: 0.415, 3: 0.15})
    assert list(routed(found, Strategy.LIMBIC_HEAVY)) == [2, 1, 3]


def test_nothing_is_routed_to_nothing() -> None:
    assert routed([], Strategy.COSINE_HEAVY) == {}
