import string
import threading

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from mcp_memory.text.words import (
    LONGEST_TOKEN,
    MOST_KNOWN,
    KnownWords,
    beginnings_of,
    folded,
    plain_words,
    query_terms,
    tokens,
    tokens_near,
)


def found(query: str, text: str) -> bool:
    """What an OR of the query's terms would say."""
    return bool(set(query_terms(query)) & set(tokens(text)))


@given(st.text(alphabet=st.characters()))  # lone surrogates too
def test_no_text_leaves_ascii_punctuation_spaces_or_controls_in_a_token(text: str) -> None:
    forbidden = set(string.punctuation + string.whitespace) | {chr(c) for c in range(32)}
    for token in tokens(text) + query_terms(text):
        assert token
        assert not forbidden & set(token)
        assert len(token) <= LONGEST_TOKEN
        token.encode()


@given(st.text(alphabet=st.characters(codec="ascii")))
@example("Tea,\x1cin\x0b16GB\tof snake_case don't")
@example(f"a pasted blob {'x-' * 40} and 3.12.1")
def test_a_text_in_ascii_has_the_same_words_beside_other_letters(text: str) -> None:
    assert tokens(f"{text} ñandú") == [*tokens(text), "nandu"]


@given(st.text(alphabet=st.characters(codec="utf-8")))
def test_a_text_is_found_by_itself(text: str) -> None:
    assert set(query_terms(text, most=10_000)) <= set(tokens(text))


@pytest.mark.parametrize(
    "hostile", ['"', '" OR 1=1 --', "a\x00b", "\ud800x", "NEAR(a b)", "*", "col:x", "'; DROP"]
)
def test_syntax_of_a_query_language_is_data(hostile: str) -> None:
    assert all(token.isalnum() for token in tokens(hostile))


@pytest.mark.parametrize(
    ("query", "text"),
    [
        ("INV-21047", "Paid invoice INV-21047 today"),
        ("21047", "Paid invoice INV-21047 today"),
        ("inv21047", "Paid invoice INV-21047 today"),
        ("INV-21047", "Paid invoice inv21047"),
        ("snakecase", "prefers snake_case names"),
        ("case", "prefers snake_case names"),
        ("user", "the function getUserName"),
        ("getusername", "the function getUserName"),
        ("GETUSERNAME", "the function getUserName"),
        ("server", "an HTTPServer"),
        ("lopez", "write to ana.lopez@example.com"),
        ("ana.lopez@example.com", "write to ana.lopez@example.com"),
        ("3.12.1", "needs Python 3.12.1"),
        ("16 GB", "has 16GB of memory"),
        ("14", "on March 14th"),
        ("preferred", "the user prefers tea"),
        ("the users' choices", "user choice"),
        ("OBrien", "met O'Brien"),
        ("homme", "l’homme"),
        ("cafe", "un CAFÉ"),
        ("Ñandú", "nandu"),
        ("strasse", "Hauptstraße: STRASSE"),
        ("oresund", "Øresund"),
        ("istanbul", "İstanbul"),
        ("елка", "Ёлка"),
        ("αθηνα", "Αθήνα"),
        ("שלום", "שָׁלוֹם"),
        ("محمد", "مُحَمَّـد"),
        ("٣٤", "34 people"),
        ("zerowidth", "zero\u200bwidth"),
        ("ﬁle", "a file"),
        ("ｆｕｌｌ", "full width"),
        ("大学", "北京大学的学生"),
        ("茶", "他喜欢喝茶的朋友"),
        ("使う", "日本語でPython3を使う"),
        ("python", "日本語でPython3を使う"),
        ("ガス", "ｶﾞｽ"),
        ("한국어", "한국어를 배운다"),
        ("ไทย", "ภาษาไทย"),
        ("नमस्ते", "नमस्ते दुनिया"),
        ("🍕", "likes 🍕!"),
    ],
)
def test_a_text_is_found_by(query: str, text: str) -> None:
    assert found(query, text)


