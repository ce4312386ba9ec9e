"""Completes partial ids that a person typed."""

import re

from mcp_memory.engine.context import Topic
from mcp_memory.errors import Invalid

SHORT = 8
"""Characters of a short id. Ids begin with their time, so their ends tell them apart."""
_SHORTEST = 6
_WHOLE = 36
_PART = re.compile(rf"[0-9a-f-]{{{_SHORTEST},{_WHOLE - 1}}}", re.IGNORECASE)


def short(id: str) -> str:
    return id[-SHORT:]


class ShortIds(Topic):
    """Without a match the part is returned unchanged: the lookup then reports it as missing."""

    def memory(self, part: str) -> str:
        """The id of a memory with this prefix or suffix, including deleted ones in the journal."""
        if not _is_part(part):
            return part
        with self._context.reading() as tx:
            found = tx.memories.ids_like(part.lower()) or tx.journal.subjects_like(part.lower())
        return _only(part, found)

    def change(self, part: str) -> str:
        if not _is_part(part):
            return part
        with self._context.reading() as tx:
            return _only(part, tx.journal.acts_like(part.lower()))


def _is_part(part: str) -> bool:
    return bool(_PART.fullmatch(part)) and len(part.replace("-", "")) >= _SHORTEST


def _only(part: str, found: list[str]) -> str:
    if len(found) > 1:
        raise Invalid(f"several ids begin or end with {part!r}: {', '.join(found[:3])}. Give more of it.")
    return found[0] if found else part
