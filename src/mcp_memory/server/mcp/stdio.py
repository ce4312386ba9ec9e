"""Serves one assistant over standard input and output, until it hangs up."""

from __future__ import annotations

import logging
import sys
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import anyio
from mcp.server.lowlevel import Server
from mcp.server.stdio import stdio_server

from mcp_memory.model import DEFAULT_SPACE
from mcp_memory.server.mcp.server import Lazy, build, greeting
from mcp_memory.server.mcp.tools import ToolSet

if TYPE_CHECKING:
    from mcp_memory.engine import Engine


def serve(
    sets: Sequence[ToolSet], build_engine: Callable[[], Engine], *, workers: int, space: str = DEFAULT_SPACE
) -> None:
    """Returns when the other side closes its end."""
    # Standard output belongs to the protocol; what people should read goes to standard error.
    logging.basicConfig(
        stream=sys.stderr, level=logging.WARNING, format="%(levelname)s %(name)s: %(message)s"
    )
    engine = Lazy(build_engine)
    try:
        anyio.run(_serve, build(sets, engine, workers=workers, space=space), sets[0].greeting)
    finally:
        engine.close()


async def _serve(server: Server[Any], name: str) -> None:
    async with stdio_server() as (incoming, outgoing):
        sys.stderr.write(f"{name} running on stdio\n")
        sys.stderr.flush()
        await server.run(incoming, outgoing, greeting(server))
