import pytest

from mcp_memory.text.fingerprint import (
    exact_fingerprint,
    fingerprint,
    fingerprints,
    long_fingerprint,
    long_fingerprints,
    normalised,
    spelling_fingerprint,
)


def test_the_fingerprint_is_the_sha256_of_the_normalised_text() -> None:
    # printf 'User prefers dark mode' | sha256sum
    whole = "cb41542b3bdcaddb3f112b99e775536cb5fa1b2109dad094be11b5c60c1a31f0"
    assert long_fingerprint("User prefers dark mode") == whole
    assert fingerprint("User prefers dark mode") == bytes.fromhex(whole)[:16]
    assert whole in long_fingerprints("User prefers dark mode")


def test_spacing_and_composition_do_not_matter() -> None:
    assert normalised("  a\t\n b\u00a0 c ") == "a b c"
    assert fingerprint("cafe\u0301  au lait\n") == fingerprint("café au lait")


@pytest.mark.parametrize(
    "texts",
    [
        ["plain", "a  b", " a", "a ", "a\tb", "a\x1fb", "cafe\u0301", "café au lait", ""],
        ["plain", "texts", "a b"],
        ["plain", "café au lait", "日本"],
        ["plain", "cafe", "\u0301"],
        ["", "first"],
        ["last", ""],
        ["in between", "", "of others"],
        [""],
        [" "],
        [],
    ],
)
def test_fingerprints_of_many_texts_are_those_made_one_by_one(texts: list[str]) -> None:
    each = [(fingerprint(text), exact_fingerprint(text), spelling_fingerprint(text)) for text in texts]
    made = fingerprints(texts)
    assert made == each
    assert [[one.whole for one in three] for three in made] == [
        [one.whole for one in three] for three in each
    ]


def test_case_and_punctuation_matter() -> None:
    assert len({fingerprint(text) for text in ("tell us", "tell US", "tell us.", "tell u s")}) == 4


def test_broken_unicode_still_has_a_fingerprint() -> None:
    assert fingerprint("\ud800") != fingerprint("\ud801")
