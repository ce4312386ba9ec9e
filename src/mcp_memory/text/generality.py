"""Whether a prompt is a general question, not one about the person or their work."""

from __future__ import annotations

import re
from collections.abc import Iterable

from mcp_memory.text.stopwords import FUNCTION_WORDS, listed
from mcp_memory.text.words import folded

_SMALL_TALK = listed(
    """
    yes yeah yep yup ok okay sure fine great good nice perfect cool awesome thanks thank thx ty please go
    continue proceed works worked work next again stop wait no nope hello hi hey morning evening bye sounds
    looks look right correct agreed lgtm done ready now try
    vale gracias claro perfecto genial hola buenos buenas dia dias tardes noches tal va listo sigue continua
    adelante bien muy
    danke ja nein weiter gut super bitte hallo passt genau
    merci oui accord tres salut bonjour suite ca et
    """
)
_MOST_SMALL_TALK = 8

_OPENING = (
    r"^\W*(?:[\w+#.-]{1,20}:\s*)?"
    r"(?:(?:hey|hi|ok|quick question|random question|so|btw|just wondering|oye|una pregunta)[,: ]+)*"
)
_ASKS_IN_GENERAL = re.compile(
    _OPENING + r"(?:"
    r"(?:what(?:'s| is| are| was| were| does| do| did| year| kind| makes| language| country| time)"
    r"|who(?:'s| \w+)|why (?:do|does|is|are|did|was)|when (?:was|did|were|is)|where (?:is|are|was|did)"
    r"|how (?:do|does|did|can|to|many|much|long|far|old|big|is|are)|which"
    r"|is|are|was|were|does|do|did|can|could|should|will|would)\b"
    r"|(?:explain|define|describe|translate|convert|calculate|compute|give me|tell me|write|compose|generate"
    r"|list|show me|name|fix this|polish|proofread|correct|summari[sz]e|recommend|suggest|difference between"
    r"|make me an?|regex|recipe|best way|how|statistical|synonyms?|tips|ideas?|help me)\b"
    r"|(?:¿\s*)?(?:qué|que es|quién|quien|cómo|como se|cuál|cuáles|cuánt[oa]s?|cuándo|dónde|por qué"
    r"|es verdad)\b"
    r"|(?:explícame|explica|define|traduce|calcula|corrige|corrígeme|escribe|dame|dime|recomiéndame|resume"
    r"|pasa|convierte)\b"
    r"|(?:was ist|wer|wie|warum|wo|wann|welche[rs]?|erkläre?|übersetze?)\b"
    r"|(?:qu'est-ce|c'est quoi|pourquoi|comment|combien|qui|quel(?:le)?s?|explique|traduis)\b)"
    r"|\b(?:in general|en general|im allgemeinen|en général)\b",
    re.IGNORECASE,
)
_SHARED = re.compile(
    r"\b(?:my (?!last|first|next|previous|current|own\b)|mine|our|ours|we|us|we're|we've|let's|i'm|i've"
    r"|am i|do i lead|again"
    r"|last (?:time|week|month|session)|yesterday|earlier|still|already|here|should i|do i (?:have|need)"
    r"|can i (?:have|eat|take)|i have"
    r"|al final|otra vez|(?:qué|dónde|cuándo|quién|cuáles|cuál) (?:\w+ ){0,2}(?:pido|pongo|subo|llevo|mando"
    r"|entrego"
    r"|guardo|compro|digo|reservo|aviso|llamo|invito|preparo|traigo)|me (?:quedan?|faltan?|tocan?|viene|han"
    r"|habían)"
    r"|mis?|nuestr[oa]s?|nosotros|tenemos|tengo|hicimos|\w+amos|aquí|ayer|todavía|le hago|voy"
    r"|mein\w*|unser\w*|wir|uns|gestern|mon|ma|mes|notre|nos|nous|ici)\b",
    re.IGNORECASE,
)
_AT_HAND = re.compile(
    r"\b(?:this|these) (?!mean|work|sentence|paragraph|text|code|folder|file|error)\w+", re.IGNORECASE
)
# "The build" is one that both know; "the boiling point of nitrogen" is not. A plural article says little: it
# also stands before whole kinds ("las ovejas").
_DEFINITE = re.compile(
    r"\b(?:the|el|la|der|die|das|le) (?!\w+est\b|best|most|big|first|last|third|same|world|sun|moon|earth|sea"
    r"|sky|internet|difference|meaning|plot|capital|way|word|speed|size|average|time|comas|primary|palabra)"
    r"[\w-]+\b(?!(?: [\w-]+){0,2} (?:of|for|between|is|are|to|in|on|del?|que|des?|du)\b)",
    re.IGNORECASE,
)
_OF_THE_WORLD = re.compile(
    r"^\W*(?:[\w+#.-]{1,20}: |explain|translate|define|who (?:is|was|were|\w+ed|built|wrote|made)\b"
    r"|what time is it|is there a way|c[oó]mo se|quién (?:es|fue|\w+ó)\b|qué significa|explica|traduce"
    r"|was ist|qu'est-ce)",
    re.IGNORECASE,
)
# Asks for knowledge of a whole kind, whatever the memory knows by the names in it.
_OF_A_KIND = re.compile(
    r"\b(?:difference|differences|distinction) between\b|\b(?:pros and cons|advantages|disadvantages"
    r"|drawbacks|benefits|history|origin|etymology|definition|meaning) of (?!our|my|the (?:\w+ ){0,2}we\b)"
    r"|^\W*(?:what|who|when|which)\b[^,]{0,40}\b(?:introduced|invented|discovered|founded|released)\b"
    r"|^\W*(?:what(?:'s| is| are)|explain(?: to me)?(?: what)?|define) (?:an? "
    r"|meant by )(?!.* (?-i:[A-Z][a-z]))"
    r"|\b(?:written in|better than|faster than|the same as|short for|stands? for)\b"
    r"|\bhow (?:does|do) [\w ]{2,30} (?:differ|compare|work)\b"
    r"|\b(?:diferencias?|distinción) (?:hay )?entre\b|\b(?:ventajas|desventajas|inconvenientes|historia"
    r"|origen|significado|definición) de (?!mi|nuestr)"
    r"|^\W*(?:qué|que) (?:es|son|significa|quiere decir)\b|^\W*(?:quién|quien|cuándo) (?:\w+ )?(?:descubrió"
    r"|inventó"
    r"|fundó|escribió|ganó|nació)\b"
    r"|^\W*cuál(?:es)? (?:es|son|era|fue) (?:el|la|los|las) (?:velocidad|capital|masa|distancia|altura"
    r"|población|fórmula"
    r"|temperatura|unidad|diferencia|mejor|más|mayor|menor)\b|\bmás \w+,? (?:el|la|los|las)\b[^?]+\bo\b"
    r"|\b(?:unterschied zwischen|vorteile von|différence entre|avantages d)",
    re.IGNORECASE,
)
_OF_SOMEBODY = re.compile(r"\b[A-ZÁÉÍÓÚÑ][\wá-ÿ]+'s\b|\b(?i:did|does|has) [A-ZÁÉÍÓÚÑ][a-zá-ÿ]+\b")
_IN_GENERAL = re.compile(r"\b(?:in general|en general|im allgemeinen|en général)\b", re.IGNORECASE)
_INVENTS = re.compile(
    r"^\W*(?:(?:please|can you|could you) )?(?:write|compose|invent|make up|tell|give)(?: me"
    r"| us)? (?:an? )?(?:[\w-]+ ){0,2}"
    r"(?:poem|haiku|limerick|joke|riddle|rap|lullaby|fairy tale|bedtime story|short story)s?\b"
    r"|^\W*(?:escribe|escríbeme|inventa|cuéntame|dime) (?:un|una) (?:\w+ ){0,2}(?:poema|haiku|chiste|cuento"
    r"|adivinanza)\b",
    re.IGNORECASE,
)
_QUOTED = re.compile(r"[\"“«][^\"”»]{3,}[\"”»]")
_NAME = re.compile(r"(?<=[\w,;] )[A-ZÁÉÍÓÚÑ][\wá-ÿ]{2,}\b")
_WORD = re.compile(r"\w+")


