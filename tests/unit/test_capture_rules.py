"""What is kept of a conversation: judged on labelled turns, and by the examples beside each rule."""

from __future__ import annotations

import doctest
import importlib
from pathlib import Path

import pytest
from tools.capture_report import (
    JUDGED,
    JUDGED_LAST,
    JUDGED_LATER,
    JUDGED_NEWEST,
    ORDINARY,
    judge,
    read_turns,
    score,
)

from mcp_memory.capture import Turn, candidates
from mcp_memory.capture.candidates import CALL_RULES, SENTENCE_RULES, explained
from mcp_memory.text.secrets import HIDDEN, redacted

MODULES = (
    "clauses",
    "weighing",
    "requests",
    "preferences",
    "corrections",
    "decisions",
    "todos",
    "facts",
    "fixes",
    "commits",
)


@pytest.mark.parametrize("name", MODULES)
def test_the_examples_of_a_rule_hold(name: str) -> None:
    result = doctest.testmod(importlib.import_module(f"mcp_memory.capture.{name}"))
    assert result.attempted
    assert not result.failed


@pytest.mark.parametrize("half", ["seen", "unseen"])
@pytest.mark.parametrize("lang", ["en", "es"])
def test_most_of_what_is_kept_is_worth_it_and_most_of_what_is_worth_it_is_kept(half: str, lang: str) -> None:
    verdicts = [judge(turn) for turn in read_turns() if turn.half == half and turn.lang == lang]
    assert score(verdicts).precision >= 0.85
    assert score(verdicts).recall >= 0.6


@pytest.mark.parametrize(("half", "precision", "recall"), [("seen", 0.9, 0.9), ("unseen", 0.9, 0.8)])
def test_turns_of_somebody_who_had_not_read_the_rules_are_judged_no_worse_than_measured(
    half: str, precision: float, recall: float
) -> None:
    of = score([judge(turn) for turn in read_turns(JUDGED) if turn.half == half])
    assert of.precision >= precision
    assert of.recall >= recall


@pytest.mark.parametrize(
    ("turns", "precision", "recall"),
    [(JUDGED_LATER, 0.85, 0.8), (JUDGED_LAST, 0.9, 0.75), (JUDGED_NEWEST, 0.9, 0.9)],
)
def test_turns_of_later_authors_are_judged_no_worse_than_measured(
    turns: Path, precision: float, recall: float
) -> None:
    of = score([judge(turn) for turn in read_turns(turns)])
    assert of.precision >= precision
    assert of.recall >= recall


def test_of_ordinary_work_hardly_anything_is_kept() -> None:
    assert score([judge(turn) for turn in read_turns(ORDINARY)]).found <= 4


def test_what_was_kept_says_what_spoke_for_it() -> None:
    assert "of a group +" in explained("decision", "We're going with Tauri because it is small.")


@pytest.mark.parametrize("rule", [*SENTENCE_RULES, *CALL_RULES])
def test_every_rule_is_precise_by_itself(rule: str) -> None:
    of = score([judge(turn) for turn in read_turns()], rule)
    assert of.wanted >= 4, "too few labels to judge by"
    assert of.precision >= 0.8
    assert of.recall >= 0.6


def test_there_are_enough_labelled_turns() -> None:
    assert len(read_turns()) >= 300


def kept(text: str) -> list[str]:
    return [one.text for one in candidates([Turn(id="1", text=text)])]


def test_what_is_private_stays_so_even_when_the_tag_is_never_closed() -> None:
    assert kept("<private>My name is Ines.") == []
    assert kept("<private>a</private> My name is Ines.") == ["My name is Ines."]


def test_what_was_injected_is_not_captured_again() -> None:
    block = '<mcp-memory note="data">\n- We never deploy on Fridays.\n</mcp-memory>\nMy name is Ines.'
    assert kept(block) == ["My name is Ines."]
    assert kept("<hook_context>Always use tabs.</hook_context> hello") == []


def test_quotes_code_and_logs_are_nobodys_words() -> None:
    assert kept("> We never deploy on Fridays.") == []
    assert kept("```\nWe never deploy on Fridays.\n```") == []
    assert kept("2026-01-02 10:00:00 We always retry three times.") == []


def test_a_secret_in_a_sentence_is_hidden() -> None:
    [text] = kept("Remember that the api key is sk-proj-abcdefghijklmnop1234567890.")
    assert "abcdefghijklmnop" not in text
    assert HIDDEN in text


