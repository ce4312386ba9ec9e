"""Word lists and small patterns that several rules share, in English and Spanish."""

from __future__ import annotations

import re

I = re.IGNORECASE  # noqa: E741

PROPER = r"(?:[A-ZÁÉÍÓÚÑÜ][\w’'.-]*[a-zá-ÿ0-9])"
"""A word that begins with a capital."""

_NO_NAME = frozenset(
    """
    i it this that these those he she they we you my your our his her their the a an there here what
    when where why how who which if in on at for from with and or but so as no not yes ok all some any
    each every most both let el la los las un una esto eso este esta ese esa él ella ellos nosotros yo
    tú mi tu su nuestro nuestra si qué cuándo dónde cómo quién al de en por para con como todo todos
    toda todas hay please add use run fix make note error warning traceback test tests code
    """.split()  # noqa: SIM905
)

_VALUE = re.compile(
    r"\d|https?://|[\w.+-]+@[\w-]+\.\w|`[^`]+`|(?<!^)(?<![.!?] )\b[A-Z][\w-]+|[\w-]+\.[a-z]{2,}\b"
    r"|[/~][\w.-]+/|#\w+|\b\w+[-_]\w+\b"
)

_FLEETING = re.compile(
    r"\b(?:returning|throwing|giving|down|investigate|fail(?:s|ing|ed)?|broken?|crash(?:es|ed|ing)?"
    r"|error|bug|wrong|slow|empty|missing|weird"
    r"|strange|stuck|tired|sure|"
    r"sorry|afraid|confused|wondering|thinking|trying|looking|getting|seeing|having|stopped|hang(?:s|ing)?|"
    r"too (?:long|big|slow|many|much|short|small)|not working|doesn't|isn't|won't|can't|undefined|null|"
    r"right now|at the moment|today|just now|this time|for now|currently (?:down|broken|failing)|"
    r"falla(?:n|ndo)?|roto|rota|errores|mal|lento|lenta|vacío|vacía|cansad[oa]|segur[oa] de|intentando"
    r"|pensando|mirando|"
    r"demasiado|no funciona|no compila|ahora mismo|por ahora|hoy)\b",
    I,
)

ANAPHORIC = re.compile(
    r"^(?:it|this|that|these|those|them|the (?:first|second|third|last|other|new|old|former|latter)\b.*"
    r"|esto|eso|este|ese|"
    r"la (?:primera|segunda|otra)\b.*|el (?:primero|segundo|otro)\b.*)(?:\s+(?:one|version|option"
    r"|approach|better|more|too|a lot|opción|versión).*)?[.!]?$",
    I,
)

PAST_EVENT = re.compile(
    r"\b(?:I|you|we|it|they)(?:'ve| have|'d| had| would have)? never (?:\w+ed|got|seen|had|been|found"
    r"|knew|saw|worked|did)\b",
    I,
)


AT_HAND = re.compile(
    r"\b(?:function|method|variable|button|this (?:line|loop|file|test|snippet|regex|query|output|page"
    r"|dialog)"
    r"|the (?:loop|argument|parameter|return value|checkbox|dropdown|cursor|selected|selection)|file handle"
    r"|función|método|variable|botón|esta (?:línea|función|consulta))\b",
    I,
)
"""Parts of code or of a screen: statements about them are about the present task."""

_HEARSAY = re.compile(
    r"\b(?:someone|somebody|people|they|he|she|everyone(?! on)|support|the (?:docs?|documentation|article"
    r"|book"
    r"|author|manual|readme|post|spec|tutorial|internet|error|linter|log)|stack ?overflow|hacker ?news|reddit"
    r"|chatgpt|wikipedia|a (?:friend|colleague|blog|guy)|alguien|la gente|dicen|man sagt|jemand|quelqu'un)\b"
    r"[^,.;]{0,40}\b(?:say|says|said|wrote|writes|told|tells|claims?|claimed|argues?|recommends?|thinks?"
    r"|reads"
    r"|dice|dijo|escribió|sagt|schreibt|dit)\b"
    r"|\b(?:I was told|I(?:'ve)? (?:read|heard) (?:that|somewhere|on)|supposedly|allegedly|apparently)\b"
    r"|\bAs an? (?!rule\b|default\b)\w+,? I (?:want|need)\b|\bI wish\b|^if I (?:were|was|had)\b|\b(?:brb"
    r"|afk|jk|just kidding)\b"
    r"|\b(?:mdr|xd|ironie|just joking)\b",
    I,
)


def is_hearsay(sentence: str) -> bool:
    """Whether it quotes others, wishes or jokes, and so states nothing in the person's own name."""
    return bool(_HEARSAY.search(sentence))


def names_a_value(sentence: str) -> bool:
    """Whether it contains something specific: a number, a name, an address, a path, code."""
    return bool(_VALUE.search(sentence))


def is_fleeting(sentence: str) -> bool:
    """Whether it describes the moment, such as an error or a mood, rather than a lasting fact."""
    return bool(_FLEETING.search(sentence))


def is_name(word: str) -> bool:
    """Whether the word may name somebody or something at the start of a sentence."""
    return word[:1].isupper() and word.lower().strip(".,:;!?’'") not in _NO_NAME
