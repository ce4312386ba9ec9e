"""Recognises questions whose answer is spread over several memories: lists, conclusions, overviews."""

import re

_ASKING = re.compile(r"(?:(?:in|on|at|from|with|for|to)\s+)?(what|which|where|whom?)\b\s*(.*)", re.DOTALL)
_COUNTING = re.compile(r"how (?:many|much)\b")
_PERFECT = re.compile(r"\b(?:has|have)\b")
_CONCLUDING = re.compile(r"(?:(?:what|which)\s+)?(?:would|could|might)\b(?!\s+you\b)")
_LIKELY_OR_BOTH = re.compile(r"\b(?:likely|both)\b")
_OVERVIEW = re.compile(
    r"\b(?:summar(?:y|i[sz]e|i[sz]ing)|overview|recap|order in which|in (?:what|which) order"
    r"|resumen|resumir|resúme(?:me|nos|lo)|orden en (?:el )?que|en qué orden"
    r"|zusammenfass(?:ung|en)|fass(?:e)? .{1,60} zusammen|in welcher reihenfolge"
    r"|(?:un|le) résumé|résumer|résumez|dans quel ordre)\b",
    re.IGNORECASE,
)
_PLURAL = re.compile(r"[a-z]*[^\Wsu]s")
_AUXILIARIES = frozenset(
    {"is", "was", "did", "does", "do", "has", "have", "had", "are", "were"}
    | {"will", "would", "can", "could", "might", "should"}
)
_SINGULAR = frozenset(("does", "his", "this"))
_LONGEST_NOUN = 5  # words between `what` and the verb: `what other kinds of books`


def asks_for_several(question: str) -> bool:
    """Whether an English question asks what there is of a kind, or for a conclusion.

    `What sports has Ana tried?`, `how many trips?`, `would Ana likely enjoy it?`, `what do both like?`.
    """
    text = question.strip().lower()
    if _COUNTING.match(text) or _CONCLUDING.match(text) or _LIKELY_OR_BOTH.search(text):
        return True
    asking = _ASKING.match(text)
    if asking is None:
        return False
    word, rest = asking.groups()
    return bool(_PERFECT.search(rest)) or (word in ("what", "which") and _names_a_plural(rest.split()))


def asks_for_overview(question: str) -> bool:
    """Whether a request is for a summary, or for the order in which things came up."""
    return _OVERVIEW.search(question) is not None


def _names_a_plural(words: list[str]) -> bool:
    """Whether the noun before the verb is a plural; without a noun, whether the verb is: `what are …`."""
    bare = [word.strip("?,'") for word in words]
    verb = next((place for place, word in enumerate(bare) if word in _AUXILIARIES), len(bare))
    if verb == 0:
        return bool(bare) and bare[0] in ("are", "were")
    return verb <= _LONGEST_NOUN and any(
        _PLURAL.fullmatch(word) and word not in _SINGULAR for word in words[:verb]
    )
