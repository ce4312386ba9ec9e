"""The tokenizer: words for indexing and search, the same on every database."""

import re
import threading
import unicodedata
from collections.abc import Callable, Collection, Iterator
from functools import lru_cache
from itertools import chain
from typing import TypeVar

from mcp_memory.text.stopwords import FUNCTION_WORDS, WORDS_OF_REQUESTS
from mcp_memory.text.unicode_forms import normalised_form

T = TypeVar("T")

LONGEST_TOKEN = 64  # characters; PostgreSQL refuses lexemes above 2046 bytes
MOST_TERMS = 64  # each term costs a walk through its postings
MOST_KNOWN = 65_536  # words
_FRAME, _TOLD = 2, 2  # words of a request that frame it, and those beside them that tell what it is about

# What may hold an identifier together: INV-21047, snake_case, 3.12.1, ana@example.com, O'Brien.
_CONNECTORS = "-_.@:+'"
_LETTERS_THAT_DO_NOT_DECOMPOSE = {
    **dict(zip("øłđðħıŧØŁĐÐĦŦ", "olddhitOLDDHT", strict=True)),
    "æ": "ae",
    "œ": "oe",
    "þ": "th",
    "Æ": "AE",
    "Œ": "OE",
    "Þ": "TH",
}
_TYPOGRAPHIC_CONNECTORS = {"‐": "-", "‑": "-", "’": "'", "ʼ": "'", "＇": "'"}
_TATWEEL = "ـ"  # stretches an Arabic word without changing it

# Scripts written without spaces, and Hangul, whose particles stick to the noun.
_HAN = "々〆\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U000323af"
_UNSPACED = (
    _HAN + "\u3041-\u309f\u30a1-\u30ff\u31f0-\u31ff\uac00-\ud7a3"  # kana, Hangul
    "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff"  # Thai, Lao, Myanmar, Khmer
)
_EMOJI = re.compile("[\u2600-\u27bf\U0001f000-\U0001faff]")
_CONNECTOR = re.compile(f"[{re.escape(_CONNECTORS)}]")
_CHUNK = re.compile("[^ {0}]+(?:[{0}][^ {0}]+)*".format(re.escape(_CONNECTORS)))
_ASCII_CHUNK = re.compile(f"[A-Za-z0-9]+(?:[{re.escape(_CONNECTORS)}][A-Za-z0-9]+)*").fullmatch
_PLAIN = re.compile("[a-z]+").fullmatch
_RUN = re.compile(f"[{_UNSPACED}]+|[^{_UNSPACED}]+")
_UNSPACED_START = re.compile(f"[{_UNSPACED}]")
_HAN_CHARACTER = re.compile(f"[{_HAN}]")
_CONTRACTION = re.compile(r"'(?:s|re|ve|ll|d|m)$", re.IGNORECASE)
_NEGATION = re.compile(r"(?<=n)'(?=t$)", re.IGNORECASE)
_CASE_CHANGE = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")
_LETTERS_AND_DIGITS = re.compile(r"([A-Za-z]+)([0-9]+)|([0-9]+)([A-Za-z]+)")

_DYING = {"die": "dy", "lie": "ly", "tie": "ty"}  # the stems that do not begin as one of their words

try:  # the same stems in C, fourteen times as fast
    from Stemmer import Stemmer

    _stemmer = Stemmer("english", 0)
except ImportError:
    from snowballstemmer.english_stemmer import EnglishStemmer

    _stemmer = EnglishStemmer()
_stemming = threading.Lock()  # the stemmer keeps its state in itself


def tokens(text: str) -> list[str]:
    """Every word to index, in order: folded, stemmed, identifiers by part and whole."""
    if text.isascii():
        # Cut at its spaces, where every text is cut.
        return list(chain.from_iterable(map(tokens_of_word, text.split())))
    found: list[str] = []
    for chunk in _chunks(text):
        found += _indexed(chunk)
    return found


def tokens_text(text: str) -> str:
    """The same, with spaces between them."""
    return " ".join(tokens(text))


label_text = lru_cache(maxsize=1024)(tokens_text)
"""The same for a short text that many rows share, such as a type."""


