"""Finds and ends shared servers that tests have started."""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path
from typing import Any

from mcp_memory.thin import wire
from mcp_memory.thin.endpoint import Endpoint, NoServer, read_line


def places(folder: Path) -> list[Endpoint]:
    """Where a server is, or was, anywhere in the folder."""
    files = [file for root, _, names in os.walk(folder) for file in (Path(root) / name for name in names)]
    return [
        Endpoint(str(file.parent), file.stem, loopback=file.suffix == ".port")
        for file in files
        if file.suffix in (".sock", ".port")
    ]


def ask(place: Endpoint, want: str, **request: Any) -> Any:
    """As a client of no particular settings."""
    hello = {"protocol": wire.PROTOCOL, "version": "0", "want": want, "request": request}
    with place.connect(30) as connected:
        connected.sendall(wire.encoded(hello))
        return wire.decoded(read_line(connected)).get("answer")


def pids(folder: Path) -> list[int]:
    """Of the servers that answer."""
    found = []
    for place in places(folder):
        with suppress(NoServer, OSError):
            found.append(int(ask(place, "status")["pid"]))
    return found


def stop_servers(folder: Path) -> None:
    for place in places(folder):
        with suppress(NoServer, OSError):
            ask(place, "leave", because="the tests are over")
