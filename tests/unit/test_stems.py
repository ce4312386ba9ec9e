"""Texts in other languages are found by their own stems, and function words of their own are left out."""

import pytest

from mcp_memory.text.stems import function_words, indexed_text, indexed_words, language_of, stems
from mcp_memory.text.words import query_terms, tokens


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("Nora prefiere los trenes de noche", "spanish"),
        ("¿Cuándo vuelve?", "spanish"),
        ("Die Katzen schlafen auf dem Sofa", "german"),
        ("Les chats dorment sur le canapé", "french"),
        ("Onde moram os primos?", "portuguese"),
        ("Dove vivono i cugini?", "italian"),
        ("Waar slapen de katten?", "dutch"),
        ("Где спят кошки?", "russian"),
        ("مكتبة الجامعة مفتوحة", "arabic"),
        ("Ana takes the train to El Paso", None),
        ("The plants die in war", None),
        ("Nora is in Los Angeles", None),
        ("trenes nocturnos", None),
        ("小猫在沙发上睡觉", None),
        ("", None),
    ],
)
def test_the_language_shows_in_script_and_function_words(text: str, language: str | None) -> None:
    assert language_of(text) == language


@pytest.mark.parametrize(
    ("query", "text"),
    [
        ("¿Qué trenes le gustan a Nora?", "A Nora le gusta el tren de noche"),
        ("¿Dónde vivía mi hermana?", "Mi hermana vive en Lugo desde 2019"),
        ("¿Qué canciones canta en el coro?", "La canción del coro es de Galicia"),
        ("Wo wohnten die Brüder?", "Mein Bruder wohnt nicht weit von der Schule"),
        ("Welche Bücher liest sie?", "Sie liest ein Buch über die Alpen"),
        ("Quels livres avons-nous achetés ?", "Il achète un livre pour les enfants"),
        ("Quali medicine prende la nonna?", "La nonna prende una medicina per il cuore"),
        ("Кто покупал книги?", "Мама купила книгу в Москве"),
        ("Waar slapen de katten?", "De kat slaapt niet op mijn bed"),
    ],
)
def test_another_form_of_a_word_is_found(query: str, text: str) -> None:
    sought = set(stems(query, language_of(query)))
    assert sought & set(indexed_words(text))


def test_what_is_in_english_is_indexed_as_before() -> None:
    text = "Ana takes the night train, and Bob drives"
    assert indexed_words(text) == tokens(text)


@pytest.mark.parametrize(
    "text",
    [
        "Ana takes the night train -- and Bob drives",
        "INV-21047 is in snake_case since 3.12.1",
        "Nora prefiere los trenes de noche",
        "她在 Rio de Janeiro 住了三年",
        "-- ...",
        "",
    ],
)
def test_the_words_of_a_text_as_one_text_are_the_same(text: str) -> None:
    assert indexed_text(text).split(" ") == (indexed_words(text) or [""])


def test_every_word_of_another_language_is_still_indexed_as_it_stands() -> None:
    text = "Nora prefiere los trenes de noche"
    assert indexed_words(text)[: len(tokens(text))] == tokens(text)


def test_function_words_of_the_language_are_not_looked_for() -> None:
    query = "Wo wohnt der Bruder von Anna?"
    assert query_terms(query, without=function_words(query)) == ["wohnt", "bruder", "anna"]
