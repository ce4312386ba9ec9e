"""Texts cut to what is shown of them."""

from mcp_memory.text.preview import first_lines


def test_every_wording_has_its_own_line() -> None:
    assert first_lines("The boat leaves at six.\n\nThe ferry departs at 6.") == (
        "The boat leaves at six.\nThe ferry departs at 6."
    )


def test_of_many_lines_the_first_are_shown() -> None:
    assert first_lines("\n".join("abcdef"), 10) == "a\nb\nc …"
    assert first_lines("a long line of words", 8) == "a long…"
