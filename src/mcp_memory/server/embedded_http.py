"""Serves HTTP in a process that mainly does something else."""

from __future__ import annotations

import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import anyio

from mcp_memory.config import Config
from mcp_memory.errors import Unavailable
from mcp_memory.server.app import build_app
from mcp_memory.server.lazy import LazyEngine
from mcp_memory.server.serving import guest


@asynccontextmanager
async def embedded_http(config: Config, engine: LazyEngine) -> AsyncIterator[str]:
    """Yields the address. Raises `Unavailable` if it cannot listen there."""
    app = build_app(config, engine)
    serving = guest(app, config.log_level)
    listening = _listening(config.api_host, config.api_port)
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(serving.serve, [listening])
        try:
            yield f"http://{config.api_host}:{listening.getsockname()[1]}"
        finally:
            serving.should_exit = True


def _listening(host: str, port: int) -> socket.socket:
    try:
        return socket.create_server((host, port))
    except OSError as error:
        raise Unavailable(
            f"HTTP cannot be served on {host}:{port}: {error.strerror}. Choose another API_PORT."
        ) from error
