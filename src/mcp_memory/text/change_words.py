"""Summaries of changes in one sentence."""

from collections.abc import Mapping
from typing import Any

from mcp_memory.events import (
    ChangeUndone,
    EntityUpdated,
    MemoryAssociated,
    MemoryCreated,
    MemoryDeleted,
    MemoryRestored,
    MemoryUpdated,
    kind_of,
)
from mcp_memory.text.preview import shortened

_INCIDENTAL = (
    EntityUpdated.event, MemoryUpdated.event, MemoryDeleted.event, MemoryAssociated.event,
)  # fmt: skip
"""Side effects within a change, left out of its summary; least informative first."""

_IRREGULAR = {
    "memory": "memories",
    "entity": "entities",
    "group of equal memories": "groups of equal memories",
}

_FEW = 4
"""Changed fields that a summary names."""


def change_in_words(counts: Mapping[str, int], name: str, payload: Mapping[str, Any]) -> str:
    """A change by how often each event happened, and the name and payload of its first one."""
    if name == ChangeUndone.event:
        return "undid a change"
    telling = {event: count for event, count in counts.items() if kind_of(event).deed}
    if MemoryRestored.event in telling:
        telling.pop(MemoryCreated.event, None)
    for event in _INCIDENTAL:
        if len(telling) > 1:
            telling.pop(event, None)
    if not telling:
        return name.replace("_", " ")
    if sum(telling.values()) == 1 and name in telling:
        return _single(name, payload)
    return ", ".join(_counted(event, count) for event, count in telling.items())


def _single(name: str, payload: Mapping[str, Any]) -> str:
    verb, noun = _deed(name)
    changes = payload.get("changes")
    texts = {**(changes if isinstance(changes, Mapping) else {}), **payload}
    label = texts.get("content") or texts.get("name") or texts.get("preview")
    if kind_of(name).entity_fields == ("source", "target") and "source" in payload and "target" in payload:
        label = f"{payload['source']} {payload.get('type', '')} {payload['target']}"
    if label:
        return f"{verb} the {noun} “{shortened(str(label))}”"
    return f"{verb} 1 {noun}{_fields(changes)}"


def _fields(changes: Any) -> str:
    """Which fields changed, where the new text does not tell."""
    names = [field.replace("_", " ") for field in changes] if isinstance(changes, Mapping) else []
    return f": {', '.join(names[:_FEW])}{' and more' if len(names) > _FEW else ''}" if names else ""


def _counted(event: str, count: int) -> str:
    verb, noun = _deed(event)
    return f"{verb} {count} {noun if count == 1 else _IRREGULAR.get(noun, noun + 's')}"


def _deed(event: str) -> tuple[str, str]:
    deed = kind_of(event).deed
    assert deed is not None
    return deed
