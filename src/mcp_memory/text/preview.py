"""Parts of a text that stand for the whole."""


def shortened(text: str, most: int = 80) -> str:
    """On one line, of at most that many characters."""
    line = " ".join(text.split())
    return line if len(line) <= most else line[: most - 1].rstrip() + "…"


def ends_of(text: str, most: int) -> str:
    """The text, or its beginning and its end: in a long prompt, that is where the question stands."""
    if len(text) <= most:
        return text
    half = most // 2
    beginning, end = text[:half], text[-half:]
    return f"{beginning.rsplit(maxsplit=1)[0]} … {end.split(maxsplit=1)[-1]}"
