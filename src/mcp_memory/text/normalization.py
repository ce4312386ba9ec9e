"""Normalized words of a text, for comparing facts."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from mcp_memory.text import lexicon
from mcp_memory.text.lexicon import MONTHS, NUMBERS, PAST, SYNONYMS, UNITS, VERB_FORMS
from mcp_memory.text.unicode_forms import normalised_form

_PHRASES = [(re.compile(pattern), to) for pattern, to in lexicon.PHRASES]

_MONTH = "|".join(sorted(MONTHS, key=len, reverse=True))
_DATES = (
    re.compile(rf"\b(?P<month>{_MONTH})\.? (?P<day>\d{{1,2}})(?:st|nd|rd|th)?\b(?:,? (?P<year>\d{{4}}))?"),
    re.compile(
        rf"\b(?P<day>\d{{1,2}})(?:st|nd|rd|th)?(?: of)? (?P<month>{_MONTH})\b(?:,? (?P<year>\d{{4}}))?"
    ),
)
_ISO_DATE = re.compile(r"\b(\d{4})-(\d{2})-(\d{2})\b")
_TIME = re.compile(r"\b(\d{1,2})(?::(\d{2}))? ?([ap])\.?m\b\.?")
_PHONE = re.compile(r"(?<!\S)\+\d[\d ]{6,20}\d\b")
_THOUSANDS = re.compile(r"(?<![\d.,])\d{1,3}(?:,\d{3})+(?![\d,])")
_MONEY = re.compile(r"([$€])\s?(\d[\d.,]*)")
_NUMBER_AND_UNIT = re.compile(r"\b(\d+(?:\.\d+)?)([a-z]+)\b")
_LETTER_HYPHEN = re.compile(r"(?<=[^\W\d_])-(?=[^\W\d_])")
_Z_SPELLING = re.compile(r"(?<=\w{4})is(?=e[ds]?$|ing$|ations?$)|(?<=anal)ys(?=e[ds]?$|ing$)")

# A phrase of time, place or condition means the same at the beginning and at the end.
_MOVABLE = re.compile(
    r"^((?:(?:on|in|at|every|each|after|before|during|since|if|when|al|por|cada) [^,.;]{1,40}),|"
    r"(?:(?:(?:on|every|each) )?(?:mon|tues|wednes|thurs|fri|satur|sun)days?|"
    r"(?:every|each) (?:minute|hour|morning|evening|night|summer|winter|weekend)|daily|weekly|monthly|yearly|"
    r"at (?:home|work|night|noon)|in \d{4}|in the (?:morning|afternoon|evening)),?) ([^,;]+)$"
)

_TOKEN = re.compile(
    r"""
    (?:(?<=\s)|^)[-+]?\d[\w.,:/@-]*[\w%]   # numbers, versions, addresses, identifiers that begin with a digit
    | (?:(?<=\s)|^)[-+]?\d
    | \w+(?:[.@/:'-]\w+)*[+\#]*           # words, with what holds identifiers together
    | !(?=[\w=])                            # not
    | [^\s\w.,;:!"'’‘“”«»()\[\]{}…—–¡¿`_-]  # any other sign means something
    """,
    re.VERBOSE,
)


_CAPITALISED = re.compile(r"[^\W\d_]+")
_TO_SOMEBODY = re.compile(r"\ba(?= [A-ZÁÉÍÓÚÑ])")  # llamó a Luis: no article, so it must not be left out
_DASH_AS_MINUS = re.compile(r"(?<!\S)[–—−](?=\d)")
_ON_A_DATE = re.compile(r"\bon (?=(?:the )?(?:\d{4}-)?\d{2}-\d{2}\b)")


@dataclass(frozen=True)
class Word:
    """A word of the text, and its normalized meaning."""

    surface: str
    meaning: str


def normalized(text: str) -> tuple[Word, ...]:
    """The words of a text that carry its fact, in an order that does not depend on style."""
    words = _tokens(text)
    meant = [Word(word, meaning) for i, word in enumerate(words) if (meaning := _meaning(words, i))]
    if meant and meant[0].meaning in lexicon.SUBJECTS_LEFT_OUT:
        meant = meant[1:]
    return tuple(_ordered_list(_without_infinitive(_without_be(meant))))


def _tokens(text: str) -> list[str]:
    """The text cut into words, in lower case except where capitals tell words apart."""
    return _TOKEN.findall(
        _evened(_marked_capitals(normalised_form("NFC", " ".join(text.split())).replace("’", "'")))
    )


def _marked_capitals(text: str) -> str:
    """The text in lower case; `US` and `A` inside a sentence stay as they are."""
    if text.isupper():
        return text.lower()
    text = _TO_SOMEBODY.sub("à", text)
    first, space, rest = text.partition(" ")
    if len(first) == 1:  # the article, or the speaker
        first = first.lower()
    return _CAPITALISED.sub(_lowered, first + space + rest)


def _lowered(match: re.Match[str]) -> str:
    word = match[0]
    lower = word.lower()
    telling = word.isupper() and (lower in lexicon.CAPITALS_MATTER or lower in lexicon.FILLERS)
    return word if telling else lower


def _evened(text: str) -> str:
    """Phrases, dates, times and amounts in one form."""
    text = _DASH_AS_MINUS.sub("-", text)
    for pattern, replacement in _PHRASES:
        text = pattern.sub(replacement, text)
    text = _MOVABLE.sub(lambda match: f"{match[2].rstrip('.!')} {match[1].rstrip(',')}", text.strip())
    text = _ISO_DATE.sub(lambda match: _date(int(match[2]), int(match[3]), match[1]), text)
    for pattern in _DATES:
        text = pattern.sub(
            lambda match: _date(MONTHS[match["month"]], int(match["day"]), match["year"]), text
        )
    text = _ON_A_DATE.sub("", text)
    text = _TIME.sub(_time, text)
    text = _PHONE.sub(lambda match: match[0].replace(" ", ""), text)
    text = _THOUSANDS.sub(lambda match: match[0].replace(",", ""), text)
    text = _MONEY.sub(lambda match: f"{match[2]} {'dollar' if match[1] == '$' else 'euro'}", text)
    text = _NUMBER_AND_UNIT.sub(
        lambda match: f"{match[1]} {match[2]}" if match[2] in UNITS else match[0], text
    )
    text = re.sub(r"(?<=\d)%", " percent", text)
    return _LETTER_HYPHEN.sub(" ", text)


def _date(month: int, day: int, year: str | None) -> str:
    return f"{year + '-' if year else ''}{month:02}-{day:02}"


def _time(match: re.Match[str]) -> str:
    hour = int(match[1]) % 12 + (12 if match[3] == "p" else 0)
    return f"{hour}:{match[2] or '00'}"


def _meaning(words: Sequence[str], place: int) -> str:
    """The normalized word; empty for a filler."""
    word = words[place]
    before = words[place - 1] if place else ""
    after = words[place + 1] if place + 1 < len(words) else ""
    lead = words[max(0, place - 3) : place]
    if word in lexicon.FILLERS:
        return ""
    if word in lexicon.PRESENT_OF_BE:
        return "is"
    if word in UNITS and before[:1].isdigit() | (before in NUMBERS):
        return UNITS[word]
    if word in NUMBERS:
        return NUMBERS[word]
    if word.endswith("'s"):
        return SYNONYMS.get(word[:-2], word[:-2]) + "'s"
    plain = _Z_SPELLING.sub(lambda match: match[0].replace("s", "z"), word)
    if plain.removesuffix("s") in lexicon.SAME_IN_THE_PAST:
        return plain
    if plain in VERB_FORMS and not _is_noun(before, after):
        # `a new plan` is one, `new plans` may be many
        return VERB_FORMS[plain] + ("" if lexicon.ARTICLES_OF_ONE.isdisjoint(lead) else "#1")
    return SYNONYMS.get(plain) or plain


def _is_noun(before: str, after: str) -> bool:
    return before in lexicon.DETERMINERS or after in lexicon.AUXILIARIES or before.endswith("'s")


def _without_be(words: Sequence[Word]) -> list[Word]:
    """`Is` may be left out, except where it makes a passive: `is liked` is not `liked`."""
    following = [*words[1:], Word("", "")]
    return [
        word
        for word, after in zip(words, following, strict=False)
        if word.meaning != "is" or after.meaning.endswith(PAST)
    ]


def _without_infinitive(words: Sequence[Word]) -> list[Word]:
    return [
        word
        for i, word in enumerate(words)
        if not (word.meaning == "to" and i and words[i - 1].meaning in lexicon.BEFORE_INFINITIVES)
    ]


def _ordered_list(words: list[Word]) -> list[Word]:
    """Two things at the end that one verb governs, in one order: tea and coffee, coffee and tea."""
    if len(words) >= 4 and words[-2].meaning in {"and", "y"} and words[-4].meaning in lexicon.UNORDERED_AFTER:
        first, last = sorted((words[-3], words[-1]), key=lambda word: word.meaning)
        return [*words[:-3], first, words[-2], last]
    return words