def beginnings_of(terms: Collection[str]) -> frozenset[str]:
    """The first letters of every word that can be one of the terms."""
    return frozenset({term[:2] for term in terms} | {_DYING[term] for term in terms if term in _DYING})


def tokens_near(text: str, beginnings: frozenset[str]) -> list[str]:
    """Like `tokens`, but only words that begin as a term does are stemmed: stemming costs most.

    A stem has the same beginning as its word, so words with another beginning are not stemmed.
    """
    found: list[str] = []
    for chunk in _chunks(text):
        if chunk[:2] not in beginnings and _PLAIN(chunk):
            found.append(chunk)
        else:
            found += _indexed(chunk)
    return found


def query_terms(text: str, most: int = MOST_TERMS, without: Collection[str] = ()) -> list[str]:
    """The distinct search terms in order; function words only if there is nothing else.

    `without`: the function words of other languages than English and Spanish.
    """
    words = [word for chunk in _chunks(text) for word in _looked_for(chunk)]
    telling = [word for word in words if word not in FUNCTION_WORDS and word not in without] or words
    return list(dict.fromkeys(map(_stem, _without_frame(telling))))[:most]


def _without_frame(words: list[str]) -> list[str]:
    """The words without those that only frame a request.

    They are kept if the query has only one of them, or little else.
    """
    told = [word for word in words if word not in WORDS_OF_REQUESTS]
    framed = len(words) - len(told) >= _FRAME and len(set(told)) >= _TOLD
    return told if framed else words


def plain_words(text: str) -> list[str]:
    """The words as they stand, folded but neither stemmed nor doubled."""
    return [word.casefold() for chunk in _chunks(text) for word in _CONNECTOR.split(_contracted(chunk))]


def folded(text: str) -> str:
    """The text without case, accents and compatibility forms."""
    return _unaccented(text).casefold()


class _Folding(dict[int, str]):
    """The folded form of each character, computed on first use."""

    def __missing__(self, code: int) -> str:
        self[code] = result = _fold(chr(code))
        return result


def _fold(character: str) -> str:
    if character in _LETTERS_THAT_DO_NOT_DECOMPOSE:
        return _LETTERS_THAT_DO_NOT_DECOMPOSE[character]
    if character in _TYPOGRAPHIC_CONNECTORS:
        return _TYPOGRAPHIC_CONNECTORS[character]
    if character in _CONNECTORS:
        return character
    category = unicodedata.category(character)
    if category == "Cf" or character == _TATWEEL or _is_accent(character, category):
        return ""
    if category == "Nd":
        return str(unicodedata.decimal(character))
    if category[0] in "LNM":
        return character
    return f" {character} " if _EMOJI.match(character) else " "


def _is_accent(character: str, category: str) -> bool:
    """Whether a mark may be left off in writing.

    The canonical combining class tells accents (200 and above), Hebrew and Arabic points (10 to 36)
    and overlays (1) from the vowel signs, viramas and tone marks that Indic scripts, Thai and kana
    cannot do without. Variation selectors and enclosing marks never matter.
    """
    if category == "Me" or character == "\u034f" or "\ufe00" <= character <= "\ufe0f":
        return True
    mark = unicodedata.combining(character)
    return category == "Mn" and (mark == 1 or 10 <= mark <= 36 or mark >= 200)


_folding = _Folding()


def _unaccented(text: str) -> str:
    if text.isascii():
        return text
    decomposed = normalised_form("NFKD", text)
    kept = [c for c in decomposed if not _is_accent(c, unicodedata.category(c))]
    return normalised_form("NFC", "".join(kept))


def _chunks(text: str) -> list[str]:
    if text.isascii():
        return _CHUNK.findall(text.translate(_folding))
    decomposed = normalised_form("NFKD", text)
    # NFC puts Hangul and voiced kana together again; the accents are gone by then.
    return _CHUNK.findall(normalised_form("NFC", decomposed.translate(_folding)))


def _indexed(chunk: str) -> tuple[str, ...]:
    # A pasted blob must not stay in the cache.
    return _tokens_of(chunk) if len(chunk) <= LONGEST_TOKEN else _tokens_of.__wrapped__(chunk)


