"""Memories of mem0, as its `get_all`, its REST API and its export return them."""

from collections.abc import Iterator, Mapping
from typing import Any

from mcp_memory.engine.importers.records import Record, memory, moment
from mcp_memory.engine.importers.sample import Sample

SOURCE = "mem0"
_OWNERS = ("user_id", "agent_id", "app_id", "run_id")


def recognises(sample: Sample) -> bool:
    return not sample.is_folder and any(_memories(document) for document in sample.documents())


def records(sample: Sample) -> Iterator[Record]:
    for document in sample.documents():
        for one in _memories(document):
            at = moment(one.get("created_at"), sample.changed_at)
            owner = {name: one[name] for name in _OWNERS if one.get(name)}
            given = one.get("metadata") if isinstance(one.get("metadata"), dict) else {}
            categories = one.get("categories")
            yield memory(
                str(one["memory"]).strip(),
                at=at,
                key=str(one.get("id") or ""),
                tags=[str(tag) for tag in categories] if isinstance(categories, list) else (),
                source=SOURCE,
                metadata={**(given or {}), **owner},
                updated_at=moment(one.get("updated_at"), at),
            )


def _memories(document: Any) -> list[Mapping[str, Any]]:
    if isinstance(document, dict):
        document = document.get("results", document.get("memories"))
    if not isinstance(document, list):
        return []
    return [
        one
        for one in document
        if isinstance(one, dict) and isinstance(one.get("memory"), str) and one["memory"].strip()
    ]
