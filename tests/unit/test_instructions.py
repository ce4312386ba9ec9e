"""Standing instructions are told from other memories, and the best of them is lifted."""

import pytest

from mcp_memory.ranking.fusion import INSTRUCTED, with_instruction
from mcp_memory.text.instructions import is_instruction


@pytest.mark.parametrize(
    "text",
    [
        "Always answer in metric units.",
        "user: Please never suggest peanuts in recipes.",
        "Give two options whenever I ask for a restaurant.",
        "From now on, write commit messages in English.",
        "Siempre responde en español neutro.",
        "Cuando pregunte por fechas, usa el formato ISO.",
        "Wenn ich nach Zügen frage, nenne auch den Preis.",
        "Quand je demande une recette, compte pour quatre.",
    ],
)
def test_a_sentence_that_says_how_to_answer_is_an_instruction(text: str) -> None:
    assert is_instruction(text)


@pytest.mark.parametrize(
    "text",
    [
        "Always good to hear from you!",
        "Ana said on 9 July: Never been to Lisbon, but I want to go.",
        "The cache is always warm after a deploy.",
        "Nora never eats peanuts.",
        "Ana preguntó cuándo sale el tren.",
    ],
)
def test_a_fact_with_such_a_word_is_not(text: str) -> None:
    assert not is_instruction(text)


def test_only_the_best_instruction_is_raised() -> None:
    scores = {1: 0.5, 2: 0.3, 3: 0.2}
    raised = with_instruction(scores, {2, 3})
    assert raised == {1: 0.5, 2: 0.3 + INSTRUCTED, 3: 0.2}
    assert with_instruction(scores, {9}) == scores


def test_an_instruction_that_matches_half_as_well_as_the_tenth_result_is_among_the_first_ten() -> None:
    others = {key: 1.0 - key / 100 for key in range(1, 21)}
    assert list(with_instruction({**others, 99: 0.5}, {99})).index(99) == 9
    assert list(with_instruction({**others, 99: 0.3}, {99})).index(99) == 20
    assert next(iter(with_instruction({**others, 99: 0.95}, {99}))) == 99
