"""The rule for decisions, with the reason when one is given."""

from __future__ import annotations

import re

from mcp_memory.capture.lexicon import I
from mcp_memory.capture.speech import Sentence

_DECIDED = re.compile(
    r"\b(?:we|I|the team|team|my team|the board|the client|the customer|management|\w+ and I)(?:'ve"
    r"| have| had)?(?: just| now| all| finally| also| already| actually)*"
    r" (?:decided (?!(?:whether|if)\b)|agreed (?:on|to|that|with|upon)|chose\b|chosen\b|picked\b(?! up)"
    r"|settled (?:on|for)|ruled out|opted (?:for|to|against)|went (?:with|for)\b|switched (?:from|to"
    r"|over)|migrated (?:from|to)|"
    r"concluded that|committed to|standardi[sz]ed on|voted (?:for|to|against))"
    r"|\b(?:we|the team)(?:'ve| have)? (?:dropped|abandoned|retired) (?!the ball|off|a |an )"
    r"|\b(?:we(?:'ll| will)|we're going to|we are going to) (?:stick (?:with|to)|use|go with|go for|drop"
    r"|adopt|standardi[sz]e on|support|keep using)\b"
    r"|\b(?:let's|let us) (?:go with|stick (?:with|to)|settle on|adopt|standardi[sz]e on)\b"
    r"|^(?:ok,? |so,? )*(?:final )?(?:decision|final call|verdict|decided|agreed|decisión|acordado"
    r"|decidido)\s*:"
    r"|\b(?:hemos|he|han) (?:decidido|acordado|elegido|escogido|optado|descartado|quedado en)\b(?! nada)"
    r"|\b(?:decidimos|decidí|acordamos|elegimos|elegí|descartamos|optamos por|nos quedamos con|escogimos"
    r"|quedamos en que)\b"
    r"|\bvamos a (?:usar|adoptar|quedarnos con|utilizar|seguir con|pasar a|migrar a)\b",
    I,
)
_OPEN = re.compile(
    r"\b(?:haven't|have not|hasn't|not yet|didn't|did not|should|could|might|may|maybe|perhaps|whether"
    r"|if we|would|want to|need to|must|yet to|"
    r"todavía no|aún no|no hemos|deberíamos|quizás?|tal vez|podríamos|si )\b",
    I,
)
_AT_ONCE = re.compile(
    r"\b(?:let's|we(?:'ll| will)) use (?:this|that|it|the (?:same|first|second))\b|\bfor (?:now"
    r"|this (?:test|run|file|one))\b|\bpor ahora\b|\bpara esta prueba\b",
    I,
)


def decision(sentence: Sentence) -> str | None:
    """What was decided, chosen, agreed on or ruled out.

    >>> decision(Sentence("We decided to use SQLite because the app must work offline."))
    'We decided to use SQLite because the app must work offline.'
    >>> decision(Sentence("Hemos elegido Hetzner por el precio."))
    'Hemos elegido Hetzner por el precio.'
    >>> decision(Sentence("We should decide this week whether we want Kafka."))
    >>> decision(Sentence("Let's go through the failing tests."))
    """
    found = _DECIDED.search(sentence.text)
    if sentence.is_question or not found or _AT_ONCE.search(sentence.text):
        return None
    # Doubt counts only before the verb: the reason may well say what must be.
    return None if _OPEN.search(sentence.text[: found.end()]) else sentence.text
