"""The tool sets by their names in the settings."""

from collections.abc import Iterable
from importlib import import_module

from mcp_memory.server.mcp.tools import ToolSet


def tool_sets(names: Iterable[str]) -> list[ToolSet]:
    """Each module is imported only when its set is asked for: schemas take time to make."""
    wanted = list(names)
    # The anthropic set is what it is elsewhere; all others come with resources and prompts.
    return [_tool_set(name) for name in (*wanted, *(() if wanted == ["anthropic"] else ("library",)))]


def _tool_set(name: str) -> ToolSet:
    tools: ToolSet = import_module(f"mcp_memory.server.mcp.{name}").TOOLS
    return tools
