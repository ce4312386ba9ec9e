"""The beginning of a text, to recognise it by."""


def shortened(text: str, most: int = 80) -> str:
    """On one line, of at most that many characters."""
    line = " ".join(text.split())
    return line if len(line) <= most else line[: most - 1].rstrip() + "…"
