"""The rule for preferences and standing rules that a person states."""

from __future__ import annotations

import re

from mcp_memory.capture.lexicon import ANAPHORIC, PAST_EVENT, I
from mcp_memory.capture.speech import Sentence

_LIKES = re.compile(
    r"^(?:personally,? |in general,? |generally,? )?(?:I (?:really |strongly |generally |usually |much "
    r"|always |absolutely |personally )?"
    r"(?:prefer(?! (?:if|to (?:wait|see|look|start|do (?:it|this|that))))\b|(?:like|love"
    r"|enjoy)\b(?! (?:how|your|you|the|this|these|those|that|them|him|her|it|seeing|watching|to (?:help"
    r"|see|know|hear|add|make|ask|get)|getting|what|where)\b)|hate\b|dislike\b|detest\b|can't stand\b"
    r"|cannot stand\b|don't (?:like|want (?:you|any))\b|do not like\b)"
    r"|I'd (?:rather|prefer)(?! (?:if|to (?:wait|see|look|start)))|I (?:usually|normally|typically"
    r"|generally) (?!get|see)\w+|I want (?:you to always|answers|replies|responses|commits|commit messages)"
    r"|my preference is|my preferred \w+|my fav(?:ou?rite|orite) \w+(?: \w+)? is"
    r"|(?:yo )?prefiero|(?:a mí )?me (?:gustan?|encantan?|molestan?)|no me gustan?|no soporto|odio"
    r"|detesto|mi \w+ (?:favorit[oa]|preferid[oa]) es)\s*(?P<what>.*)",
    I,
)
_ORDER = re.compile(
    r"^(?:please |and |but |so )*(?:never (?!(?:mind|got|seen|had|been|saw|ever|give|stop|say|again|too"
    r"|a|the|in)\b)[a-z]+(?<!ed)(?<!ing)\b|always (?!(?:is|was|here|happy|glad|good|great|up|a|the|there"
    r"|in|nice|fun|so|been|had)\b)[a-z]+(?<!ed)(?<!ing)(?<!ly)\b|(?:don't|do not) ever \w+"
    r"|stop (?:\w+ing)\b.*(?:all the time|every time|always|annoying|hate|please stop|in (?:every|your))"
    r"|nunca (?!(?:he|había|hemos|me ha)\b)\w+|jamás (?!(?:he|había)\b)\w+|siempre (?:que|usa|usamos"
    r"|escribe|pon|ejecuta|responde|contesta|pregunta|haz|hay que|trabajamos|\w+mos)\b)",
    I,
)
_HABIT = re.compile(
    r"\b(?:we|you|y'all)(?: (?:should|must|can|may))? (?:always|never) (?!(?:find|found|know|knew|get"
    r"|got|say|said|do that|initiali[sz]ed|expected|had|were|was|did)\b)\w+(?<!ed)\b"
    r"|\byou (?:must|may|should) (?:not|never|always)\b|\bmust never\b|\bshould (?:never|always)\b"
    r"|\bmust not\b.*\bever\b"
    r"|\b(?:as a rule|by convention|house rule|our (?:rule|convention|policy|standard|style(?: guide)?"
    r"|practice)s?\b)"
    r"|\bthat's our (?:rule|convention|policy|style)\b|\bno exceptions\b"
    r"|^(?:in|for|on) (?:this|our|the|all) (?:\w+ )?(?:repo(?:sitory)?|project|codebase|code base|team"
    r"|company|monorepo|app|services?)s?,? (?:we|use|always|never|there)\b"
    r"|^we (?:don't|do not) (?:use|log|allow|write|commit|deploy|mix|nest|mock|store|push|do|want|ever)\b"
    r"|^(?:always|siempre),|, (?:always|never)[.!]?$"
    r"|\b(?:for|in|on) (?:every|all|each|any) (?:\w+ )?(?:commit|file|function|test|project|repo|module"
    r"|answer|reply|migration|endpoint|pr|pull request|change|class|script|component|query|response"
    r"|branch)s?\b"
    r"|\bnunca (?:usamos|desplegamos|hacemos|ponemos|escribimos|\w+mos)\b|\bsiempre (?:usamos|\w+mos)\b"
    r"|\bpor norma\b|\bnuestra (?:norma|regla|convención|política)\b"
    r"|^en (?:este|nuestro) (?:proyecto|repositorio|equipo|repo|código)\b|^(?:contéstame|respóndeme"
    r"|escríbeme|háblame) siempre\b|\b(?:resume|responde|contesta|escribe|pregunta|usa|avisa) siempre\b",
    I,
)
_MUST = re.compile(
    r"^(?:all|every|each|no) (?!of (?:this|that|these|it)\b|(?:need|worries|problem|one|idea|way"
    r"|time)\b)[\w -]{2,60}?\b(?:must|needs?(?: to)?|has to|have to|may|is to be|are to be)\b"
    r"|^(?:\w+ ){1,4}(?:must|should) (?:never|always)\b"
    r"|^(?:tod[oa]s? l[oa]s?|cada|ningún|ninguna) [\w ]{2,60}?\b(?:debe(?:n)?|tiene(?:n)? que"
    r"|necesita(?:n)?|va(?:n)? en)\b",
    I,
)
_ABOUT_THINGS = re.compile(
    r"^(?:the|this|that|it|its|el|la|los|las|esto|eso|apparently|\w+ (?:says|claims"
    r"|told))\b.*\b(?:always|never|siempre|nunca)\s+(?:\w+s|\w+ed|returns?|gets?|was|were|is|are|ha"
    r"|había|devuelve|falla|da|sale|se)\b"
    r"|\bI (?:never|always) (?:\w+ed|got|get|forget|knew|see|saw|had|end up|mix)\b|\byou (?:always|never"
    r"|can always)\b(?! (?:use|run|write|put|add|commit|push|ask))|\bI've never\b|\bI'd never\b"
    r"|\b(?:error|docs?|documentation|message|log|story|spec|ticket|readme|article|issue|book"
    r"|comment)s?\b[^.]{0,30}\b(?:says?|claims?|states?|reads?|tells?)\b",
    I,
)
_AT_HAND = re.compile(
    r"\b(?:in|for|inside) this (?:function|test|file|case|loop|component|method|class|one|line|run|time)\b"
    r"|^(?:please )?(?:never|always) \w+ (?:that|this|it|them)\b",
    I,
)
_PASSING = re.compile(
    r"\b(?:that too|too, thanks|this (?:version|one|idea|approach)|the idea|that idea|how (?:you|this"
    r"|it)|what you|where this|it (?:when|a lot|so far)?)\b|\bI like (?:it|that|this)\b",
    I,
)


def preference(sentence: Sentence) -> str | None:
    """What a person likes or dislikes in general, or wants done always or never.

    >>> preference(Sentence("I prefer tabs over spaces in Go."))
    'I prefer tabs over spaces in Go.'
    >>> preference(Sentence("Nunca hagas push a main."))
    'Nunca hagas push a main.'
    >>> preference(Sentence("The server always returns 500 for an empty body."))
    >>> preference(Sentence("I like it, thanks!"))
    """
    text = sentence.text
    if sentence.is_question or len(text.split()) < 3 or _AT_HAND.search(text):
        return None
    if _ABOUT_THINGS.search(text) or PAST_EVENT.search(text):
        return None
    liking = _LIKES.match(text)
    if liking:
        return None if _is_passing(liking["what"], text) else text
    return text if _ORDER.match(text) or _HABIT.search(text) or _MUST.match(text) else None


def _is_passing(what: str, text: str) -> bool:
    """Whether only the thing at hand is liked."""
    hates_when = re.match(r"it when\b", what, I)
    return not hates_when and (
        len(what.split()) < 1 or bool(ANAPHORIC.match(what)) or bool(_PASSING.search(text))
    )
