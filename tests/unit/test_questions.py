"""Which questions ask for several things or an overview, and which words are near in meaning."""

import pytest

from mcp_memory.text.questions import asks_for_overview, asks_for_several
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
        "Would Ana likely enjoy a concert?",
        "What might Ben study next?",
        "What do both Ana and Ben collect?",
    ],
)
def test_lists_counts_and_experiences_ask_for_several(question: str) -> None:
    assert asks_for_several(question)


@pytest.mark.parametrize(
    "question",
    [
        "When did Ana move?",
        "What did Ben buy?",
        "Who is this?",
        "Why are they late?",
        "Could you tell me when she moved?",
        "sports",
        "",
        "What?",
    ],
)
def test_other_questions_ask_for_one(question: str) -> None:
    assert not asks_for_several(question)


@pytest.mark.parametrize(
    "request_",
    [
        "Can you give me a summary of what we decided about the roof?",
        "Please summarise our talks about Lisbon.",
        "List the order in which I brought up parts of the budget.",
        "In what order did the outages happen?",
        "Hazme un resumen de lo que sabes de Marta.",
        "¿En qué orden visité las ciudades?",
        "Eine Zusammenfassung der Treffen, bitte.",
        "Fais-moi un résumé du projet.",
    ],
)
def test_summaries_and_orders_of_events_are_overviews(request_: str) -> None:
    assert asks_for_overview(request_)


@pytest.mark.parametrize(
    "request_",
    [
        "What does my resume cost each month?",
        "When does the job resume?",
        "Who updated my résumé?",
        "Which pizza did we order?",
        "What must I do in order to pass?",
        "",
    ],
)
def test_other_requests_are_not(request_: str) -> None:
    assert not asks_for_overview(request_)


def test_near_words_are_found_by_stem_with_their_closeness() -> None:
    assert 0.2 <= near_words("sport")["swim"] < near_words("sport")["soccer"] < 1
    assert near_words("instrument")["violin"] > 0
    assert not near_words("zzyzx")
