"""Builds archive records for things that never had an id of ours."""

import hashlib
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from typing import Any
from uuid import UUID

from mcp_memory.engine.drafts import PLAIN_TYPE, NewMemory
from mcp_memory.model import GENERIC_TYPE

Record = dict[str, Any]

_RANDOM_BITS = (0xFFF << 64) | ((1 << 62) - 1)
_VERSION_7 = (0x7 << 76) | (0x2 << 62)


def memory(
    content: str,
    *,
    at: datetime,
    key: str = "",
    type: str = PLAIN_TYPE,
    tags: Iterable[str] = (),
    source: str | None = None,
    metadata: Mapping[str, Any] | None = None,
    updated_at: datetime | None = None,
    of_an_entity: bool = False,
) -> Record:
    """`key` distinguishes memories with the same content and time. Observations of an entity do not fade, as
    with the graph tools.
    """
    content = storable(content)
    changed = (updated_at or at).isoformat()
    return {
        "record": "memory",
        "id": stable_id(at, "memory", key, content),
        "content": content,
        "type": type,
        "kind": "generic",
        "tags": list(dict.fromkeys(tags)),
        "confidence": 1.0,
        "importance": NewMemory(content=content, type=type).weight,
        "source": source,
        "metadata": dict(metadata or {}),
        "origin": "observation" if of_an_entity else "memory",
        "pinned_at": at.isoformat() if of_an_entity else None,
        "created_at": at.isoformat(),
        "updated_at": changed,
        "accessed_at": changed,
        "access_count": 0,
        "version": 1,
        "forgotten_at": None,
        "superseded_by": None,
    }


def entity(name: str, *, at: datetime, type: str = GENERIC_TYPE) -> Record:
    name, type = storable(name), storable(type)
    return {
        "record": "entity",
        "id": stable_id(at, "entity", name, type),
        "name": name,
        "type": type,
        "metadata": {},
        "status": "active",
        "created_at": at.isoformat(),
        "updated_at": at.isoformat(),
    }


def observation(entity: Record, memory: Record) -> Record:
    """Links a memory to the entity it is about."""
    return {
        "record": "observation",
        "entity": entity["id"],
        "memory": memory["id"],
        "relevance": 1.0,
        "created_at": memory["created_at"],
    }


def relation(source: Record, target: Record, type: str) -> Record:
    at = datetime.fromisoformat(max(source["created_at"], target["created_at"]))
    return {
        "record": "relation",
        "id": stable_id(at, "relation", source["id"], target["id"], type),
        "source": source["id"],
        "target": target["id"],
        "type": type,
        "strength": 1.0,
        "confidence": 1.0,
        "metadata": {},
        "created_at": at.isoformat(),
        "updated_at": at.isoformat(),
        "ended_at": None,
    }


def stable_id(at: datetime, *parts: str) -> str:
    """A UUIDv7 that is the same at every import, so that importing twice adds nothing."""
    digest = hashlib.sha256("\0".join(parts).encode("utf-8", "surrogatepass")).digest()
    milliseconds = max(0, int(at.timestamp() * 1000)) & ((1 << 48) - 1)
    random = int.from_bytes(digest[:16]) & _RANDOM_BITS
    return str(UUID(int=(milliseconds << 80) | _VERSION_7 | random))


def moment(value: Any, otherwise: datetime) -> datetime:
    """A time as other programs write it: ISO 8601 or seconds since 1970."""
    try:
        if isinstance(value, int | float) and not isinstance(value, bool):
            return datetime.fromtimestamp(value, UTC)
        read = datetime.fromisoformat(str(value))
    except (ValueError, OverflowError, OSError):
        return otherwise
    return read.astimezone(UTC) if read.tzinfo else read.replace(tzinfo=UTC)


def storable(text: str) -> str:
    """Text that both databases can hold: no NUL, no half of a surrogate pair."""
    return text.replace("\0", " ").encode("utf-8", "replace").decode()
