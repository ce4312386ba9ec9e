"""Extracts the sentences that a person says in their own name."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

LONGEST_SENTENCE = 400
"""In characters; a longer text is a document or a dump, not a memory."""

MOST_SENTENCES = 40
"""A longer message is mostly pasted text: only its beginning and end are the person's own."""

_EDGE = 8

_TAGGED = re.compile(
    r"<(private|mcp-memory|system-reminder|hook_context|environment_context|user_instructions"
    r"|INSTRUCTIONS"
    r"|local-command-\w+|command-\w+|bash-\w+|ide_\w+|task-notification|document|file|context|paste\w*)"
    r"\b[^>]{0,500}>.*?(?:</\1\s*>|\Z)",
    re.DOTALL | re.IGNORECASE,
)
_FENCE = re.compile(r"(```|~~~).*?(?:\1|\Z)", re.DOTALL)
# Blanks within a line only: over many empty lines, \s would be tried from each of them.
_QUOTED_LINE = re.compile(r"^[^\S\n]*>.*$", re.MULTILINE)
_LOG_LINE = re.compile(
    r"^(?:[^\S\n]{4,}\S.*|[^\S\n]*at \S+ ?\(.*|Traceback .*|[^\S\n]*File \".*"
    r"|\S*(?:Error|Exception|Warning|WARN|INFO|DEBUG|FATAL)\b:.*"
    r"|[0-9a-f]{7,40} \S.*|\d{4}-\d\d-\d\d[T ]\d\d:\d\d.*|\[[^\]]*\d[^\]]*\].*|[$#%] .*|[+-]{1,3}[^\s-].*"
    r"|npm ERR!.*|E {2,}.*"
    r"|\|.*\||[{}\[\]<].*|[\w.-]+@[\w.-]+:.*[$#].*)$",
    re.MULTILINE,
)
_LABELLED_LINE = re.compile(r"^[^\S\n]*(\w[\w .-]{0,24}):[^\S\n].*$", re.MULTILINE)
_MAIL = re.compile(
    r"^(?:From|To|De|Von|Para|An|À)[^\S\n]*:[^\n]+\n(?:[A-Za-zÀ-ÿ-]{2,12}[^\S\n]*:[^\n]*\n){0,6}?"
    r"(?:Subject|Asunto|Betreff|Objet)[^\S\n]*:.*?(?:^-- ?(?=\S|$)|\Z)",
    re.DOTALL | re.MULTILINE,
)
_QUOTED = re.compile(r"[\"“„«][^\"“”„«»\n]{20,2000}[\"“”»]")
_WITHIN = re.compile(r"[.!?]\s+\w")
_BLANKS = re.compile(r"[^\S\n]{2,}")
_BLANK_LINES = re.compile(r"\n(?: ?\n)+")
_END = re.compile(r"(?<=[.!?…])[\"”»')\]]*\s+(?=[\"“«'(¿¡]?\w)|\s*\n+\s*|(?<=[?!])\s+")
_BULLET = re.compile(r"^(?:[-*•]|\d{1,2}[.)])\s+")
_ABBREVIATED = re.compile(
    r"\b(?:e\.g|i\.e|etc|vs|approx|Dr|Mr|Mrs|Ms|Sr|Sra|No|p\.ej"
    r"|ej)\.$",
    re.IGNORECASE,
)

_LEAD = re.compile(
    r"^(?:(?:ok(?:ay)?|great|thanks?(?: you)?|cool|nice|perfect|good|alright|right|well|so|hm+|hmm|ah|oh"
    r"|fyi|btw|by the way"
    r"|also|and|but|first(?:ly)?|second(?:ly)?|third(?:ly)?|finally|one more thing|just so you know"
    r"|for context|context"
    r"|before you start|before we start|please|anyway|yes|yeah|yep|sure|hi|hello|hey"
    r"|vale|bien|perfecto|gracias|bueno|pues|por cierto|además|también|y|pero|hola|oye|sí|claro|primero"
    r"|segundo|por favor)"
    r"(?:\s+(?:all|then|there|everyone))?\s*[,:;!.–-]\s*|(?:ah|oh|and|but|also|so|y|pero|también"
    r"|además|yo|yeah|ok|okay|oye|hey|uf|nah|hmm+|a ver|na ja|alors)\s+)+",
    re.IGNORECASE,
)

