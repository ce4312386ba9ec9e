"""Starts the HTTP server."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace

import click

from mcp_memory.cli.session import Session
from mcp_memory.cli.sharing import sharing
from mcp_memory.config import Config


@click.command(short_help="Serve the page, REST, events and MCP over HTTP.")
@click.option("--host", help="The address to listen on; this machine only, unless API_TOKEN is set.")
@click.option("--port", type=click.IntRange(0, 65535), help="The port to listen on; 0 chooses a free one.")
@click.option("--until-idle", is_flag=True, hidden=True, help="End some time after the last client has left.")
@click.pass_obj
def serve(session: Session, host: str | None, port: int | None, until_idle: bool) -> None:
    """Serve the page, REST, events and MCP over HTTP, until it is stopped."""
    config = session.config
    run(
        session,
        replace(
            config,
            api_host=config.api_host if host is None else host,
            api_port=config.api_port if port is None else port,
        ),
        leaves_after=config.shared_idle if until_idle else None,
    )


def run(session: Session, config: Config, *, leaves_after: float | None = None) -> None:
    """Serve until stopped, or until it has been idle for `leaves_after` seconds."""
    from mcp_memory.server.app import build_app
    from mcp_memory.server.connected import Connected
    from mcp_memory.server.free_memory import limit_heaps
    from mcp_memory.server.garbage import collect_rarely
    from mcp_memory.server.lazy import LazyEngine
    from mcp_memory.server.serving import listening, server

    limit_heaps()
    collect_rarely()
    engine = LazyEngine(lambda: session.build_engine("http"))
    connected = Connected()
    with listening(config.api_host, config.api_port) as opened:
        port = opened.getsockname()[1]
        address = _address(config.api_host, port)

        def stop() -> None:
            http.should_exit = True

        beside = sharing(session, engine, connected, http_address=address, stop=stop)
        http = server(build_app(config, engine, beside, connected), config.api_host, port, config.log_level)
        http.ends_process = True
        http.leaves_after, http.is_needed = leaves_after, lambda: bool(connected())
        http.announce = lambda: click.echo(f"mcp-memory on {address} (stop with Ctrl-C)", err=True)
        # Started in the background, the process ignores the signal that uvicorn raises again at the end.
        with suppress(KeyboardInterrupt):
            http.run(sockets=[opened])
        click.echo("Stopped.", err=True)
    engine.end_process()


def _address(host: str, port: int) -> str:
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"
