"""Normalizes a sentence of a chat for the rules, and splits it into clauses."""

from __future__ import annotations

import re
from collections.abc import Iterator

from mcp_memory.capture.lexicon import I
from mcp_memory.capture.speech import Sentence

LEAST_WORDS = 3
"""A shorter clause has too little content to be judged alone."""

_SPELLINGS = (
    (re.compile(r"\b(do|does|did|is|are|was|were|has|have|would|should|could|wo|ca)nt\b", I), r"\1n't"),
    (re.compile(r"\bim\b", I), "I'm"),
    (re.compile(r"\bive\b", I), "I've"),
    (re.compile(r"\bid (?=rather|prefer|like)", I), "I'd "),
    (re.compile(r"\b(?:pls|plz)\b", I), "please"),
    (re.compile(r"\bu\b"), "you"),
    (re.compile(r"\bur\b"), "your"),
    (re.compile(r"\b(?:gotta|got to)\b", I), "have to"),
    (re.compile(r"\bwanna\b", I), "want to"),
    (
        re.compile(
            r",?\s*\b(?:btw|by the way|lol|haha+|jaja+|tbh|imo|though|tho|por cierto|übrigens)\b(,?)", I
        ),
        r"\1",
    ),
    (re.compile(r"[’ʼ]"), "'"),
    # "…, ok?" asks for nothing; and "could you … from now on?" is an order in the form of a question.
    (
        re.compile(
            r",?\s*\b(?:ok(?:ay)?|right|yeah|deal|please|vale|no|sí|ja|oder|ne|d'accord|hein)\s*\?$", I
        ),
        ".",
    ),
    (
        re.compile(
            r"^(?:can|could|would|will) you (?:please )?(?=.*\b(?:from now on|always|never|whenever"
            r"|by default|in future|stop \w+ing every|stop \w+ing all"
            r"|going forward|every time)\b)([^?]*)\?$"
            r"|^(?:puedes|podrías) (?=.*\b(?:siempre|nunca|a partir de ahora|de ahora en adelante"
            r"|por defecto)\b)([^?]*)\?$",
            I,
        ),
        r"\1\2.",
    ),
    # Quoted text is by somebody else, or only an example.
    (re.compile(r"[\"“«](?:[^\"”»\s]+\s+){2,}[^\"”»]*[\"”»]"), '"…"'),
)
_CUT = re.compile(
    r"\s*[;:()]\s+|\s+[–—-]{1,2}\s+|,\s+|[!?]+\s+"
    r"|\s+(?=(?:and|but|so|y|pero|así que|und|aber|also|et|mais|donc)\s)",
    I,
)
_JOINING = re.compile(r"^(?:and|but|so|then|y|pero|así que|que|und|aber|also|et|mais|donc)\s+", I)
_SUBORDINATE = re.compile(
    r"^(?:because|since|as|that|which|who|whose|if|unless|until|while|although|porque|ya que|aunque"
    r"|si|weil"
    r"|da"
    r"|wenn|dass|ob|parce que|puisque|comme|otherwise|or else)\b",
    I,
)

_TASK_FOLLOWS = re.compile(
    r"(?:\s*[,;:–—-]|\.{2,})\s+(?:(?:so|and|but|now|then|anyway|y|pues|así que|und|et|also),?\s+)*"
    r"(?=(?:what|how|why|which|who|where|(?:can|could|would|will|do|does|is|are|should) (?:you|u|i|we|it"
    r"|there)"
    r"|any (?:idea|chance|way|tips?)|(?:please )?(?:suggest|give me|help me|tell me|show me|make me|write"
    r"|explain)"
    r"|(?:¿\s*)?(?:qu[eé] (?:puedo|hago|me|te|le|tal|debo)|cómo|cuál|cuánt\w+|dónde|por qué|puedes|podrías"
    r"|me (?:puedes|ayudas|recomiendas))|hazme|dame|dime|ayúdame|recomiéndame|ponme"
    r"|was|wie|warum|kannst du|könntest du|gib mir|hilf mir|que|comment|pourquoi|peux-tu|tu peux|donne-moi"
    r"|aide-moi)\b)",
    I,
)
_OWN = re.compile(
    r"\b(?:I|I'm|I've|im|ive|my|we|we're|we've|our|soy|estoy|tengo|vivo|trabajo|mi|mis|nuestr[oa]s?"
    r"|\w+[aei]mos"
    r"|ich|mein\w*|wir|unser\w*|je|j'\w+|mon|ma|mes|notre|nos|nous)\b",
    I,
)
_PASSING = re.compile(
    r"^\W*(?:if|when|whenever|suppose|imagine|si|cuando|wenn|falls|quand)\b"
    r"|\b\d+ (?:hours?|min\w*|days?|horas?|minutos?|días?|stunden?|tage?|heures?|jours?)\b",
    I,
)


def spelled_out(text: str) -> str:
    """The sentence for the rules to read: without quotes and asides, contractions as they are written.

    >>> spelled_out("dont ever push to main pls")
    "don't ever push to main please"
    """
    for pattern, put in _SPELLINGS:
        text = pattern.sub(put, text)
    return " ".join(text.split())


def clauses(sentence: Sentence) -> Iterator[Sentence]:
    """The parts of a sentence that may state something by themselves, without the whole.

    >>> [one.text for one in clauses(Sentence("looks good, I prefer tabs, because they are wide"))]
    ['I prefer tabs, because they are wide', 'I prefer tabs']
    """
    text, cuts = sentence.text, list(_CUT.finditer(sentence.text))
    ends = [*(cut.start() for cut in cuts), len(text)]
    # To the end of the sentence, where a contrast or a reason may follow; then each by itself.
    parts = [text[cut.end() :] for cut in cuts]
    parts += [text[start:end] for start, end in zip([0, *(cut.end() for cut in cuts)], ends, strict=True)]
    for part in parts:
        said = _JOINING.sub("", part.strip())
        if len(said.split()) >= LEAST_WORDS and said != text and not _SUBORDINATE.match(said):
            yield Sentence(said, sentence.before)


def told_before_a_task(sentence: Sentence) -> Sentence | None:
    """The statement about the person or their group that precedes a request in the same sentence.

    >>> told_before_a_task(Sentence("my sister is a nurse in Bergen, could you suggest a present?")).text
    'my sister is a nurse in Bergen'
    >>> told_before_a_task(Sentence("if the cache is cold, what happens then?"))
    """
    found = _TASK_FOLLOWS.search(sentence.text)
    told = Sentence(sentence.text[: found.start()], sentence.before) if found else None
    if told is None or told.is_question or _PASSING.search(told.text):
        return None
    return told if len(told.text.split()) >= LEAST_WORDS and _OWN.search(told.text) else None
