"""Shortened texts."""


def shortened(text: str, most: int = 80) -> str:
    """On one line, of at most that many characters."""
    line = " ".join(text.split())
    return line if len(line) <= most else line[: most - 1].rstrip() + "…"


def first_lines(text: str, most: int = 80, count: int = 3) -> str:
    """The first lines, each of at most that many characters: a merged memory has one for every wording."""
    lines = [line for line in text.splitlines() if line.strip()]
    more = " …" if len(lines) > count else ""
    return "\n".join(shortened(line, most) for line in lines[:count]) + more


def ends_of(text: str, most: int) -> str:
    """The text, or its beginning and end: a long prompt has its question there."""
    if len(text) <= most:
        return text
    half = most // 2
    beginning, end = text[:half], text[-half:]
    return f"{beginning.rsplit(maxsplit=1)[0]} … {end.split(maxsplit=1)[-1]}"