_FRAMED = re.compile(
    r"^(?:(?:can|could|would) you\s+|please\s+|por favor,?\s*)?"
    r"(?:translate|draft|write|generate|compose|invent|make up|list \d|genera|inventa|schreib\w*"
    r"|übersetze?"
    r"|erfinde|fass\w*|formulier\w*|korrigier\w*|résume|corrige|écris|rédige|traduis|génère"
    r"|summari[sz]e|rephrase|rewrite|reword|proofread|fill|type|reply"
    r"|answer (?:him|her|them)|"
    r"change the (?:label|text|title|message|wording)|add (?:this|the|a) (?:line|text|sentence|note"
    r"|comment)|"
    r"print|echo|pretend|imagine|suppose|assume|say we|let's (?:say|pretend|assume|imagine)|what if"
    r"|in the story|"
    r"create (?:a|an|the) .*\b(?:saying|that says|with the text)|pick (?:a|some) (?:random|fake)|"
    r"traduce|escribe|redacta|resume|reescribe|supongamos|supón|imagina|imaginemos|finge|digamos|rellena"
    r"|añade (?:esta|la) (?:línea|frase))\b",
    re.IGNORECASE,
)
_TEXT = (
    r"e-?mails?|mails?|(?<!commit )messages?|posts?|tweets?|signs?|posters?|cards?|letters?|speech"
    r"|captions?|tooltips?|banners?"
    r"|headlines?|slogans?|poems?|songs?|lyrics|stor(?:y|ies)|scenes?|dialogues?|reviews?|quotes?"
    r"|sentences?|examples?"
    r"|fixtures?|test data|mock data|placeholder|announcements?|toasts?|monologues?|limericks?|jokes?"
    r"|carteles?|correos?"
    r"|mensajes?|cartas?|poemas?|canci[oó]n(?:es)?|cuentos?|historias?|frases?|ejemplos?|anuncios?"
    r"|chistes?"
    r"|nachrichten?"
    r"|schild|plakat|gedichte?|lied|geschichte|sätze?|beispiele?|courriels?|lettres?|affiches?|poèmes?"
    r"|chansons?|phrases?"
)
# A task on words that are to be somebody else's, or nobody's.
_TEXT_TASK = re.compile(
    r"\b(?:write|draft|make|create|add|put|send|give me|need|want|help me|come up with|use|change"
    r"|set|show"
    r"|display|insert"
    r"|pon(?:me)?|haz(?:me)?|manda(?:le)?|mándale|crea|necesito|dame|añade|schick\w*|mach\w*|brauche"
    r"|gib mir|mets|fais|crée)\b"
    rf"[^.?!]{{0,60}}\b(?:{_TEXT})\b"
    r"|\b(?:tell|reply to|answer|text|message) (?:him|her|them|everyone|the (?:team|client|customer)"
    r"|(?-i:[A-Z])\w+) (?:that|to)\b"
    r"|\b(?:dile|diles|contéstale|respóndele)\b|\bsag (?:ihm|ihr|ihnen)\b|\bdis-(?:lui|leur)\b"
    r"|\b(?:label|text|title|button|heading|comment|docstring|string|error message|etiqueta|texto"
    r"|título)\b[^.?!]{0,30}"
    r"(?:\b(?:saying|says?|reads?|that says|diga|dice|lautet)\b|:)",
    re.IGNORECASE,
)
_PASTES = re.compile(
    r"(?:here(?:'s| is| are)|below is|this is (?:what|the)|aquí (?:está|va|tienes|te dejo)"
    r"|hier (?:ist|sind)|voici)\b.*:$",
    re.IGNORECASE | re.DOTALL,
)
_SCOFFS = re.compile(
    r"^\W*(?:lo+l|lmao|(?:ha){2,}|(?:ja){2,}|hehe|mdr|yeah,? (?:sure|right)|(?:oh )?(?:sure|great),"
    r"|claro(?: que sí)?,|ja klar|bien sûr)"
    r"\W|\bsaid (?:no ?one|nobody)\b|\b(?:yeah,? (?:sure|right)|what could (?:possibly )?go wrong|(?:great"
    r"|brilliant"
    r"|genius) idea|qué buena idea|/s)\b|[🙄🤡]",
    re.IGNORECASE,
)
_FOR_A_WHILE = re.compile(
    r"\b(?:for|in|during) (?:this|the rest of (?:this|the)) (?:chat|session|conversation|file"
    r"|exercise|game"
    r"|scene|task|refactor"
    r"|demo|call|meeting|question)\b|\b(?:just|only) (?:for )?(?:today|now|this once)\b"
    r"|\bfor the next \d+ (?:min|hour)|\bin (?:\d+|a few|five|ten|twenty) (?:min\w*|hours?)\b"
    r"|\buntil I (?:say|tell|come)\b|\b(?:solo|sólo) (?:por )?(?:hoy|esta vez|ahora)\b|\bnur (?:heute"
    r"|diesmal|jetzt)\b"
    r"|\bjuste (?:aujourd'hui|cette fois)\b|\b(?:en|para|durante) est[ae] (?:sesión|conversación|tarea"
    r"|partida|juego|reunión)\b",
    re.IGNORECASE,
)
_TAKES_LEAVE = re.compile(
    r"\W*(?:(?:I )?(?:have to|need to|gotta|got to|must) (?:go|run|leave)"
    r"|(?:me tengo que|tengo que|debo) (?:ir|irme|marcharme|salir)|(?:ich )?muss (?:jetzt )?(?:los|weg)"
    r"|je dois (?:y aller|partir))(?: now| ya)?(?:[,.!;]+(?:\s\S+){0,3})?$",
    re.IGNORECASE,
)
_WHOLE_TURN_FRAMED = re.compile(
    r"^(?:(?:ok|so|now|and|y|ahora)[, ]+)?(?:suppose|imagine|pretend|assume|let's (?:say|pretend|assume"
    r"|imagine)|"
    r"hypothetically|role-?play|you are (?:now )?(?:a|an|my)\b|act as|supongamos|supón|imagina"
    r"|imaginemos|finge|digamos)\b"
    r"|\b(?:proofread|translate|summari[sz]e|rephrase|review|traduce|resume|revisa) (?:this|these"
    r"|the following|the (?:text|mail|email|message|paragraph|article) below|est[ea]"
    r"|lo siguiente)\b[^.?!]*:\s*(?:\n|$)",
    re.IGNORECASE | re.MULTILINE,
)


