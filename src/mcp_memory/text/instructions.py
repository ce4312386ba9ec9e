"""Detects standing instructions to an assistant (`always answer in metric units`) among memories."""

import re
from functools import lru_cache

_SPEAKER = r"^(?:[^:\n]{1,60}:\s+)?"
_POLITELY = r"(?:(?:please|also|and|por favor|bitte|s'il te plaît)[, ]+)*"
_NO_ORDER = r"(?!(?:a|an|been|fun|glad|good|great|had|happy|mind|nice|seen|so|the|thought|wanted)\b)"
_INSTRUCTION = re.compile(
    rf"{_SPEAKER}{_POLITELY}(?:"
    rf"(?:always|never) {_NO_ORDER}\w"
    r"|(?:siempre|nunca) (?:que )?\w+(?:e|es|a|as|á|en)\b"
    r"|(?:from now on|in future|a partir de ahora|de ahora en adelante|ab jetzt|von nun an|désormais)\b)"
    r"|\b(?:when(?:ever)?|if|every time) I (?:ask|request|want you)\b"
    r"|\b(?:cuando|siempre que|si) (?:te )?(?:pregunt|pid)[aeo]\b"
    r"|\bwenn ich (?:dich )?(?:nach \w+ )?(?:frage|bitte)\b"
    r"|\b(?:quand|si) je (?:te |vous )?demande\b",
    re.IGNORECASE,
)
_BEGINNING = 400  # characters: an instruction says so early


def is_instruction(text: str) -> bool:
    """Whether a memory says how an assistant should answer from now on.

    >>> is_instruction("user: Always give dates as DD/MM/YYYY when I ask about appointments.")
    True
    >>> is_instruction("Nunca uses tuteo en los correos.")
    True
    >>> is_instruction("Ana said: Always good to hear from you!")
    False
    """
    return _begins_as_one(text[:_BEGINNING])


@lru_cache(maxsize=4096)  # searches read the same memories again and again
def _begins_as_one(text: str) -> bool:
    return _INSTRUCTION.search(text) is not None
