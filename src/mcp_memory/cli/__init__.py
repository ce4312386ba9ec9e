"""Commands for people; without one, an MCP server on standard input and output.

The server must answer within moments of its start. So this module imports nothing heavy, and each command has
its own module, which is imported when the command is used.
"""

from __future__ import annotations

import logging
import sys
from contextlib import AbstractAsyncContextManager, nullcontext
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from mcp_memory import __version__
from mcp_memory.cli.lazy import LazyGroup
from mcp_memory.cli.session import Session
from mcp_memory.config import LOG_LEVELS, Config
from mcp_memory.errors import MemoryServerError

if TYPE_CHECKING:
    from mcp_memory.server.lazy import LazyEngine

# A new command is one line here: its name, and `module:attribute` of a click command or group.
# It takes the session with `@click.pass_obj`, makes one call to `session.engine`, and prints through
# `cli.output`; with `@json_option` where it shows something. Errors are turned into sentences here.
SECTIONS = {
    "Remember and recall": {
        "remember": "mcp_memory.cli.memories:remember",
        "recall": "mcp_memory.cli.memories:recall",
        "memories": "mcp_memory.cli.memories:memories",
        "link": "mcp_memory.cli.memories:link",
        "unlink": "mcp_memory.cli.memories:unlink",
        "forget": "mcp_memory.cli.history:forget",
        "restore": "mcp_memory.cli.history:restore",
        "delete": "mcp_memory.cli.history:delete",
        "merge": "mcp_memory.cli.maintenance:merge",
    },
    "The graph": {
        "search": "mcp_memory.cli.search:search",
        "entities": "mcp_memory.cli.entities:entities",
        "observations": "mcp_memory.cli.observations:observations",
        "relations": "mcp_memory.cli.relations:relations",
        "entity-graph": "mcp_memory.cli.entity_graph:entity_graph",
        "graph": "mcp_memory.cli.search:graph",
    },
    "Memory that arrives by itself": {
        "install": "mcp_memory.cli.install:install",
        "uninstall": "mcp_memory.cli.install:uninstall",
        "captured": "mcp_memory.cli.captured:captured",
        "pause": "mcp_memory.cli.captured:pause",
        "resume": "mcp_memory.cli.captured:resume",
        "digest": "mcp_memory.cli.captured:digest",
    },
    "What changed": {
        "history": "mcp_memory.cli.history:history",
        "undo": "mcp_memory.cli.history:undo",
        "purge": "mcp_memory.cli.history:purge",
    },
    "Look at it": {
        "open": "mcp_memory.cli.open:open_",
        "info": "mcp_memory.cli.info:info",
        "stats": "mcp_memory.cli.stats:stats",
        "status": "mcp_memory.cli.status:status",
        "doctor": "mcp_memory.cli.doctor:doctor",
        "settings": "mcp_memory.cli.settings:settings",
    },
    "Import, export and backups": {
        "import": "mcp_memory.cli.transfer:import_",
        "export": "mcp_memory.cli.transfer:export",
        "copy": "mcp_memory.cli.copy:copy",
        "backup": "mcp_memory.cli.backup:backup",
        "spaces": "mcp_memory.cli.spaces:spaces",
    },
    "Serve": {
        "serve": "mcp_memory.cli.serve:serve",
        "stop": "mcp_memory.cli.status:stop",
        "token": "mcp_memory.cli.token:token",
        "shared-server": "mcp_memory.cli.shared_server:shared_server",
    },
    "Search quality and maintenance": {
        "model": "mcp_memory.cli.model:model",
        "reembed": "mcp_memory.cli.reembed:reembed",
        "eval": "mcp_memory.cli.evaluation:evaluate",
        "tune": "mcp_memory.cli.learning:tune",
        "metrics": "mcp_memory.cli.learning:metrics",
        "consolidate": "mcp_memory.cli.maintenance:consolidate",
        "prune": "mcp_memory.cli.maintenance:prune",
    },
    "The shell": {
        "completion": "mcp_memory.cli.completion:completion",
    },
}
COMMANDS = {name: place for section in SECTIONS.values() for name, place in section.items()}

log = logging.getLogger(__name__)


EXIT_CODES = {"invalid": 2, "unavailable": 3, "unequipped": 3}
"""Exit code by error code; 1 for any other."""


class Program(LazyGroup):
    def invoke(self, ctx: click.Context) -> Any:
        try:
            return super().invoke(ctx)
        except (click.ClickException, click.exceptions.Exit, click.Abort, BrokenPipeError):
            raise  # click prints its own message
        except MemoryServerError as error:
            click.echo(f"Error: {error}", err=True)
            ctx.exit(EXIT_CODES.get(error.code, 1))
        except Exception as error:
            log.debug("unexpected", exc_info=True)
            click.echo(
                f"Error: mcp-memory failed unexpectedly ({type(error).__name__}: {error}). Run the same with "
                "--log-level debug to see where, or look for trouble with `mcp-memory doctor`.",
                err=True,
            )
            ctx.exit(1)


@click.group(
    cls=Program,
    sections=SECTIONS,
    invoke_without_command=True,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)
@click.option("--database", metavar="URL", help="The database, e.g. sqlite:////home/me/memory.db.")
@click.option("--space", metavar="NAME", help="The space to work in.")
@click.option("--tools", metavar="NAMES", help="Tool sets to offer, separated by commas.")
@click.option(
    "--config", "file", metavar="FILE", type=click.Path(path_type=Path), help="A settings file (TOML)."
)
@click.option("--http", is_flag=True, help="Also serve HTTP, besides standard input and output.")
@click.option(
    "--log-level", type=click.Choice(LOG_LEVELS), help="Lowest level that is logged, to standard error."
)
@click.version_option(__version__, prog_name="mcp-memory")
@click.pass_context
def main(
    ctx: click.Context,
    database: str | None,
    space: str | None,
    tools: str | None,
    file: Path | None,
    http: bool,
    log_level: str | None,
) -> None:
    """One long-term memory for every AI assistant.

    Without a command, serves an assistant over MCP on standard input and output; at a terminal, explains
    how to connect one.
    """
    flags = {"database_url": database, "space": space, "tools": tools, "log_level": log_level}
    flags |= {"http": "yes"} if http else {}
    if isinstance(ctx.obj, Session):
        return  # a running server executes the command, with its own settings and log
    session = Session(flags, file)
    ctx.obj = session
    ctx.call_on_close(session.close)
    _log_at(log_level or "warning")
    if ctx.invoked_subcommand is None and sys.stdin is not None and sys.stdin.isatty():
        from mcp_memory.cli.welcome import welcome

        welcome(session.config)
    elif ctx.invoked_subcommand is None:
        _serve(session)


def _serve(session: Session) -> None:
    config = session.config
    _log_at(config.log_level)
    from mcp_memory.server.mcp.sets import tool_sets
    from mcp_memory.server.mcp.stdio import serve

    serve(
        tool_sets(config.tool_sets),
        session.build_engine,
        workers=config.workers,
        space=config.space,
        beside=partial(_embedded_http, config),
    )


def _embedded_http(config: Config, engine: LazyEngine) -> AbstractAsyncContextManager[object]:
    if config.http == "no":
        return nullcontext()
    from mcp_memory.server.embedded_http import embedded_http

    return embedded_http(config, engine)


def _log_at(level: str) -> None:
    """Our own messages at this level; other libraries' only from warnings on."""
    logging.basicConfig(stream=sys.stderr, format="%(levelname)s %(name)s: %(message)s")
    logging.getLogger("mcp_memory").setLevel(level.upper())
