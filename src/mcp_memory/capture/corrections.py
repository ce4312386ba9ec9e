"""The rule for corrections of what the assistant did or believed."""

from __future__ import annotations

import re

from mcp_memory.capture.lexicon import I, is_fleeting, names_a_value
from mcp_memory.capture.speech import Sentence

_NO = re.compile(
    r"^(?:wait,? )?(?:no(?:pe|,? no|,? wait| no)?|nah|nee|nein|non|mais non|(?:small |quick "
    r"|tiny )?correction\b[^,:;.–—]*"
    r"|(?:une )?petite correction|kleine Korrektur|wrong|incorrect|not (?:quite|right|correct|true)|actually"
    r"|correction|in fact|"
    r"that(?:'s| is| was) (?:wrong|not (?:right|correct|true|what I (?:said|meant|asked))|incorrect"
    r"|outdated|old|no longer (?:true|right))|"
    r"you(?:'ve| have)? (?:misunderstood(?: me)?|mixed (?:them|it|that|those) up|got (?:it|that) wrong"
    r"|are wrong|confused \w+)|"
    r"en realidad|te equivocas|no es así|eso (?:está mal|no es (?:así|correcto|cierto)|ya no es así)"
    r"|incorrecto|corrección|mal)"
    r"\s*[,:;.!–—-]+\s*(?P<rest>.*)$|^(?:actually|en realidad) (?P<rest2>.*)$",
    I | re.DOTALL,
)
_INSISTS = re.compile(
    r"^(?:as |like )?(?:I (?:said|told you|meant|asked for|wanted)|he dicho|te (?:he dicho|dije)"
    r"|quería decir)\b(?P<rest>.*)$",
    I,
)
_CONTRAST = re.compile(
    r"\binstead(?: of)?\b|\brather than\b|,? (?:and |but )?not (?!sure|yet|now|really|working)\w"
    r"|\bnever \"?\w|\bno longer\b|\blike I (?:said|told)\b"
    r"|\ben (?:lugar|vez) de\b|, (?:y )?no (?:el|la|los|las|un|una|en|de|a|\w+)\b| y no \w",
    I,
)
_STATES = re.compile(
    r"^(?:(?:it's|it is) called|se llama|usamos|pasamos) \w|^(?:the|our|my|we|they|el|la|los|las"
    r"|nuestr[oa]|mi|aquí|ahora|era|bei uns|wir|chez nous|on|c'est|it's|that's|\d[\w.:]*"
    r"|(?-i:[A-Z])\w+)(?:\b|')"
    r".*(?:\b|')(?:is|are|was|re|'s|ist|sind|heißt|läuft|est|sont|se \w+ siempre|se sale|runs?|lives?|uses?"
    r"|use|has|have|called|does|starts?|ends?|takes?|moved|switched"
    r"|owns?|goes|comes|es|está|son|se llama|usa|usamos|pasamos|tiene|va)\b",
    I,
)
_REJECTED = re.compile(
    r"\b(?:instead of|rather than|en lugar de|en vez de|no longer|(?:and |but )?not|y no|, no"
    r"|switched from|moved from|"
    r"pasamos de|from)\s+"
    r"(?:the |a |an |on |in |at |per |el |la |los |las |un |una )?(?P<what>[\w./@:#-]+(?: \d[\w.]*)?)",
    I,
)
_NOT_X_BUT_Y = re.compile(
    r"^not (?!(?:only|just|much|really|sure|yet|bad|now)\b)[\w. -]+, (?:we|it's|it is|but|use|the|I)\b", I
)
_IS_NOT = re.compile(
    r"^(?:the|our|my|it|that|this|el|la|los|las|der|die|das|le|les|c'|\w+)\b[\w' ]{0,40}?(?:\b|')(?:is|are"
    r"|was|were|re"
    r"|'s|s|es|son|era|está|ist|sind|est|heißt|se llama) [^,.]{1,40}?,? (?:and |und |y |et )?(?:not|no"
    r"|nicht|pas)"
    r" (?!sure|yet|now|really|working|only|just|that|so|very|too|bad|funny|me|sé|what|as|like|how|because"
    r"|idea|clue|need"
    r"|problem|worries|luck|way|errors?|output|matter|longer|one\b|more\b|in the|even|quite|es\b|hay"
    r"|funciona|puedo|veo)[\w`'\"]"
    r"|^(?:it|that)(?:'s| is) not (?!what I (?:asked|said|meant"
    r"|want))[`\"'\w][^,.]{1,40}[,.;] .*(?:\b(?:use|is|it's|are|called|go with)\b)"
    r"|^(?:sorry,? )?I meant .{2,60}|^wrong (?:one|repo|branch|file|person|name|date|day|account"
    r"|project)\b.{3,}"
    r"|^(?:there(?:'s| is) no|we don't have an?) .{2,40}[,;.] (?:it's|we|that's|the)\b|\bis what we (?:use"
    r"|run|have|call)\b|^(?:ahora|now|jetzt|maintenant) (?:it's|es|ist|c'est) (?:called |named )?\w+"
    r"|^(?:now we use|ahora usamos)\b"
    r"|\b(?:it's|it is|we're on) (?=\w*[\d@/._-])[\w.@:/-]+ now\b|\b(?:we don't use|we stopped using"
    r"|ya no usamos)\b"
    r"|\b(?:was|got|is) renamed (?:to|from)\b|\b(?:that's|that is|that was|ese era|esa era) the (?:old"
    r"|wrong|previous)\b(?! \w+[.!]?$)"
    r"|\bI (?:said|meant|mean) .{2,40},? not\b|\bit's (?:spelled|spelt|pronounced|written|called)\b"
    r"|\bes con \w\b"
    r"|^(?:no )?es .{1,30}, es\b|^no es .{1,40},? (?:es|sino)\b|\bis (?:deprecated|dead|gone"
    r"|retired), (?:use|it's|we)\b"
    r"|\b(?:ya no|no longer|nicht mehr|n'est plus)\b.*\b(?:ahora|now|jetzt|sondern|maintenant)\b",
    I,
)
_UNSURE = re.compile(
    r"\b(?:I think|I guess|maybe|perhaps|probably|if|whether|not sure|creo|quizás?|vielleicht|peut-être)\b", I
)
_SWITCH = re.compile(
    r"^(?:please )?(?:use|take|call|put|keep|write|run|name|usa|pon|llama|escribe"
    r"|toma) .+\b(?:instead of|rather than|en (?:lugar|vez) de)\b .+",
    I,
)
_LEADS = re.compile(
    r"^(?:no|nope|no,? [\w.:%/-]{1,15}|wrong|that(?:'s| is) (?:not right|wrong|not correct|incorrect"
    r"|outdated)"
    r"|you keep \w+ing .*|you misunderstood.*|(?:wait, )?you've mixed.*|eso está mal|te equivocas"
    r"|no es así|eso no es (?:así|correcto))[.!]?$",
    I,
)
_DENIED_THEN_TOLD = re.compile(
    r"^(?:it|that|they|he|she|we) (?:doesn't|don't|isn't|aren't|can't|cannot|won't|didn't|wasn't|weren't)"
    r"[^,;.]{0,30}[,;.] (?P<told>(?:it|they|we|you|he|she|the|only|those|these)\b.*\b(?:have|has|needs?"
    r"|must|is|are|was"
    r"|were|uses?|takes?|only|runs?|goes|comes|lives?|starts?|ends?)\b.*)",
    I,
)
_OWN_WAY = re.compile(r"^(?:we|I|our|usamos|nosotros|use|usa|the|[A-Z]\w+)\b", I)
_HOLLOW = re.compile(
    r"^(?:thanks?|thank you|you(?:'ll| will|'re| are| can)|go on|please|wait|still|same"
    r"|it(?:'s)? (?:still|doesn't|didn't|looks|works|is fine|failed)|that (?:didn't|doesn't|looks|works"
    r"|still)|this (?:didn't|doesn't|still)|I (?:don't|didn't|haven't|think|guess|am|'m)|"
    r"let's|let me|show|open|stop|leave|undo|idea|problem|worries|gracias|sigue|está bien|no |funciona"
    r"|lo |me parece|déjalo|espera)\b",
    I,
)


