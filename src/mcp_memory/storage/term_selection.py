"""Which words of a query a search begins with, where looking at every row that holds any would take long."""

from collections.abc import Mapping

LARGE = 20_000
"""Rows from which on it matters: in a space of fewer nothing is left out."""

MOST_ROWS = 10_000
"""How many rows the words that a search begins with may lead to.

`python -m bench.words`, a million rows and questions of six words: of the best ten of a search for all words
0.97 are found, in a fifth of its time on SQLite and a twentieth on PostgreSQL; of 100,000 rows 0.997 or more.
"""


def chosen(counts: Mapping[str, int]) -> list[str]:
    """The rarest of the words, by how many rows hold each, and at least one.

    The others lead to too many rows to look at, and tell little; they count where one of these stands too.
    """
    words: list[str] = []
    rows = 0
    for word in sorted(counts, key=lambda word: counts[word]):
        rows += counts[word]
        if words and rows > MOST_ROWS:
            break
        words.append(word)
    return words
