"""The rule for what a person explicitly asks to be remembered."""

from __future__ import annotations

import re

from mcp_memory.capture.lexicon import AT_HAND, I
from mcp_memory.capture.speech import Sentence

_ASKED = re.compile(
    r"(?:^|[,.;:]\s*|\band\s+|\balso\s+|\by\s+)(?:also\s+|please\s+|and\s+|so\s+)*"
    r"(?:(?:i(?:'d)? (?:want|like|need) you to |(?:you )?(?:should|must) )?(?:always )?"
    r"(?:remember(?: that\b(?!\.?$)|:| my\b| our\b| the\b(?=.* (?:is|are|has|have|uses?|goes|lives?|gets?"
    r"|runs?|needs?|was|were)\b)| this:| to always\b|, (?:we|our|my|the)\b| I\b| we\b)"
    r"|memori[sz]e(?: that|:)?|keep in mind(?: that|:|,)?|bear in mind(?: that|:|,)?"
    r"|(?:don't|do not|never) forget(?: that\b|:)|take note(?: that|:| of)"
    r"|(?:make|take) a note(?: that|:| of)|note (?:that|to self|for later|for the future|for next time)\b:?"
    r"|(?:save|store|put|keep|add) (?:this|that|it) (?:for (?:later|next time|the future)|(?:in"
    r"|to) (?:your )?memory)\b"
    r"|jot (?:this |it |that )?down|write this down)"
    r"|(?:for|in) (?:future (?:sessions?|reference|chats?|conversations?)|the future|future"
    r"|next time)\s*[,:]"
    r"|from now on\b|from here on\b|going forward\b|henceforth\b"
    r"|recuerda(?: que\b|:)|recordad que\b|acu[ée]rdate de que\b|ten(?:ga|gan|ed)? (?:en cuenta"
    r"|presente) que\b|apúnta(?:te|lo)\b|apunta(?: que\b|:)|anota(?: que\b|:)|que sepas que\b|ojo(?: que\b|:)"
    r"|no (?:te )?olvides que\b|guarda(?:te)? esto(?=:| en (?:la|tu) memoria)|toma nota(?: de que|:)"
    r"|para (?:la próxima(?: vez)?"
    r"|futuras sesiones|otras sesiones|el futuro)\s*[,:]"
    r"|(?:a partir de|de|desde) ahora(?: en adelante| mismo)?\b|de aquí en adelante\b|en adelante\b"
    r"|en el futuro\s*,|(?:que )?no se te olvide(?: que\b|:|,)?|no (?:te )?olvides de que\b"
    r"|retiens (?:que|:|bien)|souviens-toi que|rappelle-toi que|n'oublie pas que|note (?:bien )?que\b"
    r"|désormais\b|dorénavant\b|à partir de maintenant\b"
    r"|merk(?:e)? dir\b|denk(?:e)? (?:dran|daran)\b|vergiss nicht\b|ab (?:jetzt|sofort|heute)\b|von nun an\b"
    r"|künftig\b|in Zukunft\b|for the record\b|(?:just )?so you know\b|para que (?:lo )?sepas\b)",
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
    r"|\bremember (?:me|when|how|what|where|why|who|which|if|whether|to|last)\b(?! always)"
    r"|\b(?:to|will|they|he|she|it|app|form|page|dialog|browser|server|client|user|users|can|must"
    r"|could) remember\b"
    r"|\band remember (?:my|the|our)\b|\bremember(?:s|ed|ing)\b",
    I,
)

_STANDING = re.compile(
    r"\b(?:from (?:now|here) on|going forward|henceforth|always|never|next time|in (?:the )?future"
    r"|(?:a partir de|de|desde) ahora|(?:de aquí )?en adelante|siempre|nunca|la próxima"
    r"|désormais|dorénavant|à partir de maintenant|toujours|jamais"
    r"|ab (?:jetzt|sofort|heute)|von nun an|künftig|in Zukunft|immer|nie)\b",
    I,
)

_ONCE = re.compile(
    r"\b(?:right now|at the moment|todavía no|ahora mismo|gerade|en ce moment)\b"
    r"|\b(?:denk dran|denk daran|vergiss nicht|n'oublie pas|no (?:te )?olvides)\b(?! (?:dass|que|:)|,)",
    I,
)


def is_standing(text: str) -> bool:
    """Whether it holds from now on.

    >>> is_standing("From now on, write all commit messages in English.")
    True
    >>> is_standing("Remember that the staging database is on db-2.")
    False
    """
    return bool(_STANDING.search(text))


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
    if AT_HAND.search(sentence.text) or _ONCE.search(sentence.text):
        return None
    return sentence.text if _ASKED.search(sentence.text) and len(sentence.text.split()) > 3 else None
