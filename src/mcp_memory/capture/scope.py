"""Whether something said holds in one project, or wherever the person works."""

from __future__ import annotations

import re

_PERSON = re.compile(
    r"\b(?:I|I'm|I'd|I've|my|me|mine|the user|user|user's|yo|mi|mis|me|soy|vivo|trabajo|prefiero|odio|nací"
    r"|contéstame|respóndeme|answer me)\b"
)
_PROJECT = re.compile(
    r"\b(?:this (?:repo(?:sitory)?|project|code ?base|branch|app|service|file|folder)|(?:we|our|us"
    r"|nosotros|nuestr[oa]s?)"
    r"|usamos|este (?:proyecto|repositorio|código)|here|aquí|commit|branch|deploy\w*|endpoint|database"
    r"|repo)\b",
    re.IGNORECASE,
)


def about_a_person(text: str) -> bool:
    """Whether it is about the person who says it, and not about what they work on.

    >>> about_a_person("I prefer short answers.")
    True
    >>> about_a_person("In this repo we use pnpm, not npm.")
    False
    """
    return bool(_PERSON.search(text)) and not _PROJECT.search(text)