def is_small_talk(prompt: str) -> bool:
    """Whether a prompt only agrees, thanks, greets or says to go on.

    >>> is_small_talk("yes do that")
    True
    >>> is_small_talk("what am I allergic to?")
    False
    """
    words = _WORD.findall(folded(prompt))
    return len(words) <= _MOST_SMALL_TALK and all(
        word in _SMALL_TALK or word in FUNCTION_WORDS for word in words
    )


def is_about_the_person(prompt: str) -> bool:
    """Whether something in it is the person's own ("my", "we", "am I").

    >>> is_about_the_person("what am I allergic to?")
    True
    """
    return bool(_SHARED.search(prompt))


def asks_in_general(prompt: str, memories: Iterable[str] = ()) -> bool:
    """Whether anybody could have asked it: it names nothing of the person's own.

    `memories`: texts that may be meant; if most names in the question stand in them, it is a special one.

    >>> asks_in_general("how do I reverse a string in TypeScript")
    True
    >>> asks_in_general("how do we deploy to staging?")
    False
    >>> asks_in_general("What did Caroline research?", ["Caroline looked into adoption."])
    False
    >>> asks_in_general("is it far from Ghent to Bruges?", ["The office is in Ghent."])
    True
    """
    said = _QUOTED.sub('""', " ".join(prompt.split()))
    if _INVENTS.match(said):
        return True
    if not _ASKS_IN_GENERAL.search(said) or is_about_the_person(said) or _AT_HAND.search(said):
        return False
    if _IN_GENERAL.search(said) or (_OF_A_KIND.search(said) and not _OF_SOMEBODY.search(said)):
        return True
    if _DEFINITE.search(said) and not _OF_THE_WORLD.match(said):
        return False
    names = _NAME.findall(said)
    texts = tuple(memories)
    known = sum(any(re.search(rf"\b{name}\b", text) for text in texts) for name in names)
    return not names or known <= len(names) / 2
