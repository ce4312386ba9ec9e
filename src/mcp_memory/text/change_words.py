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
    label = payload.get("content") or payload.get("name") or payload.get("preview")
    if kind_of(name).entity_fields == ("source", "target") and "source" in payload and "target" in payload:
        label = f"{payload['source']} {payload.get('type', '')} {payload['target']}"
    return f"{verb} the {noun} “{shortened(str(label))}”" if label else f"{verb} 1 {noun}"


def _counted(event: str, count: int) -> str:
    verb, noun = _deed(event)
    return f"{verb} {count} {noun if count == 1 else _IRREGULAR.get(noun, noun + 's')}"


def _deed(event: str) -> tuple[str, str]:
    deed = kind_of(event).deed
    assert deed is not None
    return deed
