"""One long-term memory for every AI assistant.

The public names for use as a library; `connect` is where to begin. Each is imported when it is first used:
the command line and the servers start from this package and must start fast.
"""

from __future__ import annotations

# Not from `typing`, which takes longer to import than the thin client.
TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from mcp_memory.engine import Engine
    from mcp_memory.engine.drafts import NewMemory
    from mcp_memory.errors import Conflict, Invalid, MemoryServerError, NotFound, Unavailable
    from mcp_memory.model import Entity, Filter, Memory, Relation
    from mcp_memory.wiring import connect

__version__ = "0.1.0"

_MODULES = {
    "connect": "mcp_memory.wiring",
    "Engine": "mcp_memory.engine",
    "NewMemory": "mcp_memory.engine.drafts",
    "Entity": "mcp_memory.model",
    "Filter": "mcp_memory.model",
    "Memory": "mcp_memory.model",
    "Relation": "mcp_memory.model",
    "Conflict": "mcp_memory.errors",
    "Invalid": "mcp_memory.errors",
    "MemoryServerError": "mcp_memory.errors",
    "NotFound": "mcp_memory.errors",
    "Unavailable": "mcp_memory.errors",
}

__all__ = [
    "Conflict",
    "Engine",
    "Entity",
    "Filter",
    "Invalid",
    "Memory",
    "MemoryServerError",
    "NewMemory",
    "NotFound",
    "Relation",
    "Unavailable",
    "connect",
]


def __getattr__(name: str) -> Any:
    if name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    return getattr(import_module(_MODULES[name]), name)