@pytest.mark.parametrize(
    ("query", "text"),
    [
        ("INV-21047", "Paid invoice INW-21048 today"),
        ("हिन", "हिन्दी"),  # a vowel sign is part of the word, so this is another word
        ("京学", "北京大学"),
        ("sin", "sing a song"),
    ],
)
def test_a_text_is_not_found_by(query: str, text: str) -> None:
    assert not found(query, text)


def test_indic_words_are_not_shredded() -> None:
    assert tokens("हिन्दी में") == ["हिन्दी", "में"]


def test_a_hash_stays_whole() -> None:
    assert tokens("3f2a9b77c0de") == ["3f2a9b77c0de"]


def test_identifiers_come_by_part_and_whole() -> None:
    assert tokens("INV-21047 getUserName") == [
        "inv", "21047", "inv21047", "get", "user", "name", "getusernam",
    ]  # fmt: skip


def test_contractions_leave_no_single_letters() -> None:
    assert tokens("The user's don't she'll") == ["the", "user", "dont", "she"]


def test_function_words_of_both_languages_are_dropped_from_a_query() -> None:
    assert query_terms("What does the user prefer for the editor?") == ["user", "prefer", "editor"]
    assert query_terms("¿Qué editor prefiere el usuario?") == ["editor", "prefier", "usuario"]


def test_a_query_of_function_words_alone_keeps_them() -> None:
    assert query_terms("to be or not to be") == ["to", "be", "or", "not"]


def test_words_that_mean_something_in_the_other_language_are_kept() -> None:
    assert query_terms("my son") == ["son"]


def test_query_terms_are_distinct_in_order_and_bounded() -> None:
    assert query_terms("tea coffee teas Tea milk") == ["tea", "coffe", "milk"]
    assert query_terms("tea coffee milk", most=2) == ["tea", "coffe"]


def test_nothing_comes_of_nothing() -> None:
    assert tokens("") == query_terms(" \n ") == tokens("--- ... !?") == []


def test_a_blob_is_cut_the_same_way_in_text_and_query() -> None:
    blob = "ab" * 5_000
    assert tokens(blob) == query_terms(blob) == [blob[:LONGEST_TOKEN]]


def test_a_blob_among_words_is_not_kept() -> None:
    known = KnownWords(len)
    assert [known[word] for word in ("tea", "x" * 1000, "tea")] == [3, 1000, 3]
    assert list(known) == ["tea"]
    assert tokens(f"teas {'ab' * 5_000} cups") == ["tea", "ab" * 32, "cup"]


def test_known_words_have_a_bound() -> None:
    known = KnownWords(len)
    assert [known[str(number)] for number in range(MOST_KNOWN + 10)][-1] == len(str(MOST_KNOWN))
    assert len(known) == 10


def test_plain_words_keep_each_word_once_as_it_stands() -> None:
    assert plain_words("Ana's snake_case, CAFÉ INV-21047") == ["ana", "snake", "case", "cafe", "inv", "21047"]


def test_folding_takes_case_and_accents_only() -> None:
    assert folded("Explícame: ¿QUÉ?") == "explicame: ¿que?"
    assert folded("plain TEXT") == "plain text"


def test_threads_stem_the_same() -> None:
    words = [
        f"{letter}{stem}" for letter in string.ascii_lowercase for stem in ("ations", "ingly", "fulness")
    ]
    expected = tokens(" ".join(words))
    results: list[list[str]] = []
    threads = [threading.Thread(target=lambda: results.append(tokens(" ".join(words)))) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert results == [expected] * 4


def test_words_that_frame_a_request_are_not_looked_for() -> None:
    asked = "Can you list the order in which I brought up aspects of my garden pond?"
    assert query_terms(asked) == ["garden", "pond"]


def test_a_word_of_requests_is_looked_for_where_it_may_be_meant() -> None:
    assert query_terms("the order of the list") == ["order", "list"]
    assert "summari" in query_terms("Where is the summary of the lease contract?")


@example("He was dying", "die")
@given(st.text(max_size=80), st.text(max_size=20))
def test_reading_for_some_words_finds_them_where_reading_for_all_does(text: str, query: str) -> None:
    terms = set(query_terms(query))
    near = [token if token in terms else "" for token in tokens_near(text, beginnings_of(terms))]
    assert near == [token if token in terms else "" for token in tokens(text)]
