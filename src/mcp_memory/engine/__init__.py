"""The use cases: everything the program can do, whatever surface asks for it."""

from mcp_memory.engine.context import Context
from mcp_memory.engine.engine import Engine
from mcp_memory.tuning import Limits, Tuning

__all__ = ["Context", "Engine", "Limits", "Tuning"]
