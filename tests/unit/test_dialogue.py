"""What turns of a dialogue add to their scores."""

from mcp_memory.ranking.dialogue import alternation, closeness, feedback, turn_reading
from mcp_memory.ranking.spreading import share_of_neighbours


def read(text: str, before: str = "", names: tuple[str, ...] = (), closeness: float = 1.0) -> float:
    words = text.lower().split()
    return turn_reading(
        text, words, before, names=names, median_length=len(words), closeness=closeness, alternation=1.0
    ).bonus


def test_an_answer_counts_more_than_a_remark_and_a_question_less() -> None:
    remark = read("It was a long day.")
    assert read("It was a long day.", before="How was it?") > remark > read("Was it a long day?")


def test_a_turn_by_somebody_the_query_names_counts_more() -> None:
    assert read("ana said: I moved", names=("ana",)) > read("ben said: I moved", names=("ana",))


def test_memories_that_are_no_dialogue_gain_nothing() -> None:
    assert closeness(0.4) == 0.0
    assert read("ana said: I moved", "Where?", names=("ana",), closeness=0.0) == 0.0


def test_a_question_mark_tells_nothing_where_nearly_all_ask() -> None:
    assert alternation(["Can you help?", "How do I sort?", "Thanks."]) == 0.0
    assert alternation(["How was it?", "Fine.", "Good.", "We left early."]) == 1.0


def test_rare_words_of_the_best_results_lead_to_others() -> None:
    words = {
        1: {"ana", "plays", "violin"},
        2: {"orchestra", "violin", "tour"},
        3: {"bread", "recipe"},
        4: {"ana", "bread"},
        5: {"rain", "today"},
        6: {"ana", "rain"},
    }
    found = feedback(words, {1: 1.0}, ["ana"])
    assert found[2] > found[3] == found[5] == 0.0
    assert feedback(words, {}, ["ana"]) == {}


def test_facts_that_are_stored_one_after_the_other_share_less_than_turns() -> None:
    assert share_of_neighbours(0.0) < share_of_neighbours(1.0) == 0.2
