"""The rule for what a person explicitly asks to be remembered."""

from __future__ import annotations

import re

from mcp_memory.capture.lexicon import I
from mcp_memory.capture.speech import Sentence

_ASKED = re.compile(
    r"(?:^|[,.;:]\s*|\band\s+|\balso\s+|\by\s+)(?:also\s+|please\s+|and\s+|so\s+)*"
    r"(?:(?:i(?:'d)? (?:want|like|need) you to |(?:you )?(?:should|must) )?(?:always )?"
    r"(?:remember(?: that\b(?!\.?$)|:| my\b| our\b| the\b(?! (?:time|day|last))| this:| to always\b| I\b"
    r"| we\b)"
    r"|memori[sz]e(?: that|:)?|keep in mind(?: that|:|,)?|bear in mind(?: that|:|,)?"
    r"|(?:don't|do not|never) forget(?: that\b|:)|take note(?: that|:| of)"
    r"|(?:make|take) a note(?: that|:| of)|note (?:that|to self|for later|for the future|for next time)\b:?"
    r"|save (?:this|that|it) (?:for|to memory|as)\b|store (?:this|that) (?:in|to|for)\b)"
    r"|(?:for|in) (?:future (?:sessions?|reference|chats?|conversations?)|the future|future"
    r"|next time)\s*[,:]"
    r"|from now on\b|from here on\b|going forward\b|henceforth\b"
    r"|recuerda(?: que\b|:)|recordad que\b|acu[ée]rdate de que\b|ten(?:ga|gan|ed)? (?:en cuenta"
    r"|presente) que\b|apunta(?: que\b|:| esto| eso)|anota(?: que\b|:| esto)"
    r"|no (?:te )?olvides que\b|guarda esto\b|toma nota(?: de que|:)|para (?:la próxima(?: vez)?"
    r"|futuras sesiones|otras sesiones|el futuro)\s*[,:]"
    r"|(?:a partir de|de|desde) ahora(?: en adelante| mismo)?\b|de aquí en adelante\b|en adelante\b"
    r"|en el futuro\s*,)",
    I,
)
_ASKED_OF_THE_SENTENCE_BEFORE = re.compile(
    r"^(?:please |and )?(?:remember|memori[sz]e|note|save|keep) (?:that|this|it)(?: (?:for (?:next time"
    r"|later|the future)|in mind|please))?[.!]?$"
    r"|^(?:recuérdalo|apúntalo|anótalo|tenlo en cuenta|guárdalo|recuerda eso)(?: por favor)?[.!]?$",
    I,
)
_NOT_ASKED = re.compile(
    r"\b(?:do|did|can|could|will|would) (?:you|we|I)(?: still| even)? remember\b|\b(?:don't|can't|cannot"
    r"|do not|didn't) remember\b|\bif I remember\b"
    r"|\bremember when\b|\bas far as I remember\b|\bI remember\b|\bno me acuerdo\b|\bno recuerdo\b"
    r"|\bremember me\b",
    I,
)


def request(sentence: Sentence) -> str | None:
    """What a person asks to be remembered, or to be done so from now on.

    >>> request(Sentence("Remember that the staging database is on db-2."))
    'Remember that the staging database is on db-2.'
    >>> request(Sentence("A partir de ahora escribe los commits en español."))
    'A partir de ahora escribe los commits en español.'
    >>> request(Sentence("Remember to close the file in the finally block."))
    >>> request(Sentence("I don't remember which port it was."))
    """
    if sentence.is_question or _NOT_ASKED.search(sentence.text):
        return None
    if _ASKED_OF_THE_SENTENCE_BEFORE.match(sentence.text):
        return sentence.before or None
    return sentence.text if _ASKED.search(sentence.text) and len(sentence.text.split()) > 3 else None
