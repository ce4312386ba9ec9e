"""The command behind the shared server, which the thin client starts."""

from __future__ import annotations

import asyncio
import logging
import os
import signal
import sys
from typing import TYPE_CHECKING

import click

from mcp_memory.cli.session import Session
from mcp_memory.cli.sharing import service_of

if TYPE_CHECKING:
    from mcp_memory.server.lazy import LazyEngine
    from mcp_memory.server.shared.service import Service

log = logging.getLogger(__name__)

LEAVING = 2.0
"""Timeout in seconds for a predecessor to release the lock."""


@click.command("shared-server", hidden=True)
@click.option("--turn", type=int, default=-1, help="An open file whose lock is held while the server starts.")
@click.pass_obj
def shared_server(session: Session, turn: int) -> None:
    """Serve all assistants with matching settings, and end some time after the last one disconnects."""
    import anyio

    from mcp_memory.cli.kept_digests import KeptDigests
    from mcp_memory.server.free_memory import limit_heaps
    from mcp_memory.server.garbage import collect_rarely
    from mcp_memory.server.lazy import LazyEngine
    from mcp_memory.server.shared.listener import AlreadyRunning

    config = session.config
    logging.getLogger("mcp_memory").setLevel(config.log_level.upper())
    limit_heaps()
    collect_rarely()
    engine = LazyEngine(session.build_engine)
    service = service_of(session, engine, idle=config.shared_idle)
    digests = KeptDigests(config, service)
    try:
        anyio.run(_serve, service, engine, turn)
        digests.prepare()
    except* AlreadyRunning:
        log.debug("another server was faster")
    finally:
        engine.close()
    digests.leave()
    # A thread that still waits for something must not keep the process alive.
    logging.shutdown()
    os._exit(0)


async def _serve(service: Service, engine: LazyEngine, turn: int) -> None:
    async with service.running(LEAVING):
        if turn > 2:
            os.close(turn)
        loop = asyncio.get_running_loop()
        for ending in (signal.SIGINT, signal.SIGTERM):
            if sys.platform == "win32":
                signal.signal(ending, lambda *_: loop.call_soon_threadsafe(service.host.leave))
            else:
                loop.add_signal_handler(ending, service.host.leave)
        engine.begin()
        await service.host.left()
