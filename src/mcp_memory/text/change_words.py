"""Says in a sentence what a change did."""

from collections.abc import Mapping
from typing import Any

from mcp_memory.text.preview import shortened

_DEEDS: Mapping[str, tuple[str, str]] = {
    "memory_created": ("remembered", "memory"),
    "memory_updated": ("changed", "memory"),
    "memory_deleted": ("deleted", "memory"),
    "memory_forgotten": ("forgot", "memory"),
    "memory_restored": ("restored", "memory"),
    "memory_purged": ("purged", "memory"),
    "memory_associated": ("connected", "memory"),
    "memory_dissociated": ("disconnected", "memory"),
    "memories_merged": ("merged", "group of equal memories"),
    "entity_created": ("created", "entity"),
    "entity_updated": ("changed", "entity"),
    "entity_deleted": ("deleted", "entity"),
    "entity_purged": ("purged", "entity"),
    "relation_created": ("created", "relation"),
    "relation_updated": ("changed", "relation"),
    "relation_deleted": ("deleted", "relation"),
    "relation_ended": ("ended", "relation"),
    "observations_removed": ("took observations off", "entity"),
    "reflection_added": ("wrote", "reflection"),
    "reflection_deleted": ("deleted", "reflection"),
}
"""Verb and noun of what events count."""

_INCIDENTAL = ("entity_updated", "memory_updated", "memory_deleted", "memory_associated")
"""Follows from something else in the same change, and is not told beside it; the least telling first."""

_IRREGULAR = {
    "memory": "memories",
    "entity": "entities",
    "group of equal memories": "groups of equal memories",
}


def change_in_words(counts: Mapping[str, int], name: str, payload: Mapping[str, Any]) -> str:
    """A change by how often each event happened, and the name and payload of its first one."""
    if name == "change_undone":
        return "undid a change"
    telling = {event: count for event, count in counts.items() if event in _DEEDS}
    if "memory_restored" in telling:
        telling.pop("memory_created", None)
    for event in _INCIDENTAL:
        if len(telling) > 1:
            telling.pop(event, None)
    if not telling:
        return name.replace("_", " ")
    if sum(telling.values()) == 1 and name in telling:
        return _single(name, payload)
    return ", ".join(_counted(event, count) for event, count in telling.items())


def _single(name: str, payload: Mapping[str, Any]) -> str:
    verb, noun = _DEEDS[name]
    label = payload.get("content") or payload.get("name") or payload.get("preview")
    if name.startswith("relation") and "source" in payload and "target" in payload:
        label = f"{payload['source']} {payload.get('type', '')} {payload['target']}"
    return f"{verb} the {noun} “{shortened(str(label))}”" if label else f"{verb} 1 {noun}"


def _counted(event: str, count: int) -> str:
    verb, noun = _DEEDS[event]
    return f"{verb} {count} {noun if count == 1 else _IRREGULAR.get(noun, noun + 's')}"
