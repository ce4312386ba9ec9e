"""The rule for work postponed to another time."""

from __future__ import annotations

import re

from mcp_memory.capture.lexicon import I
from mcp_memory.capture.speech import Sentence

_LATER = (
    r"(?:later|tomorrow|next (?:week|month|sprint|session|time|monday|tuesday|wednesday|thursday|friday)"
    r"|another (?:day|time)|some other time|"
    r"after (?:the|that|lunch)|this (?:week|weekend|afternoon)|on (?:monday|tuesday|wednesday|thursday"
    r"|friday)|before (?:the|we|i) \w+|in the next \w+|eventually|"
    r"mañana|más tarde|luego|otro día|la (?:semana|próxima) \w+|la semana que viene|el (?:lunes|martes"
    r"|miércoles|jueves|viernes)|el mes que viene|después de)"
)
_LEFT = re.compile(
    r"^(?:todo|to-?do|fixme)\b[^:.]{0,50}:|\b(?:left|still|yet) to do\b|\b(?:on|to) (?:the|my|our) (?:list"
    r"|backlog"
    r"|todo list)\b.*:|\bonly half (?:done|finished)\b|\b(?:isn't|not) (?:done|finished|handled"
    r"|implemented) yet\b"
    r"|\b(?:somebody|someone) (?:has|needs) to\b|\b(?:has|have|needs?) to .{3,60} before (?:the |we |\d|v\d"
    r"|next )"
    r"|\bmuss (?:ich )?noch\b|\bmüssen (?:wir )?noch\b|\b(?:il )?(?:faut|faudra|reste) (?:encore|à)\b"
    r"|\bdon't let me forget\b|\bat some point\b|\bhaven't (?:got(?:ten)?|gotten) (?:around|round) to\b"
    r"|\bon my list\b"
    r"|\b(?:I'll|we'll) .{3,60} (?:later|tonight|tomorrow|next week|on (?:mon|tues|wednes|thurs|fri)day)\b"
    r"|^(?:open (?:question|point)|pending|next up|later|still missing|missing)\s*:|\bneeds? a follow-?up\b"
    r"|\bmañana (?:toca|hay|tengo)\b|\bno nos olvidemos de\b|\btengo que .{3,60} antes de\b"
    r"|\bpendiente de \w+"
    r"|\bqueda(?:n)? pendientes?\b|\bme falta\b|\bnos falta\b"
    r"|^(?:todo|to-?do|open (?:point|item|question|task|issue)s?|follow-?up|still (?:open|to do)"
    r"|pendiente|queda pendiente|por hacer|tarea)\s*:"
    r"|\b(?:we|I)(?:'ll)? (?:still|also still|eventually) (?:(?:need|have|want|ought) to|must|should"
    r")\b|\b(?:we|I) still (?:haven't|must)\b"
    r"|^(?:please )?remind me (?:to|about|that|on|next|tomorrow)\b|\brecuérdame (?!cómo|qué|por qué|cuál"
    r"|dónde)\w+"
    r"|\bwhat(?:'s| is) (?:still )?left (?:is|are|to do:|to do is)\b|\bwhat remains (?:is|are)\b"
    r"|\bnobody has (?:\w+ed|done|written) .* yet\b"
    r"|\b(?:todavía|aún) (?:tenemos|tengo|hay|falta|queda)\b.*|\bfalta por \w+|\bqueda por \w+"
    r"|\b(?:tengo|tenemos) pendiente\b",
    I,
)
_PUT_OFF = re.compile(
    rf"\b(?:leave|park|postpone|defer|do|finish|tackle|pick up|pick it up|come back to|get back to"
    rf"|return to|continue with|revisit|dejamos|dejémoslo|deja|aparcamos|retomamos|lo vemos"
    rf"|lo hacemos)\b.*\b{_LATER}\b"
    rf"|^(?:{_LATER}),? (?:we|I)(?:'ll)? (?:(?:have|need|want|ought) to|must|should|will)\b"
    rf"|^{_LATER} (?:tengo|tenemos|hay) que\b"
    rf"|\b(?:we|I) (?:(?:have|need|ought) to|must|should) .*\b{_LATER}[.!]?$|\b(?:tengo|tenemos"
    rf"|hay) que .*\b{_LATER}[.!]?$"
    r"|\bwe'll (?:come|get) back to\b|\bwe'll pick (?:it|this|that) up\b",
    I,
)
_THIS_LATER = re.compile(
    r"\b(?:finish|continue|do|leave|fix|look at) (?:it|this|that|here)(?: here)? (?:later|tomorrow"
    r"|next time|another day)[.!]?$"
    r"|\b(?:seguimos|lo (?:vemos|hacemos|dejamos|acabamos)) (?:luego|mañana|más tarde|otro día)[.!]?$",
    I,
)
"""Puts the work at hand off, without a word of what it is."""
_UNSURE = re.compile(r"\b(?:probably|maybe|might|perhaps|think about|decide|quizás?|a lo mejor)\b", I)
_FOR_THE_ASSISTANT = re.compile(
    r"^(?:you|please|can|could|tienes|puedes|first|now)\b|\b(?:right )?now\b(?<!for now)|\bfirst\b"
    r"|\bI need (?:you|a|an)\b|\byou (?:still )?(?:need|have)\b|\bthen\b",
    I,
)


def todo(sentence: Sentence) -> str | None:
    """Tasks that a person postpones.

    >>> todo(Sentence("We still need to rotate the signing keys, but not today."))
    'We still need to rotate the signing keys, but not today.'
    >>> todo(Sentence("Dejamos el test inestable para mañana."))
    'Dejamos el test inestable para mañana.'
    >>> todo(Sentence("We need to fix this bug now."))
    """
    text = sentence.text
    if sentence.is_question or len(text.split()) < 4 or _UNSURE.search(text) or _THIS_LATER.search(text):
        return None
    if _LEFT.search(text):
        return None if re.match(r"(?:you|please|can)\b", text, I) else text
    return text if _PUT_OFF.search(text) and not _FOR_THE_ASSISTANT.search(text) else None
