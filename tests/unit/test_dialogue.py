"""What turns of a dialogue add to their scores."""

import math

import numpy as np

from mcp_memory.ranking.dialogue import (
    NEXT,
    PREVIOUS,
    THREADED,
    alternation,
    closeness,
    exchange,
    feedback,
    in_thread,
    moved_by_thread,
    turn_reading,
)
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


def test_a_turn_by_somebody_named_is_lifted_where_several_things_are_asked_for() -> None:
    def lifted(text: str, several: float) -> float:
        reading = turn_reading(
            text,
            text.split(),
            "",
            names=("ana",),
            median_length=4,
            closeness=1.0,
            alternation=1.0,
            several=several,
        )
        return reading.raised(0.5)

    assert lifted("ana said: I ski", 1.0) > lifted("ana said: I ski", 0.0)
    assert lifted("ben said: I ski", 1.0) == lifted("ben said: I ski", 0.0)


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


def test_a_turn_in_its_thread_means_what_the_turns_beside_it_are_about() -> None:
    rows = np.eye(3, dtype="<f4")
    vectors = {7: rows[0].tobytes(), 8: rows[1].tobytes(), 9: rows[2].tobytes()}
    about_the_first = {7: 1.0, 8: 0.0, 9: 0.0}
    found = in_thread(about_the_first, vectors, {7: (None, 8), 8: (7, 9), 9: (8, 6), 5: (None, None)})
    assert math.isclose(found[7], 1 / math.hypot(1, NEXT), rel_tol=1e-5)
    assert math.isclose(found[8], PREVIOUS / math.hypot(PREVIOUS, 1, NEXT), rel_tol=1e-5)
    assert found[9] == 0.0
    assert 5 not in found
    assert in_thread({}, {}, {5: (None, None)}) == {}


def test_the_thread_moves_meaning_up_and_down_as_far_as_turns_answer_each_other() -> None:
    meaning, alone, threaded = {1: 0.5, 2: 0.4, 3: 0.3}, {1: 0.5, 2: 0.2}, {1: 0.3, 2: 0.6}
    moved = moved_by_thread(meaning, alone, threaded, 1.0)
    assert math.isclose(moved[1], 0.5 - 0.2 * THREADED)
    assert math.isclose(moved[2], 0.4 + 0.4 * THREADED)
    assert moved[3] == 0.3
    assert moved_by_thread(meaning, alone, threaded, 0.0) == meaning


def test_requests_and_loose_remarks_are_no_exchange() -> None:
    talk = ["How was it?", "Fine.", "Good.", "We left early."]
    assert exchange(1.0, talk) == 1.0
    assert exchange(0.6, talk) == 0.0
    assert exchange(1.0, ["Can you help?", "How do I sort?", "Thanks."]) == 0.0