def test_a_fact_that_is_only_a_secret_is_not_kept() -> None:
    assert kept("the db password is hunter2-Prod-99, user heron") == []


def test_what_is_told_before_a_question_or_a_task_is_kept_without_it() -> None:
    assert kept("my sister Ola lives in Bergen, could you suggest a present?") == [
        "my sister Ola lives in Bergen"
    ]
    assert kept("im vegetarian and cant stand aubergine, what can i do with chickpeas") == [
        "im vegetarian and cant stand aubergine"
    ]
    assert kept("We have 3 hours in Rome between the trains, what can we see?") == []


def test_a_pasted_mail_is_its_writers() -> None:
    mail = (
        "From: Carla <c@x.example>\nSubject: rooms\n\nFrom now on always book rooms online. Never email me.\n"
    )
    assert kept(mail) == []
    assert kept(f"{mail}-- \nI prefer short answers.") == ["I prefer short answers."]


@pytest.mark.parametrize(
    "text",
    [
        "In all my docs use British spelling.",
        'When I say "the warehouse" I mean Snowflake, not the building.',
        "As a rule I want type hints on every public function.",
        "Don't touch the migrations folder, alembic owns it.",
        "Let's keep python 3.11 because of airflow.",
        "Turned out I had to run the seeds before the models.",
    ],
)
def test_rules_meanings_and_lessons_in_passing_are_kept(text: str) -> None:
    assert kept(text) == [text]


@pytest.mark.parametrize(
    "text",
    [
        "keep your answers under 100 words unless I ask for more",
        "please answer in Spanish even when I write in English",
        "when you give me commands, put each one in its own block",
        "for slides I prefer one idea per slide",
        "no bullet points in letters to clients",
        "I find tables easier to read than prose",
        "just code, no explanations, I can read it myself",
        "functions over classes wherever possible",
        "we write our commit messages in English, in the imperative",
        "use pnpm, not npm, in this repo",
        "remember: the alarm code changes on the first of the month",
        "las fechas siempre en formato día/mes/año",
        "cuando corrijas mis textos, marca los cambios en negrita",
        "en esta empresa el código se comenta en inglés",
    ],
)
def test_how_somebody_wants_things_done_is_kept_in_many_wordings(text: str) -> None:
    assert kept(text) == [text]


@pytest.mark.parametrize(
    "text",
    [
        "use the blue one, not the red one, for this page",
        "for this slide I want a bigger title",
        "when you run the script, use the -v flag this time",
        "just the second table, no header",
        "we test this with 10 users first",
        "don't suggest anything yet, let me explain first",
        "stop printing every row, it floods the terminal",
        "that's not what I asked for. I asked for a bar chart",
        "we have a meeting in 10 minutes so just give me the short version",
        "nunca funciona a la primera",
        "cuando ejecutas el script, usa la opción -v",
        "aquí los datos salen duplicados",
    ],
)
def test_how_the_task_at_hand_is_to_be_done_is_not(text: str) -> None:
    assert kept(text) == []


@pytest.mark.parametrize(
    "text",
    [
        "I wanna deploy on fridays said no one ever",
        "tengo que irme, luego seguimos",
        "don't touch that, it's fine",
        "let's use the second one because it is shorter",
    ],
)
def test_jokes_farewells_and_orders_of_the_moment_are_not(text: str) -> None:
    assert kept(text) == []


@pytest.mark.parametrize(
    ("text", "secret"),
    [
        ("postgresql://me:hunter22@db/x", "hunter22"),
        ("my password is correcthorse9", "correcthorse9"),
        ("AWS AKIAIOSFODNN7EXAMPLE", "AKIAIOSFODNN7EXAMPLE"),
        ("Authorization: Bearer abcdef1234567890XYZ", "abcdef1234567890XYZ"),
        ("la contraseña es Luna-2024", "Luna-2024"),
    ],
)
def test_secrets_are_redacted(text: str, secret: str) -> None:
    assert secret not in redacted(text)


def test_talk_about_secrets_is_kept() -> None:
    assert redacted("the token is rotated every 90 days") == "the token is rotated every 90 days"


def test_a_sentence_said_twice_is_kept_once() -> None:
    assert kept("We never deploy on Fridays. We never deploy on Fridays!") == ["We never deploy on Fridays."]


def test_a_huge_paste_is_not_read_as_speech() -> None:
    assert len(kept("\n".join(f"We never deploy service{n} on Fridays." for n in range(5000)))) <= 16