# Questions that are typed without their mark.
_ASKS = re.compile(
    r"^(?:(?:so|and|but|wait|hey|ok|hmm)[, ]+)*(?:(?:is|are|was|were|does|do|did|can|could|would"
    r"|will|should"
    r"|has|have) (?:it|there|that|this|these|the|you|u|we|I|they|he|she|any|my|our"
    r"|someone)\b(?! never| not)"
    r"|(?:who|why|how|which|where|whose)\b(?! I\b)|what(?:'s| is| are| was| does| do| did| would| if)\b"
    r"|when (?:is|are|was|does|do|did|will|can)\b|remind me (?:what|how|why|where|which|who)\b"
    r"|¿|(?:por qué|cómo|cuánt\w+|cuál\w*|quién\w*|dónde|me recuerdas|te acuerdas|explícame|es verdad)\b"
    r"|(?:warum|wie|wer|wo|welche\w*|weißt du|kannst du|ist es|gibt es)\b"
    r"|(?:est-ce|pourquoi|comment|combien|qu'est-ce|c'est quoi|tu te souviens)\b)",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Sentence:
    """One sentence, with the one before it in the same message."""

    text: str
    before: str = ""

    @property
    def is_question(self) -> bool:
        return self.text.rstrip("\"”»')* ").endswith("?") or bool(_ASKS.match(self.text))


def untagged(text: str) -> str:
    """The text without private and injected parts."""
    return _TAGGED.sub(" ", text)


def spoken(text: str) -> str:
    """The text without private, injected, quoted and pasted parts and code."""
    for pattern in (_TAGGED, _FENCE, _MAIL, _QUOTED_LINE, _LOG_LINE):
        text = pattern.sub("\n", text)
    text = _QUOTED.sub(_short_quote, _without_dialogue(text))
    return _BLANK_LINES.sub("\n\n", _BLANKS.sub(" ", text))


def _short_quote(quote: re.Match[str]) -> str:
    """Quoted words stay within their sentence; quoted sentences are somebody else's."""
    return "…" if _WITHIN.search(quote[0]) else quote[0]


def _without_dialogue(text: str) -> str:
    """The text without a pasted conversation: lines after a speaker's name, where one name recurs."""
    speakers = [line[1] for line in _LABELLED_LINE.finditer(text)]
    return _LABELLED_LINE.sub("", text) if len(set(speakers)) < len(speakers) else text


def sentences(text: str) -> list[Sentence]:
    """Sentences in the person's own voice, in order; empty if the turn is a task on quoted text."""
    if text.lstrip().startswith("/") or _WHOLE_TURN_FRAMED.search(text):
        return []
    said = _before_a_text(_own_part(list(_split(spoken(text)))))
    before = ["", *said]
    return [
        Sentence(_without_lead(one), previous)
        for one, previous in zip(said, before, strict=False)
        if len(one) <= LONGEST_SENTENCE and _is_own(_without_lead(one))
    ]


def _is_own(sentence: str) -> bool:
    """Whether it is meant to last: neither a text for others nor a temporary order."""
    return not (
        _FRAMED.match(sentence)
        or _TEXT_TASK.search(sentence)
        or _FOR_A_WHILE.search(sentence)
        or _SCOFFS.search(sentence)
        or _TAKES_LEAVE.match(sentence)
    )


def _before_a_text(said: list[str]) -> list[str]:
    """Up to a task on the words that follow it, such as "Draft a mail:"."""
    for number, one in enumerate(said):
        if _PASTES.match(one) or (
            one.endswith(":") and (_TEXT_TASK.search(one) or _FRAMED.match(_without_lead(one)))
        ):
            return said[:number]
    return said


def _own_part(said: list[str]) -> list[str]:
    return said if len(said) <= MOST_SENTENCES else [*said[:_EDGE], *said[-_EDGE:]]


def _split(text: str) -> Iterator[str]:
    held = ""
    for part in _END.split(text):
        piece = _BULLET.sub("", (part or "").strip())
        held = f"{held} {piece}".strip() if held else piece
        if held and not _ABBREVIATED.search(held):
            yield held
            held = ""
    if held:
        yield held


def _without_lead(sentence: str) -> str:
    """The sentence without "by the way," and the like before it."""
    shortened = _LEAD.sub("", sentence, count=1)
    return shortened if len(shortened.split()) >= 2 else sentence
