"""Whether a prompt asks about the world in general, and not about what the person and the memory share."""

from __future__ import annotations

import re
from collections.abc import Iterable

_ASKS_IN_GENERAL = re.compile(
    r"^\W*(?:[\w+#.-]{1,20}:\s*)?(?:(?:hey|hi|ok|quick question|so|btw|oye|una pregunta)[,: ]+)*(?:"
    r"(?:what(?:'s| is| are| was| were| does| do| did| year| kind| makes)|who(?:'s| is| was| were| \w+ed)"
    r"|why (?:do|does|is|are|did|was)|when (?:was|did|were|is)|where (?:is|are|was|did)"
    r"|how (?:do|does|did|can|to|many|much|long|far|old|big|is|are)|which|is it true|is there|are there"
    r"|does|do|can (?:you|i)|could you)\b"
    r"|(?:explain|define|describe|translate|convert|calculate|compute|give me|tell me|write|compose|generate"
    r"|list|show me|name|fix this|polish|proofread|correct|summari[sz]e|recommend|suggest|difference between"
    r"|make me an?|regex|recipe|best way|is an?|are|when is|how|statistical|synonyms?|tips|ideas?|help me)\b"
    r"|(?:¿\s*)?(?:qué|que es|quién|quien|cómo|como se|cuál|cuáles|cuánt[oa]s?|cuándo|dónde|por qué"
    r"|es verdad)\b"
    r"|(?:explícame|explica|define|traduce|calcula|corrige|corrígeme|escribe|dame|dime|recomiéndame|resume)\b"
    r"|(?:was ist|wer|wie|warum|wo|wann|welche[rs]?|erkläre?|übersetze?)\b"
    r"|(?:qu'est-ce|c'est quoi|pourquoi|comment|combien|qui|quel(?:le)?s?|explique|traduis)\b)",
    re.IGNORECASE,
)
_SHARED = re.compile(
    r"\b(?:my|mine|our|ours|we|us|we're|we've|let's|i'm|i've|again|last (?:time|week|month|session)"
    r"|yesterday|earlier|still|already|here|should i|do i (?:have|need)|can i (?:have|eat|take)|i have"
    r"|(?:this|these) (?!mean|work|sentence|paragraph|text)\w+"
    r"|mis?|nuestr[oa]s?|nosotros|tenemos|tengo|usamos|hicimos|quedamos|aquí|ayer|todavía|le hago|hago"
    r"|mein\w*|unser\w*|wir|uns|gestern|mon|ma|mes|notre|nos|nous|ici)\b",
    re.IGNORECASE,
)
_DEFINITE = re.compile(
    r"\b(?:the|el|la|los|las|der|die|das|le|les) (?!\w+est\b|best|most|big|first|last|third|same|world|sun"
    r"|moon|earth|sea|sky|internet|difference|meaning|plot|capital|way|word|speed|size|average|time|comas)"
    r"(?P<noun>[\w-]+)(?! (?:of|for|between|is|are|to|del?|que|des?|du)\b)",
    re.IGNORECASE,
)
_OF_THE_WORLD = re.compile(
    r"^\W*(?:[\w+#.-]{1,20}: |explain|translate|define|who (?:is|was|were)\b|what time is it|is there a way"
    r"|c[oó]mo se|quién (?:es|fue|\w+ó)\b|explica|traduce|was ist|qu'est-ce)",
    re.IGNORECASE,
)
_QUOTED = re.compile(r"[\"“«][^\"”»]{3,}[\"”»]")
_NAME = re.compile(r"(?<=[\w,;] )[A-ZÁÉÍÓÚÑ][\wá-ÿ]{2,}\b")


def asks_in_general(prompt: str, memories: Iterable[str] = ()) -> bool:
    """Whether it is a question or task that anybody could ask, with nothing in it of the person's own.

    `memories`: texts that may be meant; a name that stands in them makes the question a special one.

    >>> asks_in_general("how do I reverse a string in TypeScript")
    True
    >>> asks_in_general("how do we deploy to staging?")
    False
    >>> asks_in_general("What did Caroline research?", ["Caroline looked into adoption."])
    False
    """
    said = _QUOTED.sub('""', " ".join(prompt.split()))
    if not _ASKS_IN_GENERAL.match(said) or _SHARED.search(said):
        return False
    if _DEFINITE.search(said) and not _OF_THE_WORLD.match(said):
        return False
    names = "|".join(map(re.escape, _NAME.findall(said)))
    return not names or not any(re.search(rf"\b(?:{names})\b", text) for text in memories)
