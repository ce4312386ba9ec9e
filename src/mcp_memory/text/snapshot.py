"""The text that is embedded for an entity, within the model's token limit."""

import re
from collections.abc import Callable, Sequence

from mcp_memory.model import ACTIVE, GENERIC_KIND, UNKNOWN_TYPE, Entity, Memory, Node
from mcp_memory.text.words import plain_words

BUDGET = 480  # tokens; the graph tool set's MAX_TOKENS. A model that reads fewer needs a smaller one.
_OVERHEAD = 25  # tokens kept free for the model's own marks and for bad guesses
_CHARACTERS_PER_TOKEN = 3.57  # of letters and spaces, as the graph tool set reckons
_HEAD, _TAIL = 3, 7  # observations: what an entity began as, and what is new
_SEPARATOR, _CUT = " | ", "…"
_DEFAULT_STATUSES = {"", ACTIVE, "activo"}
_ROUNDING = 1e-9  # a share that was reckoned as a sum may come out a little less
_LETTERS = re.compile(r"[A-Za-z ]+")
_HANGUL = re.compile("[\uac00-\ud7a3]")


def snapshot(
    node: Node,
    budget: int = BUDGET,
    token_count: Callable[[str], int] | None = None,
) -> str:
    """Name, type, description and observations, never above the budget of tokens.

    Relations are left out: with them, entities were harder to tell from related ones.

    Of many observations the first three and the last seven are in, then those of the middle with the
    most varied words that fit. Long parts are shortened to a fair share, so that the end is not simply cut
    off.

    `token_count` is the model's tokenizer; without one, `cost` estimates.
    """
    text = _composed(node, budget)
    aim = float(budget)
    while token_count and aim > _OVERHEAD and (count := token_count(text)) > budget:
        aim *= min(0.9, budget / count)
        text = _composed(node, aim)
    return text


def _composed(node: Node, budget: float) -> str:
    room = budget - _OVERHEAD
    title = shortened(_title(node.entity), room / 2)
    description = node.entity.description or ""
    facts = [_fact(memory) for memory in node.observations if _is_current(memory)]
    for_description, for_facts = fair_shares(
        [_wanted([description], room), _wanted(facts, room)], room - cost(title) - cost(": ")
    )
    body = [shortened(description, for_description - cost(_SEPARATOR))] if description else []
    body += _head_tail_diversity(facts, for_facts)
    return title + (": " + _SEPARATOR.join(filter(None, body)) if any(body) else "")


def cost(text: str) -> float:
    """Estimated tokens of a text: high for English, low for few languages."""
    others = _LETTERS.sub("", text)
    hangul = len(_HANGUL.findall(others))  # a syllable is read as its two or three letters
    return (len(text) - len(others)) / _CHARACTERS_PER_TOKEN + len(others) + hangul


def shortened(text: str, limit: float) -> str:
    """The text if it costs no more than the limit, else its beginning up to the end of a word."""
    reach = int(max(0.0, limit) * _CHARACTERS_PER_TOKEN) + 1
    if len(text) <= reach and cost(text) <= limit:
        return text
    left, end = limit - cost(_CUT), 0
    for end, character in enumerate(text[:reach]):  # noqa: B007
        left -= cost(character)
        if left < 0:
            break
    beginning, _, _ = text[:end].rpartition(" ")
    kept = beginning if len(beginning) > end / 2 else text[:end]
    return kept.rstrip() + _CUT if kept.strip() else ""


def fair_shares(wants: Sequence[float], room: float) -> list[float]:
    """Fair shares of a budget: small demands are met in full, the others share the rest equally."""
    shares = [0.0] * len(wants)
    left = max(0.0, room)
    for rank, index in enumerate(sorted(range(len(wants)), key=lambda i: wants[i])):
        shares[index] = min(wants[index], left / (len(wants) - rank))
        left -= shares[index]
    return shares


def _title(entity: Entity) -> str:
    kind = "" if entity.type == UNKNOWN_TYPE else f" ({entity.type})"
    status = "" if entity.status in _DEFAULT_STATUSES else f" [{entity.status}]"
    return entity.name + kind + status


def _is_current(memory: Memory) -> bool:
    return memory.superseded_at is None and memory.forgotten_at is None


def _fact(memory: Memory) -> str:
    return memory.content if memory.kind == GENERIC_KIND else f"[{memory.kind}] {memory.content}"


def _wanted(texts: Sequence[str], most: float) -> float:
    """The tokens of the texts together, counted until the budget is exceeded."""
    total = 0.0
    for text in texts:
        total += _with_separator(text[: int(most * _CHARACTERS_PER_TOKEN) + 1]) if text else 0.0
        if total > most:
            break
    return total


def _with_separator(text: str) -> float:
    return cost(text) + cost(_SEPARATOR)


def _head_tail_diversity(facts: Sequence[str], room: float) -> list[str]:
    ends = list(range(len(facts)))
    if len(facts) > _HEAD + _TAIL:
        ends = ends[:_HEAD] + ends[-_TAIL:]
    wants = [_wanted([facts[i]], room) for i in ends]
    if sum(wants) > room + _ROUNDING:
        shares = fair_shares(wants, room)
        return [shortened(facts[i], share - cost(_SEPARATOR)) for i, share in zip(ends, shares, strict=True)]
    middle = [i for i in range(len(facts)) if i not in ends]
    middle.sort(key=lambda i: -_diversity(facts[i]))
    return [facts[i] for i in sorted(ends + _those_that_fit(facts, middle, room - sum(wants)))]


def _those_that_fit(texts: Sequence[str], order: Sequence[int], room: float) -> list[int]:
    """The selected texts, tried in the given order."""
    taken = []
    for index in order:
        price = _wanted([texts[index]], room)
        if price <= room + _ROUNDING:
            taken.append(index)
            room -= price
    return taken


def _diversity(text: str) -> float:
    """The share of distinct words."""
    words = plain_words(text)
    return len(set(words)) / len(words) if words else 0.0
