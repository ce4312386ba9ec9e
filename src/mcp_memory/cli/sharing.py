"""Finds the shared server for commands, or runs it."""

from __future__ import annotations

import asyncio
import logging
import os
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager, suppress
from typing import TYPE_CHECKING

from mcp_memory import config as settings
from mcp_memory.cli.session import Session
from mcp_memory.config import Config
from mcp_memory.thin.endpoint import Endpoint, NoServer, endpoint_of
from mcp_memory.thin.request import Refused, ask_at
from mcp_memory.thin.settings import ThinSettings, resolve

if TYPE_CHECKING:
    from mcp_memory.engine import Engine
    from mcp_memory.server.app import Beside
    from mcp_memory.server.connected import Connected
    from mcp_memory.server.events import Feed
    from mcp_memory.server.lazy import LazyEngine
    from mcp_memory.server.shared.service import Service

log = logging.getLogger(__name__)

PREDECESSOR = 10.0
"""Timeout in seconds for another server to end."""


def shared_settings(session: Session) -> tuple[Endpoint, ThinSettings]:
    """The endpoint of the shared server for these settings, and the settings it receives."""
    session.check()
    environ = settings.environment()
    flags = {name: str(value) for name, value in session.flags.items()}
    if session.file is not None:
        flags["config"] = str(session.file)
    found = resolve(flags, environ, os.getcwd())
    return endpoint_of(found, environ), found


def sharing_in_words(session: Session) -> str:
    """Whether assistants share a server, or why each has a process of its own."""
    endpoint, found = shared_settings(session)
    reason = "MCP_MEMORY_SHARED is no" if found["shared"] == "no" else endpoint.why_not()
    if reason is not None:
        return f"a process for each assistant: {reason}"
    try:
        status = ask_at(endpoint, found, "status", timeout=5)
    except (NoServer, Refused):
        return "shared by all assistants; not running now"
    return f"shared by all assistants: process {status['pid']}, connected now: {len(status['clients'])}"


def service_of(
    session: Session,
    engine: LazyEngine,
    *,
    idle: float | None,
    feed: Feed | None = None,
    http_address: str = "",
) -> Service:
    from mcp_memory.cli.forwarded import run_command
    from mcp_memory.server.shared.requests import REQUESTS
    from mcp_memory.server.shared.service import Service

    def config_of(sent: Mapping[str, str]) -> Config:
        return settings.load({**session.flags, **sent}, file=session.file)

    endpoint, _ = shared_settings(session)
    return Service(
        endpoint,
        engine,
        config_of=config_of,
        engine_with=_within_limits,
        requests={**REQUESTS, "command": run_command},
        workers=session.config.workers,
        idle=idle,
        feed=feed,
        http_address=http_address,
    )


def sharing(
    session: Session, engine: LazyEngine, connected: Connected, *, http_address: str, stop: Callable[[], None]
) -> Beside:
    """The shared server that `serve` runs beside its app, for assistants on this machine.

    A running shared server ends, and its clients reconnect here. `mcp-memory stop` calls `stop`.
    """

    @asynccontextmanager
    async def beside(feed: Feed) -> AsyncIterator[None]:
        from mcp_memory.server.shared.listener import AlreadyRunning

        endpoint, given = shared_settings(session)
        if given["shared"] == "no" or endpoint.why_not() is not None:
            yield
            return
        with suppress(NoServer, Refused):
            ask_at(endpoint, given, "leave", {"because": "mcp-memory serve takes over"}, timeout=PREDECESSOR)
        service = service_of(session, engine, idle=None, feed=feed, http_address=http_address)
        try:
            running = service.running(PREDECESSOR)
            await running.__aenter__()
        except (AlreadyRunning, OSError) as error:
            log.warning(
                "assistants on this machine do not share this server: %s", error or "another one is there"
            )
            yield
            return
        connected.follow(service.connected)
        stopping = asyncio.create_task(_stopped(service, stop))
        try:
            yield
        finally:
            stopping.cancel()
            await running.__aexit__(None, None, None)

    return beside


async def _stopped(service: Service, stop: Callable[[], None]) -> None:
    await service.host.left()
    if service.host.ends_process:
        stop()


def _within_limits(engine: Engine, config: Config) -> Engine:
    from mcp_memory.wiring import limits

    return engine.limited_to(limits(config)).reading_also(config.further_spaces)
