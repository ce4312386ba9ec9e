"""Which prompts anybody could ask, and which speak of the person's own things."""

from __future__ import annotations

import doctest

import pytest

from mcp_memory.ranking import certainty
from mcp_memory.ranking.certainty import FLOOR, least_certainty
from mcp_memory.text import generality
from mcp_memory.text.generality import asks_in_general, is_about_the_person

KNOWN = ("Snowflake query tags must hold the DAG's name.", "Airflow tasks were killed with exit code 137.")


@pytest.mark.parametrize("module", [generality, certainty])
def test_the_examples_hold(module: object) -> None:
    assert not doctest.testmod(module).failed  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "prompt",
    [
        "what is the difference between a view and a materialized view in Snowflake",
        "how does Airflow's scheduler pick the next task, in general",
        "which Airflow version introduced datasets",
        "what are the advantages of Snowflake over a row store",
        "git: how do I squash my last three commits",
        "write a poem for my grandmother",
        "¿qué es el aprendizaje basado en proyectos?",
        "qué tren era más rápido, el AVE o el TGV",
    ],
)
def test_a_question_about_a_whole_kind_is_general_whatever_names_it_holds(prompt: str) -> None:
    assert asks_in_general(prompt, KNOWN)


@pytest.mark.parametrize(
    "prompt",
    [
        "what tags does our Snowflake need",
        "¿qué probetas pido para la práctica?",
        "¿cuándo era al final la feria?",
        "¿qué me queda por preparar?",
    ],
)
def test_a_question_about_ones_own_things_is_not(prompt: str) -> None:
    assert not asks_in_general(prompt, KNOWN)


def test_a_thing_at_hand_is_not_the_persons_own() -> None:
    assert not is_about_the_person("make this function shorter")
    assert is_about_the_person("make our release notes shorter")


def test_less_is_asked_of_memories_for_ones_own_things_and_more_for_general_questions() -> None:
    own = least_certainty(FLOOR, is_general=False, is_own=True)
    general = least_certainty(FLOOR, is_general=True, is_own=False)
    assert own < FLOOR < general
