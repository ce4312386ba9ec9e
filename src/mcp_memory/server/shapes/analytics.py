"""Statistics."""

from __future__ import annotations

from mcp_memory import model
from mcp_memory.server.shapes.shape import Shape, drawn


@drawn(model.Overview)
class Overview(Shape):
    """Living memories, entities and active relations; confidence is effective, at this moment."""
