"""Stems of words in languages other than English, indexed and searched beside the words themselves.

Every text is indexed by its English stems, whatever its language, so that a word is found by itself. Where
the language of a text is plain, the stems of that language are added: "trenes" then finds "tren". A text or a
query that is too short to tell is found by its words alone.
"""

from __future__ import annotations

import re
import threading
import unicodedata
from collections import Counter
from collections.abc import Collection
from functools import lru_cache
from importlib import import_module
from itertools import chain
from typing import Any

from mcp_memory.text.function_words import FUNCTION_WORDS_OF, SIGNS
from mcp_memory.text.stopwords import ENGLISH
from mcp_memory.text.unicode_forms import normalised_form
from mcp_memory.text.words import LONGEST_TOKEN, KnownWords, folded, tokens, tokens_of_word

_ANY_WORD = re.compile(r"[^\W\d_]+")
_ASCII_WORD = re.compile("[a-z]+")  # the same of such texts, twice as fast
_WORD = re.compile(r"[^\W\d_]{3,}")
_SCRIPTS = {"CYRILLIC": "russian", "GREEK": "greek", "ARABIC": "arabic", "DEVANAGARI": "hindi"}
_MARKS = {
    "\u00bf": "spanish",
    "\u00a1": "spanish",
    "\u00f1": "spanish",
    "\u00df": "german",
    "\u00e3": "portuguese",
}
_OPENING = 2000  # characters that show the language of a text

_stemmers: dict[str, Any] = {}
_stemming = threading.Lock()  # a stemmer keeps its state in itself


def language_of(text: str) -> str | None:
    """The language, as Snowball names it; None for English and whatever is not plain or not known.

    >>> language_of("Nora prefiere los trenes de noche")
    'spanish'
    >>> language_of("Ana takes the train to El Paso") is None
    True
    >>> language_of("她在 Rio de Janeiro 住了三年，现在回到了上海工作") is None
    True
    """
    opening = text[:_OPENING]
    if _is_plain(opening):
        return None
    if not opening.isascii() and (script := _script_of(opening)) != "LATIN":
        return _SCRIPTS.get(script)
    word = _ASCII_WORD if opening.isascii() else _ANY_WORD
    return _by_function_words(word.findall(folded(opening)), opening)


def _is_plain(text: str) -> bool:
    """Whether a text has no sign of another language than English, as nearly all English texts."""
    return text.isascii() and None not in map(_plain_tokens, text.split())


def _tokens_if_plain(word: str) -> tuple[str, ...] | None:
    """The tokens of a text in ASCII without spaces; None if it holds a function word of another language."""
    lowered = word.lower()
    has_sign = (
        lowered in SIGNS if word.isalpha() else not SIGNS.keys().isdisjoint(_ASCII_WORD.findall(lowered))
    )
    return None if has_sign else tokens_of_word(word)


_plain_tokens = KnownWords(_tokens_if_plain).__getitem__


def _text_if_plain(word: str) -> str:
    tokens = _tokens_if_plain(word)  # not looked up: what is kept here need not be kept there too
    return _NOT_PLAIN if tokens is None else " ".join(tokens)


_plain_text = KnownWords(_text_if_plain).__getitem__
_NOT_PLAIN = "\0"  # no token has it


def indexed_text(text: str) -> str:
    """What `indexed_words` returns, with spaces between them. A bulk write asks for hundreds."""
    if text.isascii() and len(text) <= _OPENING:
        # Without those of no token, such as a dash.
        found = " ".join(filter(None, map(_plain_text, text.split())))
        if _NOT_PLAIN not in found:
            return found
    return " ".join(indexed_words(text))


def indexed_words(text: str) -> list[str]:
    """The words that a text is found by: as they are everywhere, then their stems in its own language."""
    if text.isascii() and len(text) <= _OPENING:
        plain = list(map(_plain_tokens, text.split()))
        if None not in plain:
            return list(chain.from_iterable(filter(None, plain)))
    words = tokens(text)
    language = language_of(text)
    if language is None:
        return words
    known = set(words)
    return [*words, *(stem for stem in stems(text, language) if stem not in known)]


def function_words(text: str) -> frozenset[str]:
    """Those of the text's language, folded; none where that is English, or is not known."""
    return FUNCTION_WORDS_OF.get(language_of(text) or "", frozenset())


def stems(text: str, language: str | None) -> list[str]:
    """The distinct stems of a text in a language, folded, without function words; none for English."""
    if language is None:
        return []
    without = FUNCTION_WORDS_OF.get(language, frozenset())
    words = dict.fromkeys(_WORD.findall(normalised_form("NFC", text).casefold()))
    found = (_stem(language, word) for word in words if folded(word) not in without)
    return list(dict.fromkeys(stem for stem in found if stem))


def _script_of(text: str) -> str:
    """The script of most letters; Latin where there are none."""
    letters = [character for character in text[:200] if character.isalpha()]
    scripts = Counter(unicodedata.name(letter, "").partition(" ")[0] for letter in letters)
    return scripts.most_common(1)[0][0] if scripts else "LATIN"


def _by_function_words(words: Collection[str], text: str) -> str | None:
    """The language that most function words are of, if there are more of them than of English ones."""
    telling = [SIGNS[word] for word in words if word in SIGNS]
    marks = [] if text.isascii() else [language for mark, language in _MARKS.items() if mark in text]
    signs = dict.fromkeys(chain(marks, *telling), 0.0)
    for languages in telling:
        for language in languages:
            signs[language] += 1 / len(languages)
    for language in marks:
        signs[language] += 1
    weight, second = [*sorted(signs.values(), reverse=True), 0.0, 0.0][:2]
    if weight <= second:
        return None
    best = max(signs, key=signs.__getitem__)
    held = sum(best in languages for languages in telling) + bool(marks)
    english = sum(word in ENGLISH and word not in FUNCTION_WORDS_OF[best] for word in words)
    return best if held > english else None


@lru_cache(maxsize=65_536)
def _stem(language: str, word: str) -> str:
    with _stemming:
        if language not in _stemmers:
            module = import_module(f"snowballstemmer.{language}_stemmer")
            _stemmers[language] = getattr(module, f"{language.capitalize()}Stemmer")()
        stem: str = _stemmers[language].stemWord(word)
    return folded(stem)[:LONGEST_TOKEN]
