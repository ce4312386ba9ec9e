"""Which questions ask for several things, and which words are near in meaning."""

import pytest

from mcp_memory.text.questions import asks_for_several
from mcp_memory.text.thesaurus import near_words


@pytest.mark.parametrize(
    "question",
    [
        "What sports does Ana play?",
        "Which of the cities did Ben visit?",
        "How many trips did they make?",
        "Where has Ana been?",
        "In what ways does Ben help?",
        "What are the names of her cats?",
    ],
)
def test_lists_counts_and_experiences_ask_for_several(question: str) -> None:
    assert asks_for_several(question)


@pytest.mark.parametrize(
    "question",
    ["When did Ana move?", "What did Ben buy?", "Who is this?", "Why are they late?", "sports", "", "What?"],
)
def test_other_questions_ask_for_one(question: str) -> None:
    assert not asks_for_several(question)


def test_near_words_are_found_by_stem_with_their_closeness() -> None:
    assert 0.2 <= near_words("sport")["swim"] < near_words("sport")["soccer"] < 1
    assert near_words("instrument")["violin"] > 0
    assert not near_words("zzyzx")
