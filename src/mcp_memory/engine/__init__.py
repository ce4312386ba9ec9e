"""The use cases: everything the program can do, whatever surface asks for it."""

from mcp_memory.engine.context import Context, Limits, Tuning
from mcp_memory.engine.engine import Engine

__all__ = ["Context", "Engine", "Limits", "Tuning"]