class KnownWords(dict[str, T]):
    """Something about each word, computed on first use: to look it up takes no call of a function.

    A pasted blob is not kept.
    """

    def __init__(self, about: Callable[[str], T]) -> None:
        super().__init__()
        self._about = about

    def __missing__(self, word: str) -> T:
        found = self._about(word)
        if len(word) <= LONGEST_TOKEN:
            if len(self) >= MOST_KNOWN:
                self.clear()
            self[word] = found
        return found


def _cut(word: str) -> tuple[str, ...]:
    # The first question is the quicker one, and answers for most words.
    if word.isalnum() or _ASCII_CHUNK(word):
        return _tokens_of.__wrapped__(word)
    return tuple(chain.from_iterable(map(_tokens_of.__wrapped__, _chunks(word))))


tokens_of_word = KnownWords(_cut).__getitem__
"""The tokens of a text in ASCII without spaces."""


@lru_cache(maxsize=65_536)
def _tokens_of(chunk: str) -> tuple[str, ...]:
    # Fast path: most chunks are a single word or number, which has no other forms.
    if chunk.isascii() and (chunk.isdigit() or (chunk.isalpha() and chunk[1:].islower())):
        return (_stem(chunk.lower()[:LONGEST_TOKEN]),)
    # Fast path: numbers and words with connectors, such as 2026-11-18 or snake_case.
    parts = _CONNECTOR.split(_contracted(chunk))
    if len(chunk) <= LONGEST_TOKEN and chunk.isascii():
        whole = "".join(parts)
        if whole.isdigit():
            return tuple(dict.fromkeys((*parts, whole)))
        if all(map(_is_simple, parts)):
            return tuple(map(_stem, dict.fromkeys([part.lower() for part in (*parts, whole)])))
    return tuple(map(_stem, dict.fromkeys(_forms(chunk, with_single_ideographs=True))))


def _is_simple(part: str) -> bool:
    """Whether a part of a chunk is a word or a number with no other forms."""
    return part.isdigit() or (part.isalpha() and part[1:].islower())


def _looked_for(chunk: str) -> Iterator[str]:
    return _forms(chunk, with_single_ideographs=False)


def _forms(chunk: str, *, with_single_ideographs: bool) -> Iterator[str]:
    """All the words a chunk can be found by, folded and cut to the longest token."""
    parts = _CONNECTOR.split(_contracted(chunk))
    for part in parts:
        for run in _RUN.findall(part):
            if _UNSPACED_START.match(run):
                yield from _bigrams(run, with_single_ideographs)
            else:
                yield from (piece.casefold()[:LONGEST_TOKEN] for piece in _pieces(run))
    whole = "".join(parts)
    if len(parts) > 1 and len(whole) <= LONGEST_TOKEN and not _UNSPACED_START.search(whole):
        yield whole.casefold()[:LONGEST_TOKEN]


def _contracted(chunk: str) -> str:
    return _NEGATION.sub("", _CONTRACTION.sub("", chunk)) if "'" in chunk else chunk


def _pieces(run: str) -> list[str]:
    """The parts of camelCase and of `16GB`, then the whole."""
    if run.islower() and run.isalpha():
        return [run]
    humps = _CASE_CHANGE.split(run)
    pieces = [piece for hump in humps for piece in _letters_and_digits(hump)]
    return pieces if len(pieces) == 1 else [*pieces, run]


def _letters_and_digits(hump: str) -> list[str]:
    # One change only: a hash or an id in hexadecimal is not made of words.
    match = _LETTERS_AND_DIGITS.fullmatch(hump)
    return [group for group in match.groups() if group] if match else [hump]


def _bigrams(run: str, with_single_ideographs: bool) -> Iterator[str]:
    if len(run) == 1:
        yield run
        return
    yield from (run[i : i + 2] for i in range(len(run) - 1))
    if with_single_ideographs:
        # An ideograph can be a whole word: asked for alone, it must be found inside a run.
        yield from _HAN_CHARACTER.findall(run)


@lru_cache(maxsize=65_536)
def _stem(word: str) -> str:
    """The English stem of a plain word; anything else as it is."""
    if len(word) < 3 or not (word.isascii() and word.isalpha()):
        return word
    with _stemming:
        stem: str = _stemmer.stemWord(word)
    return stem
