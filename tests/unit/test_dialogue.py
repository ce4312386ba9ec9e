"""What turns of a dialogue add to their scores."""

import math

import numpy as np

from mcp_memory.ranking.dialogue import (
    NEXT,
    PREVIOUS,
    THREADED,
    ReadTurn,
    TurnReadings,
    TurnSigns,
    alternation,
    closeness,
    exchange,
    feedback,
    in_thread,
    moved_by_thread,
    turn_readings,
)
from mcp_memory.ranking.spreading import share_of_neighbours
from mcp_memory.ranking.unit_vectors import Neighbours, NeighbourVectors, neighbour_rows
from mcp_memory.ranking.wording import Vocabulary, Wording


def readings(
    text: str,
    before: str = "",
    names: tuple[str, ...] = (),
    closeness: float = 1.0,
    several: float = 0.0,
) -> TurnReadings:
    """Of one turn, number 1, and of the one before it, number 2, if there is one."""
    turns = [ReadTurn.of(each, each.lower().split()) for each in (text, before) if each]
    around: dict[int, Neighbours] = {1: (2 if before else None, None)}
    return turn_readings(
        list(around),
        TurnSigns.of(turns).naming(names),
        neighbour_rows(around, {1: 0, 2: 1}, len(turns)),
        median_length=len(turns[0].words),
        closeness=closeness,
        alternation=1.0,
        several=several,
    )


def read(text: str, before: str = "", names: tuple[str, ...] = (), closeness: float = 1.0) -> float:
    return readings(text, before, names, closeness).raised({1: 1.0})[1]


def test_an_answer_counts_more_than_a_remark_and_a_question_less() -> None:
    remark = read("It was a long day.")
    assert read("It was a long day.", before="How was it?") > remark > read("Was it a long day?")


def test_a_turn_by_somebody_the_query_names_counts_more() -> None:
    assert read("ana said: I moved", names=("ana",)) > read("ben said: I moved", names=("ana",))


def test_a_turn_by_somebody_named_is_lifted_where_several_things_are_asked_for() -> None:
    def lifted(text: str, several: float) -> float:
        return readings(text, names=("ana",), several=several).raised({1: 0.5})[1]

    assert lifted("ana said: I ski", 1.0) > lifted("ana said: I ski", 0.0)
    assert lifted("ben said: I ski", 1.0) == lifted("ben said: I ski", 0.0)


def test_the_bonuses_of_a_turn_can_be_told_one_by_one() -> None:
    found = readings("ana said: I moved", before="Where to?", names=("ana",))
    turn = found.get(1)
    assert turn is not None
    assert (turn.subject > 0, turn.question, turn.answer > 0, turn.detail, turn.lift) == (True, 0, True, 0, 0)
    assert math.isclose(found.raised({1: 0.5})[1], 0.5 + turn.subject + turn.answer)
    assert found.get(3) is None


def test_memories_that_are_no_dialogue_gain_nothing() -> None:
    assert closeness(0.4) == 0.0
    assert read("ana said: I moved", "Where?", names=("ana",), closeness=0.0) == 1.0


def test_a_question_mark_tells_nothing_where_nearly_all_ask() -> None:
    assert alternation(["Can you help?", "How do I sort?", "Thanks."]) == 0.0
    assert alternation(["How was it?", "Fine.", "Good.", "We left early."]) == 1.0


def test_rare_words_of_the_best_results_lead_to_others() -> None:
    said = {
        1: "ana plays violin",
        2: "orchestra violin tour",
        3: "bread recipe",
        4: "ana bread",
        5: "rain today",
        6: "ana rain",
    }
    vocabulary = Vocabulary()
    texts = Wording([vocabulary.text(text.split()) for text in said.values()])
    assert feedback(list(said), texts, {1: 1.0}, ["ana"]).keys() == {1, 2}
    assert feedback(list(said), texts, {}, ["ana"]) == {}


def test_facts_that_are_stored_one_after_the_other_share_less_than_turns() -> None:
    assert share_of_neighbours(0.0) < share_of_neighbours(1.0) == 0.2


def test_a_turn_in_its_thread_means_what_the_turns_beside_it_are_about() -> None:
    places = np.arange(3)
    rows = neighbour_rows({7: (None, 8), 8: (7, 9), 9: (8, 6)}, {7: 0, 8: 1, 9: 2}, 3)
    vectors = NeighbourVectors.of(np.eye(4, 3), places, rows)
    cosines = np.array([1.0, 0.0, 0.0, 0.0])
    first, second, third = in_thread(cosines, vectors, vectors.known, places)
    assert math.isclose(first, 1 / math.hypot(1, NEXT), rel_tol=1e-5)
    assert math.isclose(second, PREVIOUS / math.hypot(PREVIOUS, 1, NEXT), rel_tol=1e-5)
    assert third == 0.0
    alone = in_thread(cosines, vectors, np.array([True, False, False, False]), places[:1])
    assert alone.tolist() == [1.0]


def test_the_thread_moves_meaning_up_and_down_as_far_as_turns_answer_each_other() -> None:
    meaning, alone, threaded = np.array([0.5, 0.4]), np.array([0.5, 0.2]), np.array([0.3, 0.6])
    first, second = moved_by_thread(meaning, alone, threaded, 1.0)
    assert math.isclose(first, 0.5 - 0.2 * THREADED)
    assert math.isclose(second, 0.4 + 0.4 * THREADED)
    assert (moved_by_thread(meaning, alone, threaded, 0.0) == meaning).all()


def test_requests_and_loose_remarks_are_no_exchange() -> None:
    talk = ["How was it?", "Fine.", "Good.", "We left early."]
    assert exchange(1.0, alternation(talk)) == 1.0
    assert exchange(0.6, alternation(talk)) == 0.0
    assert exchange(1.0, alternation(["Can you help?", "How do I sort?", "Thanks."])) == 0.0
