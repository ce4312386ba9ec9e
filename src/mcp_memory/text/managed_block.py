"""A managed block in a user's text file; the rest is left alone."""

from __future__ import annotations

BEGIN = "<!-- mcp-memory: begin (kept by `mcp-memory digest --write`; edits in here are lost) -->"
END = "<!-- mcp-memory: end -->"


def replaced(text: str, content: str) -> str:
    """The text with the block's new content; empty content removes the block.

    >>> once = replaced("# Notes", "one")
    >>> replaced(replaced(once, "two"), "") == "# Notes"
    True
    """
    start = text.find(BEGIN)
    end = text.find(END, start) if start >= 0 else -1
    if end < 0:
        before, after = text, ""
        lead = "\n\n" if text and content else ""
    else:
        before, after = text[:start], text[end + len(END) :]
        lead = ""
        if not content:
            before = before.removesuffix("\n\n")
            after = after.removeprefix("\n") if not before else after
    block = f"{BEGIN}\n{content}\n{END}" if content else ""
    return f"{before}{lead}{block}{after}"
