"""Memories with several wordings of one fact, one per line."""

from collections.abc import Iterable


def wordings(content: str) -> list[str]:
    """The content as a whole and, if it has several, each of its lines."""
    lines = [line.strip() for line in content.splitlines() if line.strip()]
    return [content, *lines] if len(lines) > 1 else [content]


def with_wordings(content: str, others: Iterable[str]) -> str:
    """The content with each new wording appended as a line."""
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
    """The wording without spacing, final full stop and initial capital."""
    plain = " ".join(text.split()).rstrip(".!")
    return plain[:1].lower() + plain[1:]
