"""A memory that holds several wordings of one fact, each on a line of its own."""

from collections.abc import Iterable


def wordings(content: str) -> list[str]:
    """The content as a whole and, if it has several, each of its lines."""
    lines = [line.strip() for line in content.splitlines() if line.strip()]
    return [content, *lines] if len(lines) > 1 else [content]


def with_wordings(content: str, others: Iterable[str]) -> str:
    """The content, and below it each wording that it does not have yet: nothing that was said is hidden."""
    known = {_key(line) for line in wordings(content)}
    kept = [content]
    for other in others:
        if _key(other) not in known:
            kept.append(other)
            known |= {_key(line) for line in wordings(other)}
    return "\n".join(kept)


def has_wording(content: str, other: str) -> bool:
    return _key(other) in {_key(line) for line in wordings(content)}


def _key(text: str) -> str:
    """Without spacing, the full stop at the end, and the capital at the beginning."""
    plain = " ".join(text.split()).rstrip(".!")
    return plain[:1].lower() + plain[1:]
