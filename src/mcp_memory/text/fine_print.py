"""Small marks that carry meaning: capitals, flags, paths, code, commas, emphasis under a negation."""

import re
from collections import Counter
from collections.abc import Iterator

from mcp_memory.text.lexicon import EMPHASIS
from mcp_memory.text.opposites import NEGATIONS, TIMES

_WORD = re.compile(r"[^\W_]+")
_FLAG = re.compile(r"(?<!\S)--?[A-Za-z]\w*")
_PATH = re.compile(r"(?<!\S)(?:~|\.{0,2})[/\\][^\s,;]*[^\s,;.!?)]")
_CODE = re.compile(r"`[^`\n]+`|\S*[\\^{}<>|=\[\]]\S*")
_COUNTED = re.compile(
    r"\b(\d+|one|two|three|four|five|six|seven|eight|nine|ten|dos|tres|zwei|deux)-(?=[^\W\d])", re.I
)
_ADJACENT = re.compile(r"([^\W_]+)['\u2019\w]*([,;:] | [-\u2013\u2014] | \(|\u2014| ) *(?=([^\W_]+))")
_SEPARATING = frozenset({",", ";"})
_DASHES = frozenset({"-", "\u2013", "\u2014"})
_CONJUNCTIONS = frozenset(
    {"and", "or", "but", "nor", "so", "then", "y", "e", "o", "u", "pero", "ni", "und", "oder", "et", "ou"}
)
_SENTENCE_END = re.compile(r"[.!?:]\s*$")
_ANSWER = re.compile(r"^\W*(no|yes|sí)\b\s*[,;:.!]", re.IGNORECASE)
_NEGATED = re.compile(r"n['\u2019]t\b", re.IGNORECASE)


def fine_differences(a: str, b: str) -> Iterator[tuple[str, str]]:
    """Differences in case and punctuation that may change the fact."""
    if not (a.isupper() or b.isupper()):  # a text all in capitals means nothing else
        yield from _in_capitals(a, b)
    flags = set(_FLAG.findall(a)), set(_FLAG.findall(b))
    if flags[0] != flags[1]:
        yield " ".join(sorted(flags[0] - flags[1])), " ".join(sorted(flags[1] - flags[0]))
    paths = set(_PATH.findall(a)), set(_PATH.findall(b))
    if paths[0] != paths[1]:
        yield " ".join(sorted(paths[0] - paths[1])), " ".join(sorted(paths[1] - paths[0]))
    code = _code(a), _code(b)
    if code[0] != code[1]:
        yield " ".join(sorted(code[0] - code[1])), " ".join(sorted(code[1] - code[0]))
    counted = _COUNTED.findall(a), _COUNTED.findall(b)
    if len(counted[0]) != len(counted[1]):  # "two-year-old vans" are not "two year-old vans"
        yield " ".join(counted[0]), " ".join(counted[1])
    yield from _in_marks(a, b)
    if bool(_ANSWER.match(a)) != bool(_ANSWER.match(b)):
        yield a.split()[0], b.split()[0]
    if _is_negated(a) or _is_negated(b):
        left, right = _emphasis(a), _emphasis(b)
        if left != right:
            yield " ".join((left - right).elements()), " ".join((right - left).elements())


def _code(text: str) -> set[str]:
    """Text between backticks, and words with characters of code, exactly as written."""
    return {match.rstrip(".,;:!?)").strip("`") for match in _CODE.findall(text)}


def _in_capitals(a: str, b: str) -> Iterator[tuple[str, str]]:
    """Words that both texts have inside a sentence, and never with the same capitals."""
    left, right = _spellings(a), _spellings(b)
    for word in left.keys() & right.keys():
        if word.removesuffix("s") not in TIMES and not left[word] & right[word]:
            yield min(left[word]), min(right[word])


def _spellings(text: str) -> dict[str, set[str]]:
    """The spelling of each word, by its lower case; plain words at a sentence start are ignored."""
    found: dict[str, set[str]] = {}
    for match in _WORD.finditer(text):
        word, before = match[0], text[: match.start()]
        begins = not before.strip(" \t\n\"'(\u201c\u00ab\u00bf\u00a1-*") or _SENTENCE_END.search(before)
        spellings = {word, word[:1].lower() + word[1:], word[:1].upper() + word[1:]} if begins else {word}
        exact = {word} if any(character.isdigit() for character in word) else spellings
        found.setdefault(word.lower(), set()).update(exact)
    return found


def _in_marks(a: str, b: str) -> Iterator[tuple[str, str]]:
    """Two words side by side in both texts, with a comma between them in one only.

    `Call me, Ishmael` is not `Call me Ishmael`, and `the Wards, my parents` are not `the Wards: my parents`.
    Before a conjunction and after a time a comma is style, and so are a colon in place of nothing and a dash
    in place of a comma where no list follows.
    """
    left, right = _adjacent(a), _adjacent(b)
    for pair in left.keys() & right.keys():
        before, after = pair
        separated, elsewhere = (bool(marks & _SEPARATING) for marks in (left[pair], right[pair]))
        if separated != elsewhere and before not in TIMES and after not in _CONJUNCTIONS:
            first, second = (f"{before}{max(marks)} {after}" for marks in (left[pair], right[pair]))
            yield first, second


def _adjacent(text: str) -> dict[tuple[str, str], set[str]]:
    """The marks between each pair of adjacent words; empty where there is none."""
    adjacent = [(before, mark.strip(), after) for before, mark, after in _ADJACENT.findall(text.lower())]
    lists = any(after in _CONJUNCTIONS for _, _, after in adjacent)
    found: dict[tuple[str, str], set[str]] = {}
    for before, mark, after in adjacent:
        found.setdefault((before, after), set()).add("," if mark in _DASHES and not lists else mark)
    return found


def _is_negated(text: str) -> bool:
    words = {word.lower() for word in _WORD.findall(text)}
    return bool(words & NEGATIONS) or _NEGATED.search(text) is not None


def _emphasis(text: str) -> Counter[str]:
    return Counter(word for word in map(str.lower, _WORD.findall(text)) if word in EMPHASIS)