def correction(sentence: Sentence) -> str | None:
    """Statements that something done or believed is wrong.

    >>> correction(Sentence("No, use httpx instead of requests."))
    'No, use httpx instead of requests.'
    >>> correction(Sentence("We use pytest here.", before="You keep using unittest."))
    'You keep using unittest. We use pytest here.'
    >>> correction(Sentence("No, that didn't work."))
    >>> correction(Sentence("No, gracias."))
    """
    text = sentence.text
    if sentence.is_question:
        return None
    if _LEADS.match(sentence.before) and _OWN_WAY.match(text) and _STATES.match(text):
        return f"{sentence.before} {text}"
    if _NOT_X_BUT_Y.match(text) or (_SWITCH.match(text) and names_more_than_code(text)):
        return text
    if (
        _IS_NOT.search(text)
        and not is_fleeting(text)
        and names_more_than_code(text)
        and not _UNSURE.search(text)
    ):
        return text
    denied = _NO.match(text)
    if denied and not names_more_than_code(text):
        return None
    if denied:
        return text if _holds((denied["rest"] or denied["rest2"] or "").strip()) else None
    insisted = _INSISTS.match(text)
    return text if insisted and _CONTRAST.search(insisted["rest"]) else None


def rejected(text: str) -> str | None:
    """The part that a correction denies.

    >>> rejected("No, use httpx instead of requests.")
    'requests'
    >>> rejected("The deadline is Friday, not Thursday.")
    'Thursday'
    """
    found = _REJECTED.search(text)
    return found["what"].strip(" .,;:!\"'`") if found else None


def replaces(text: str, known: str) -> bool:
    """Whether what is known holds just what the correction rejects.

    >>> replaces("No, use httpx instead of requests.", "We use requests for HTTP.")
    True
    """
    wrong = rejected(text)
    return (
        bool(wrong) and bool(re.search(rf"(?<!\w){re.escape(str(wrong))}(?!\w)", known, I)) and text != known
    )


def names_more_than_code(text: str) -> bool:
    """Whether the switch is about a tool or a place, and not about a line of code at hand."""
    if re.search(r"\b(?:we|we're|our|us|siempre|nosotros|usamos)\b", text, I):
        return True
    return not re.search(
        r"\b(?:here|there|this (?:function|line|file|loop|test|case|run)|loop|variable|aquí|esta (?:función"
        r"|línea))\b",
        text,
        I,
    )


def _holds(rest: str) -> bool:
    """Whether what follows the "no" says how it is, and not only that it is not so."""
    told = _DENIED_THEN_TOLD.match(rest)
    if told:
        return not is_fleeting(told["told"])
    if len(rest.split()) < 3 or _HOLLOW.match(rest) or rest.endswith("?"):
        return False
    if _CONTRAST.search(rest):
        return True
    return (
        bool(_STATES.match(rest))
        and not is_fleeting(rest)
        and (names_a_value(rest) or len(rest.split()) >= 5)
    )
