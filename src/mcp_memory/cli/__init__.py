"""Commands for people."""

from typing import TYPE_CHECKING

import click

from mcp_memory import config as settings
from mcp_memory.errors import MemoryServerError

if TYPE_CHECKING:
    from mcp_memory.engine import Engine


@click.command()
@click.option("--tools", help="Tool sets to offer.")
def main(tools: str | None) -> None:
    """Serve one assistant over standard input and output."""
    try:
        config = settings.load({"tools": tools})
    except MemoryServerError as error:
        raise click.ClickException(str(error)) from error
    from mcp_memory.server.mcp.sets import tool_sets
    from mcp_memory.server.mcp.stdio import serve

    def build_engine() -> "Engine":
        from mcp_memory.wiring import build

        return build(config)

    serve(tool_sets(config.tool_sets), build_engine, workers=config.workers, space=config.space)
