"""The tool sets by their names in the settings."""

from collections.abc import Callable, Iterable

from mcp_memory.server.mcp.tools import ToolSet


def _anthropic() -> ToolSet:
    from mcp_memory.server.mcp.anthropic import ANTHROPIC

    return ANTHROPIC


# Each is imported only when it is asked for: schemas take time to make.
_SETS: dict[str, Callable[[], ToolSet]] = {"anthropic": _anthropic}


def tool_sets(names: Iterable[str]) -> list[ToolSet]:
    return [_SETS[name]() for name in names]
