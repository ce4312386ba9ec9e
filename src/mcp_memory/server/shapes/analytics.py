"""Statistics."""

from __future__ import annotations

from mcp_memory import statistics
from mcp_memory.server.shapes.shape import Shape, drawn


@drawn(statistics.Overview)
class Overview(Shape):
    """Living memories, entities and active relations; confidence is effective, at this moment."""
