"""The requests that a shared server answers, by name. A new one is a function and a line here."""

from __future__ import annotations

import os
import sys
import time
from typing import Any

from mcp_memory import __version__
from mcp_memory.server.hooks import Hooks
from mcp_memory.server.shared.hello import Hello
from mcp_memory.server.shared.service import Answer, Service


def status(service: Service, hello: Hello) -> dict[str, Any]:
    """State of the server, and its connected clients."""
    engine = service.engine.ready
    now = time.monotonic()
    return {
        "version": __version__,
        "pid": os.getpid(),
        "uptime": now - service.host.started,
        "memory_bytes": resident_bytes(),
        "mapped_bytes": mapped_bytes(),
        "cache_bytes": engine.inventory.cache_bytes() if engine else None,
        "pending_vectors": engine.inventory.vectors().missing_count if engine else None,
        "leads": bool(service.engine.background and service.engine.background.leads),
        "http": service.http_address or None,
        "clients": [
            {
                "pid": client.hello.pid,
                "folder": client.hello.folder,
                "tools": client.hello.settings.get("tools"),
                "space": client.hello.settings.get("space"),
                "seconds": now - client.since,
            }
            for client in service.host.clients
        ],
    }


def resident_bytes() -> int | None:
    """Memory of this process in bytes; None where the system does not report it."""
    try:
        with open("/proc/self/statm", "rb") as statm:
            return int(statm.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    except (OSError, ValueError):
        pass
    if sys.platform == "win32":
        return None
    import resource

    # The highest so far, in bytes on macOS.
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss


def mapped_bytes() -> int | None:
    """Its part that is read from files, such as the model's weights: the system takes it back as it likes."""
    try:
        with open("/proc/self/statm", "rb") as statm:
            return int(statm.read().split()[2]) * os.sysconf("SC_PAGE_SIZE")
    except (OSError, ValueError):
        return None


HOOKS = Hooks()


def hook(service: Service, hello: Hello) -> str | None:
    """The output for a client's hook; None while the engine loads, for which a hook cannot wait."""
    if service.engine.ready is None:
        service.engine.begin()
        return None
    return HOOKS.answer(service.engine_of(hello), hello.request, settings=hello.settings)


REQUESTS: dict[str, Answer] = {"status": status, "hook": hook}
