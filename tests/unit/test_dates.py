"""Times that a question or a memory names."""

from __future__ import annotations

from datetime import UTC, date, datetime

import pytest

from mcp_memory.text.dates import Period, asked_for, is_from

NOW = datetime(2023, 10, 22, 9, 55, tzinfo=UTC)  # a Sunday


def days(start: str, end: str) -> Period:
    return Period(date.fromisoformat(start), date.fromisoformat(end))


@pytest.mark.parametrize(
    ("question", "start", "end"),
    [
        ("What did she do in 2023?", "2023-01-01", "2024-01-01"),
        ("what did we decide in May 2023", "2023-05-01", "2023-06-01"),
        ("What did the kids paint in July, 2022?", "2022-07-01", "2022-08-01"),
        ("When did Melanie go camping in June?", "2023-06-01", "2023-07-01"),
        ("What did I buy in December?", "2022-12-01", "2023-01-01"),
        ("what was decided in may", "2023-05-01", "2023-06-01"),
        ("Who moved in mid-August 2023?", "2023-08-01", "2023-09-01"),
        ("What broke last May?", "2023-05-01", "2023-06-01"),
        ("What happened on 7 May 2023?", "2023-05-07", "2023-05-08"),
        ("What happened on May 7?", "2023-05-07", "2023-05-08"),
        ("What did she share on October 13, 2023?", "2023-10-13", "2023-10-14"),
        ("What did Gina find on 1 February, 2023?", "2023-02-01", "2023-02-02"),
        ("the 21st of July", "2023-07-21", "2023-07-22"),
        ("Sept 3 2021", "2021-09-03", "2021-09-04"),
        ("notes of 2023-05-07", "2023-05-07", "2023-05-08"),
        ("What did I do yesterday?", "2023-10-21", "2023-10-22"),
        ("Where did we eat last night?", "2023-10-21", "2023-10-22"),
        ("Who called last friday?", "2023-10-20", "2023-10-21"),
        ("What did we ship last week?", "2023-10-09", "2023-10-16"),
        ("the plan of this week", "2023-10-16", "2023-10-23"),
        ("What did it cost last month?", "2023-09-01", "2023-10-01"),
        ("Where were we last year?", "2022-01-01", "2023-01-01"),
        ("Where were we last summer?", "2023-06-01", "2023-09-01"),
        ("a pride parade during the summer", "2023-06-01", "2023-09-01"),
        ("in the summer of 2021", "2021-06-01", "2021-09-01"),
        ("Who came two weeks ago?", "2023-10-05", "2023-10-12"),
        ("Who came 3 days ago?", "2023-10-19", "2023-10-20"),
        ("Who came a few months ago?", "2023-07-01", "2023-08-01"),
        ("What changed in the past two weeks?", "2023-10-08", "2023-10-23"),
        ("What changed since May 2023?", "2023-05-01", "2023-10-23"),
        ("What changed since May?", "2023-05-01", "2023-10-23"),
        ("between May and July 2023", "2023-05-01", "2023-08-01"),
        ("from November to January", "2022-11-01", "2023-02-01"),
        ("¿Qué hicimos la semana pasada?", "2023-10-09", "2023-10-16"),
        ("¿Dónde estuvimos el verano pasado?", "2023-06-01", "2023-09-01"),
        ("¿Qué pasó el 7 de mayo de 2023?", "2023-05-07", "2023-05-08"),
        ("¿Qué compré en mayo?", "2023-05-01", "2023-06-01"),
        ("¿Quién llamó hace dos semanas?", "2023-10-05", "2023-10-12"),
        ("¿Quién llamó ayer?", "2023-10-21", "2023-10-22"),
        ("¿Dónde vivía el año pasado?", "2022-01-01", "2023-01-01"),
    ],
)
def test_a_question_names_a_time(question: str, start: str, end: str) -> None:
    assert asked_for(question, NOW) == (days(start, end),)


@pytest.mark.parametrize(
    "question",
    [
        "What may Nora eat?",
        "May I ask who is on call?",
        "this may help",
        "Of ten guests 7 may come",
        "We march 5 miles",
        "May 7 people come?",
        "Who is June?",
        "What did April say to August?",
        "in 2000 patients",
        "the port is 2048",
        "release 2023.1",
        "How long ago was it?",
        "How do I undo the last release?",
        "Who won the last two games?",
        "What was it before May 2023?",
        "the plan until May",
        "31 February 2023",
        "When did Caroline go to the museum?",
        "¿Cuándo fue al museo?",
        "2023-05-01 ok\n2023-05-02 ok\n2023-05-03 failed: what happened?",
        "",
    ],
)
def test_a_question_names_no_time(question: str) -> None:
    assert asked_for(question, NOW) == ()


def test_two_times_may_be_meant() -> None:
    assert asked_for("Did she run in May 2022 or in June 2023?", NOW) == (
        days("2022-05-01", "2022-06-01"),
        days("2023-06-01", "2023-07-01"),
    )


@pytest.mark.parametrize(
    ("text", "said_on", "found"),
    [
        ("We went camping", "2023-05-20", True),
        ("We went camping", "2023-06-01", False),
        ("We went camping yesterday", "2023-06-01", True),
        ("We went camping last month", "2023-06-20", True),
        ("We went camping on May 7", "2023-08-01", True),
        ("We went camping on 7 May 2022", "2023-08-01", False),
        ("We went camping in 2023", "2023-08-01", False),
        ("Fuimos al campo el mes pasado", "2023-06-20", True),
    ],
)
def test_a_memory_is_from_the_time_it_was_made_or_names(text: str, said_on: str, found: bool) -> None:
    asked = asked_for("What did we do in May 2023?", NOW)
    assert is_from(asked, text, date.fromisoformat(said_on)) is found
