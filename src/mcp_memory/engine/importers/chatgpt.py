"""ChatGPT's memories, from a data export.

The export has no file of memories. They are in `conversations.json`: messages that the model sent to its
memory tool `bio`, and the list of memories that was shown to the model in a conversation.
"""

import re
from collections.abc import Iterator, Mapping
from datetime import datetime
from typing import Any

from mcp_memory.engine.importers.records import Record, memory, moment
from mcp_memory.engine.importers.sample import Sample

SOURCE = "chatgpt"
FILE = "conversations*.json"
_NUMBERED = re.compile(r"^\d+\.\s*\[(\d{4}-\d{2}-\d{2})\]\.?\s*(.+)$")


def recognises(sample: Sample) -> bool:
    return any(_conversations(document) for document in sample.documents(FILE))


def records(sample: Sample) -> Iterator[Record]:
    seen: set[str] = set()
    for document in sample.documents(FILE):
        for conversation in _conversations(document):
            at = moment(conversation.get("create_time"), sample.changed_at)
            for text, said_at in _remembered(conversation, at):
                if text not in seen:
                    seen.add(text)
                    context = {"conversation": conversation.get("title")} if conversation.get("title") else {}
                    yield memory(text, at=said_at, source=SOURCE, metadata=context)


def _conversations(document: Any) -> list[Mapping[str, Any]]:
    if not isinstance(document, list):
        return []
    return [one for one in document if isinstance(one, dict) and isinstance(one.get("mapping"), dict)]


def _remembered(conversation: Mapping[str, Any], at: datetime) -> Iterator[tuple[str, datetime]]:
    for node in conversation["mapping"].values():
        message = node.get("message") if isinstance(node, dict) else None
        content = message.get("content") if isinstance(message, dict) else None
        if not isinstance(message, dict) or not isinstance(content, dict):
            continue
        said_at = moment(message.get("create_time"), at)
        if message.get("recipient") == "bio":
            yield from ((text, said_at) for text in _said(content))
        elif content.get("content_type") == "model_editable_context":
            yield from _listed(str(content.get("model_set_context") or ""), said_at)


def _said(content: Mapping[str, Any]) -> Iterator[str]:
    parts = content.get("parts")
    for part in parts if isinstance(parts, list) else [content.get("text")]:
        if isinstance(part, str) and part.strip():
            yield part.strip()


def _listed(text: str, otherwise: datetime) -> Iterator[tuple[str, datetime]]:
    """Lines such as `3. [2025-02-07]. Prefers tea.`"""
    for line in text.splitlines():
        if found := _NUMBERED.match(line.strip()):
            yield found[2].strip(), moment(found[1], otherwise)
