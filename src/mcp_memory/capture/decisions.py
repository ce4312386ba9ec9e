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
    r"|\b(?:let's|let us) (?:keep|use|stay (?:on|with)|drop|skip|move to) (?!(?:it|this|that|the (?:same"
    r"|first"
    r"|second|other))\b)(?:[^,.;]|\.\d){2,60}?,? (?:because|since|as it|so that|otherwise)\b"
    r"|\b(?:we're|we are|I'm|I am) (?:going|sticking|staying|settling) (?:with (?!you|him|her|them|me)"
    r"|for (?!lunch|dinner|a )|on (?!a |the phone))"
    r"|\b(?:we|I) (?:ended up (?:with|using|going|choosing|picking)|turned down|rejected|decided against)\b"
    r"|\b(?:we(?:'re| are)|I'm) (?:dropping|killing|keeping|switching to|moving to|migrating to"
    r"|not (?:going to|doing"
    r"|using|supporting|migrating))\b|\bwe (?:won't|will not) (?:use|support|do|migrate|upgrade|ship|build)\b"
    r"|^(?:we'll|we will|I'll) (?:go|stick|stay|start) with\b|^go(?:ing)? with (?!this|that|it\b"
    r"|the (?:first|second|other))"
    r"|\bthe plan is (?:to|that)\b|\b(?:wins|won)[,.!]? (?:because|since|over|mostly)\b"
    r"|\b(?:me|nos) quedo? con\b|\b(?:me quedo|nos quedamos|vamos|cerramos|tiramos) con\b|\bse (?:aprobó"
    r"|decidió|acordó)\b"
    r"|\b(?:that|which) settles it\b|^(?!.*\b(?:what|how|where|when|as|than|that|if|whatever|wherever|which"
    r"|because)\b)(?:[\w./'-]+ ){1,6}it is(?: then)?(?:[.!]?$|[,;] )"
    r"|^(?!it\b|that|this|they|so\b|he\b|she\b|you\b|I\b)(?:[\w./'-]+ ){2,6}after all\b"
    r"|\b(?:we|I)(?:'re| are|'m| am)? (?:keep|keeping|leave|leaving) (?:it|the [\w -]{2,30}) (?:as|for one"
    r"|until"
    r"|till)\b|^keep (?:it|the [\w -]{2,30}) (?:as it is|for one more|until|till)\b"
    r"|\b(?:scrap|scratch|forget) (?:what I said|my (?:earlier|last))\b"
    r"|\bse queda(?:n)? (?:como está|así|con|en)\b|\blo (?:dejamos (?:en|así|como)|descartamos)\b"
    r"|\bal final (?:va|vamos|usamos"
    r"|será|nos|lo)\b"
    r"|\bon part sur\b|^(?:finalement,? |du coup,? )?on (?:reste|garde|prend|passe|abandonne) (?:sur|avec|à"
    r"|le|la|les) (?!suite)"
    r"|\b(?:on a|nous avons) (?:décidé|choisi|retenu|opté)\b"
    r"|\bwir (?:nehmen|bleiben (?:bei|beim)|haben uns (?:für|gegen|entschieden)|machen das mit|setzen auf)\b"
    r"|\bhaben entschieden\b"
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
    r"\bI(?:'ve)? decided to (?:grab|take|go|have|get|skip|call it|sleep|eat|leave|wait)\b|\b(?:let's"
    r"|we(?:'ll| will)) use (?:this|that|it|the (?:same|first|second))\b|\bfor (?:now"
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
